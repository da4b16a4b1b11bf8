/**
 * The manifest of a backup, `manifest.json`: the copied shards with their ranges, and the digest of every file. It is
 * written last, so a backup without it is incomplete.
 *
 *   {"sha256": "<of the JSON text of contents>", "contents": { … }}
 *
 *  BMA1 a manifest that differs by a single bit from the written one is refused
 */
import { createHash } from 'node:crypto';
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL, MillraceError, type ShardName, writtenByNewer } from '../../kernel/index.js';
import { type BackupFiles, type FileRef, MANIFEST_FILE } from '../../ports/index.js';
import type { ChainHead } from '../chain.js';

export interface BackupHead extends Omit<ChainHead, 'hash'> {
  /** 64 hex digits. */
  readonly hash: string;
}

/** A shard with an owner: a snapshot, and every later message of its journal up to `to`. */
export interface JournalBackup {
  readonly shard: ShardName;
  /** The object name of the snapshot's manifest; null: there was none, and the journal is copied from its beginning. */
  readonly snapshot: string | null;
  /** Positions of the messages, both inclusive; `to` is below `from` when the snapshot covers all of them. */
  readonly from: number;
  readonly to: number;
  /** The last entry copied. Number 0: the journal was empty. */
  readonly head: BackupHead;
  readonly objects: readonly FileRef[];
  readonly entries: readonly FileRef[];
}

/** A log with many writers and without a chain: an intake, or the meter's log. */
export interface LogBackup {
  readonly shard: ShardName;
  readonly from: number;
  readonly to: number;
  readonly records: readonly FileRef[];
}

export interface BackupManifest {
  /** The level of the stored forms that the backup may contain (`kernel/format-level.ts`). */
  readonly format: number;
  /** Version of the program. */
  readonly madeBy: string;
  readonly clusterId: string;
  readonly kvShards: number;
  readonly queueShards: number;
  /** Names the key file that sealed the secrets; the key itself is not in the backup. */
  readonly keyId: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly journals: readonly JournalBackup[];
  readonly intakes: readonly LogBackup[];
  readonly meter: LogBackup;
  /** Objects of kept moments of databases, with the names that they have in the installation. */
  readonly kept: readonly FileRef[];
  /** The newest snapshot of the statistics, with the names of its objects. Backups of old releases have none. */
  readonly statistics?: readonly FileRef[];
}

export function filesOf({ journals, intakes, meter, kept, statistics = [] }: BackupManifest): FileRef[] {
  return [
    ...journals.flatMap(({ objects, entries }) => [...objects, ...entries]),
    ...[...intakes, meter].flatMap(({ records }) => records),
    ...kept,
    ...statistics,
  ];
}

export async function writeManifest(files: BackupFiles, contents: BackupManifest): Promise<void> {
  const text = JSON.stringify(contents);
  const whole = Buffer.from(`{"sha256":"${digestOf(text)}","contents":${text}}\n`);
  await files.write(
    MANIFEST_FILE,
    (async function* () {
      yield whole;
    })(),
  );
}

/** @throws INVALID when it is missing or has an unknown format; JOURNAL_DAMAGED when it was changed (BMA1) */
export async function readManifest(files: BackupFiles): Promise<BackupManifest> {
  const pieces = await files.read(MANIFEST_FILE);
  if (pieces === undefined) {
    throw new MillraceError('INVALID', 'this is no complete backup: it has no manifest.json, which is written last');
  }
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  const { sha256, contents } = parsed(Buffer.concat(read).toString('utf8'));
  // JSON of lists, texts and whole numbers has the same text after parsing and writing.
  if (sha256 !== digestOf(JSON.stringify(contents))) throw damaged('checksum mismatch');
  const { format } = contents ?? {};
  if (Number.isSafeInteger(format) && Number(format) > FORMAT_LEVEL) {
    throw writtenByNewer('the backup', { of: 'level', found: Number(format), known: FORMAT_LEVEL });
  }
  if (contents === undefined || !isReadable(format)) {
    throw new MillraceError('INVALID', `a backup of format ${String(format)}, which this release cannot read`);
  }
  return contents;
}

function isReadable(format: unknown): boolean {
  return Number.isSafeInteger(format) && Number(format) >= FIRST_FORMAT_LEVEL && Number(format) <= FORMAT_LEVEL;
}

function parsed(text: string): { sha256?: string; contents?: BackupManifest } {
  try {
    const value = JSON.parse(text) as { sha256?: string; contents?: BackupManifest } | null;
    return value ?? {};
  } catch (cause) {
    throw damaged('it is not JSON', cause);
  }
}

function digestOf(text: string | undefined): string {
  return createHash('sha256')
    .update(text ?? '', 'utf8')
    .digest('hex');
}

function damaged(reason: string, cause?: unknown): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `the manifest of the backup cannot be read: ${reason}`, {}, cause);
}

export function headToJson({ number, hash, epoch, clockMs, position }: ChainHead): BackupHead {
  return { number, hash: Buffer.from(hash).toString('hex'), epoch, clockMs, position };
}
