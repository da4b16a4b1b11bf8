/**
 * The mark of a restored installation, and whether the restore has finished: `<data dir>/restore.json` of
 * an embedded server, and the key `restore` of the bucket `layout` on an external NATS.
 *
 *  RMA1 the mark `running` is stored before the first restored object; `complete` replaces it after the last one
 *  RMA2 while the mark is `running`, no process serves the installation, and every command is refused
 */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MillraceError } from '../../kernel/index.js';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../node/index.js';

export interface RestoreMark {
  readonly format: 1;
  readonly state: 'running' | 'complete';
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** The ends of the chains in the backup. */
  readonly backup: {
    readonly clusterId: string;
    readonly madeAt: string;
    readonly heads: readonly { readonly shard: string; readonly number: number; readonly hash: string }[];
  };
  /** The beginnings of the new chains. */
  readonly shards?: readonly { readonly shard: string; readonly epoch: number; readonly claim: string }[];
}

const MARK_FILE = 'restore.json';
/** Files that a restore leaves alone if it was killed in its first moments. */
const MARK_DRAFT = `.${MARK_FILE}.`;

export interface MarkKeeper {
  read(): Promise<RestoreMark | undefined>;
  write(mark: RestoreMark): Promise<void>;
}

/** In the data directory of an embedded server. */
export function markFile(dataDir: string): MarkKeeper {
  const path = join(dataDir, MARK_FILE);
  return {
    read: async () => {
      const found = await readFileIfThere(path);
      return found === undefined ? undefined : parsedMark(found);
    },
    write: async (mark) => {
      await ensureDirectory(dataDir);
      await writeFileAtomic(path, `${JSON.stringify(mark, undefined, 2)}\n`, PRIVATE_FILE);
    },
  };
}

/** RMA2. @param place the directory or NATS that an operator has to empty. @throws BAD_CONFIG in one line */
export async function refuseUnfinishedRestore(keeper: MarkKeeper, place: string): Promise<void> {
  const mark = await keeper.read();
  if (mark === undefined || mark.state === 'complete') return;
  throw new MillraceError(
    'BAD_CONFIG',
    `a restore into ${place} did not finish: empty it, and restore the backup again`,
  );
}

/** Only the key file, and files of a start that found no server, may exist before a restore. @throws CONFLICT */
export async function refuseUsedDirectory({
  dataDir,
  sealKeyFile,
}: {
  readonly dataDir: string;
  readonly sealKeyFile: string;
}): Promise<void> {
  const found = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const isFree = (name: string) =>
    name === 'lock' || name.startsWith(MARK_DRAFT) || resolve(dataDir, name) === resolve(sealKeyFile);
  const used = found.filter((name) => !isFree(name));
  if (used.length === 0) return;
  const names = used.slice(0, 3).join(', ');
  throw new MillraceError(
    'CONFLICT',
    `the data directory ${dataDir} is not empty (${names}): a backup is restored into an empty one only`,
  );
}

/** @throws BAD_CONFIG */
export function parsedMark(bytes: Uint8Array): RestoreMark {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as RestoreMark;
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', 'the mark of a restore cannot be read', {}, cause);
  }
}
