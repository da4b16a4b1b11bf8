/**
 * What says that an installation was restored, and whether the restore came to its end: `<data dir>/restore.json` of
 * an embedded server, and the key `restore` of the bucket `layout` on a running NATS.
 *
 *  RMA1 the mark is there, as `running`, before anything is restored; `complete` replaces it when all is there
 *  RMA2 while it says `running`, nothing is served, and no command but another restore's refusal is carried out
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
  /** Where the chains of the installation that was backed up ended. */
  readonly backup: {
    readonly clusterId: string;
    readonly madeAt: string;
    readonly heads: readonly { readonly shard: string; readonly number: number; readonly hash: string }[];
  };
  /** Where the new chains begin. */
  readonly shards?: readonly { readonly shard: string; readonly epoch: number; readonly claim: string }[];
}

const MARK_FILE = 'restore.json';
/** What a restore that was killed within its first moments leaves alone. */
const MARK_DRAFT = `.${MARK_FILE}.`;

export interface MarkKeeper {
  read(): Promise<RestoreMark | undefined>;
  write(mark: RestoreMark): Promise<void>;
}

/** Beside the store of an embedded server. */
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

/** RMA2. @param where what an operator has to empty. @throws BAD_CONFIG, one clear line */
export async function refuseUnfinishedRestore(keeper: MarkKeeper, where: string): Promise<void> {
  const mark = await keeper.read();
  if (mark === undefined || mark.state === 'complete') return;
  throw new MillraceError(
    'BAD_CONFIG',
    `a restore into ${where} did not come to its end: empty it, and restore the backup again`,
  );
}

/** The key file may be there before anything else is, and so may what a start that found no server left. @throws CONFLICT */
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
