/**
 * The manifest of a backup, `manifest.json`: the copied shards with their ranges, and the digest of every file. It is
 * written last, so a backup without it is incomplete.
 *
 *   {"sha256": "<of the JSON text of contents>", "contents": { … }}
 *
 *  BMA1 a manifest that differs by a single bit from the written one is refused
 */
import { MillraceError, type ShardName } from '../../kernel/index.js';
import { type BackupFiles, type FileRef, MANIFEST_FILE } from '../../ports/index.js';
import type { ChainHead } from '../chain.js';
import { ofThisRelease, readChecked, writeChecked } from './checked-json.js';

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

export function writeManifest(files: BackupFiles, contents: BackupManifest): Promise<number> {
  return writeChecked(files, MANIFEST_FILE, contents);
}

/** @throws INVALID when it is missing or has an unknown format; JOURNAL_DAMAGED when it was changed (BMA1) */
export async function readManifest(files: BackupFiles): Promise<BackupManifest> {
  const contents = await readChecked<BackupManifest>(files, MANIFEST_FILE, 'the manifest');
  if (contents !== undefined) return ofThisRelease(contents);
  throw new MillraceError('INVALID', 'this is no complete backup: it has no manifest.json, which is written last');
}

export function headToJson({ number, hash, epoch, clockMs, position }: ChainHead): BackupHead {
  return { number, hash: Buffer.from(hash).toString('hex'), epoch, clockMs, position };
}
