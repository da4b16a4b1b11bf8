/**
 * Restores a backup into an empty installation, with the number of shards that the new installation has.
 *
 *  RB1 writing begins after every file of the backup was verified and every stream was found empty
 *  RB2 a partition goes to the shard that its name belongs to; its state is written as a snapshot of that shard, read
 *      back and compared, and its chain of sections continues
 *  RB3 the chain of a shard begins with a new claim, in an epoch above all that were backed up, and an entry that
 *      names the snapshot; the claim is then removed from the journal, so that readers begin with the snapshot
 *  RB4 no clock falls: the claim's clock is not below any clock of the backup
 *  RB5 of an intake only the records that its accounts have not accepted are written
 *  RB6 statistics continue from the backup's snapshot of them, with the meter's log and the queue journals at their
 *      new positions
 *
 * The caller marks the installation before and after the restore; the restore itself does not record its completion.
 */
import { encodeEntry, sha256, WRITER_BYTES } from '../../codec/envelope/index.js';
import { type AccountId, assert, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { Clock, Journal, ObjectStore, Random, Timers } from '../../ports/index.js';
import {
  CONTROL_PARTITION,
  CONTROL_SHARD,
  intakeOf,
  isQueuePartition,
  type ManifestPartition,
  METER_SHARD,
  parseQueuePartition,
  queuePartition,
  type SegmentRef,
  shardOf,
} from '../../protocol/index.js';
import { DefiniteAppender } from '../append-until-definite.js';
import { SnapshotStore } from '../snapshot-store.js';
import { StatisticsSnapshots } from '../statistics-snapshots.js';
import type { BackupManifest } from './backup-manifest.js';
import { BackupObjects } from './backup-objects.js';
import { readRange } from './copy-log.js';
import type { Installation } from './create-backup.js';
import { type FoldedPartition, foldBackup } from './fold-backup.js';
import { isManifest } from './kept-objects.js';
import { type BackupRecord, readRecords } from './record-files.js';
import { restorePartition } from './restore-partition.js';
import { type BackupReader, digestOf, type PartitionDigest } from './verify-backup.js';

export interface RestoreTarget {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly installation: Installation;
}

export interface RestoredShard {
  readonly shard: ShardName;
  readonly partitions: number;
  readonly epoch: number;
  /** The hash of its first entry, 64 hex digits. */
  readonly claim: string;
}

/** New epochs are this far above every epoch of the backup, so that owners that still run elsewhere stay below. */
const EPOCHS_AHEAD = 1000;
/** The claim is the first entry, and the one that the snapshot covers. */
const CLAIM_NUMBER = 1;
/** The writer of the first snapshot of the statistics. */
const RESTORED = 'restored';

/** Checks that every stream is empty (RB1). @throws CONFLICT when the installation is not empty */
export async function refuseUsedInstallation({
  journal,
  installation,
}: Pick<RestoreTarget, 'journal' | 'installation'>): Promise<void> {
  const { journals, intakes, meter } = installation;
  for (const shard of [...journals, ...intakes, meter]) {
    const { last } = await journal.tail(shard);
    if (last === 0) continue;
    const message = `${shard} is not empty: a backup is restored into an empty installation only`;
    throw new MillraceError('CONFLICT', message, { shard, last });
  }
}

/**
 * @param manifest  with verified files (`checkFiles`), for an installation that passed `refuseUsedInstallation`
 * @param tell  called with each partition when it is written and read back
 * @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE, FENCED when another process writes there; the installation must then be emptied
 */
export async function restoreBackup(
  reader: BackupReader,
  target: RestoreTarget,
  manifest: BackupManifest,
  tell: (digest: PartitionDigest) => void,
): Promise<RestoredShard[]> {
  return new Restore(reader, target, manifest, tell).run();
}

class Restore {
  readonly #byShard = new Map<ShardName, ManifestPartition[]>();
  /** The position up to which each account has accepted its old shard's intake. */
  readonly #taken = new Map<AccountId, number>();
  readonly #appender: DefiniteAppender;
  readonly #epoch: number;
  readonly #clockMs: number;

  constructor(
    private readonly reader: BackupReader,
    private readonly target: RestoreTarget,
    private readonly manifest: BackupManifest,
    private readonly tell: (digest: PartitionDigest) => void,
  ) {
    this.#appender = new DefiniteAppender(target.journal, target.timers);
    const heads = manifest.journals.map(({ head }) => head);
    this.#epoch = Math.max(0, ...heads.map(({ epoch }) => epoch)) + EPOCHS_AHEAD;
    this.#clockMs = Math.max(target.clock.nowMs(), ...heads.map(({ clockMs }) => clockMs));
  }

  async run(): Promise<RestoredShard[]> {
    const { files, planes, log } = this.reader;
    const { clusterId, journals } = this.manifest;
    for (const backup of journals) {
      // Different digests are a finding for `verify`: here every byte has been compared, and the written state is
      // compared again.
      const options = { files, planes, log, clusterId, isOfThisRelease: false };
      for await (const folded of foldBackup(backup, options)) await this.#place(folded);
    }
    await this.#restoreKept();
    await this.#restoreIntakes();
    await this.#restoreMeter();
    const restored: RestoredShard[] = [];
    for (const [shard, partitions] of this.#byShard) restored.push(await this.#begin(shard, partitions));
    return restored;
  }

  /** Writes a partition to its new shard (RB2). */
  async #place(folded: FoldedPartition): Promise<void> {
    const { name } = folded;
    const { planes, log } = this.reader;
    const shard = this.#shardOf(name);
    if (isQueuePartition(name)) this.#taken.set(parseQueuePartition(name), planes.intakeTaken(folded.fold));
    const digest = digestOf(folded, shard, planes, this.manifest.meter.from);
    const place = { objects: this.target.objects, log, shard, number: CLAIM_NUMBER };
    const partition = await restorePartition(folded, place, planes);
    const others = this.#byShard.get(shard) ?? [];
    assert(!others.some((other) => other.name === name), 'a partition is in two shards', { name });
    others.push(partition);
    this.#byShard.set(shard, others);
    this.tell(digest);
  }

  #shardOf(partition: PartitionName): ShardName {
    const { kvShards, queueShards } = this.target.installation;
    if (partition === CONTROL_PARTITION) return CONTROL_SHARD;
    if (isQueuePartition(partition)) return shardOf('queue', partition, queueShards);
    return shardOf('kv', partition, kvShards);
  }

  /** Writes the claim and the first snapshot of a shard (RB3). */
  async #begin(shard: ShardName, partitions: readonly ManifestPartition[]): Promise<RestoredShard> {
    const { objects, journal, clock, random, installation } = this.target;
    const store = new SnapshotStore(objects, this.reader.log);
    const origin = { shard, epoch: this.#epoch, writer: random.bytes(WRITER_BYTES), clockMs: this.#clockMs };
    const { clusterId } = installation;
    const body = { kind: 'claim', clusterId } as const;
    const claim = encodeEntry({ ...origin, number: CLAIM_NUMBER, previousHash: new Uint8Array(32), body });
    const hash = sha256(claim);
    const position = await this.#append(shard, claim, 0);
    const nowMs = clock.nowMs();
    const written = await store.writeManifest({
      shard,
      clusterId,
      head: { number: CLAIM_NUMBER, hash, epoch: this.#epoch, clockMs: this.#clockMs, position },
      partitions: [...partitions].sort((a, b) => (a.name < b.name ? -1 : 1)),
      recentCommandIds: [],
      createdAtMs: nowMs,
      headStoredAtMs: nowMs,
      journalBytes: claim.length,
    });
    await store.readBackManifest(written);
    const snapshot = { kind: 'snapshot', manifest: written.name, digest: written.digest } as const;
    const named = encodeEntry({
      ...origin,
      number: CLAIM_NUMBER + 1,
      previousHash: hash,
      body: { ...snapshot, coveredNumber: CLAIM_NUMBER },
    });
    const last = await this.#append(shard, named, position);
    await journal.truncateFront(shard, last);
    return { shard, partitions: partitions.length, epoch: this.#epoch, claim: Buffer.from(hash).toString('hex') };
  }

  /** Copies kept moments of databases under their names; manifests come after their segments. */
  async #restoreKept(): Promise<void> {
    const records = readRecords(this.reader.files, this.manifest.kept);
    const manifests: BackupRecord[] = [];
    for await (const record of records) {
      if (isManifest(record.name)) manifests.push(record);
      else await this.target.objects.put(record.name, record.content);
    }
    for (const { name, content } of manifests) await this.target.objects.put(name, content);
  }

  /** Copies the records that were not accepted (RB5). */
  async #restoreIntakes(): Promise<void> {
    const { planes, files } = this.reader;
    const { queueShards, intakes } = this.target.installation;
    const lasts = new Map<ShardName, number>();
    for (const [index, intake] of this.manifest.intakes.entries()) {
      for await (const { position, bytes } of readRange(files, intake.records, intake)) {
        const account = planes.accountOfIntake(bytes);
        if (account !== undefined && position <= (this.#taken.get(account) ?? 0)) continue;
        // An unreadable record was acknowledged, so it is kept for an operator.
        const place =
          account === undefined
            ? (intakes[index % intakes.length] as ShardName)
            : intakeOf(shardOf('queue', queuePartition(account), queueShards));
        lasts.set(place, await this.#append(place, bytes, lasts.get(place) ?? 0));
      }
    }
  }

  async #restoreMeter(): Promise<void> {
    let last = 0;
    const { meter } = this.manifest;
    for await (const { bytes } of readRange(this.reader.files, meter.records, meter)) {
      last = await this.#append(METER_SHARD, bytes, last);
    }
    await this.#restoreStatistics();
  }

  /**
   * Writes the statistics with their new positions (RB6). Records that the backup's log no longer has are counted in
   * the snapshot.
   */
  async #restoreStatistics(): Promise<void> {
    const { files, log } = this.reader;
    const { meter, statistics = [] } = this.manifest;
    const taken = new StatisticsSnapshots(await BackupObjects.open(files, statistics), log);
    const stored = await taken.newest();
    const mark = stored?.manifest.marks.find(({ shard }) => shard === METER_SHARD);
    if (stored === undefined || mark === undefined) return;
    const { objects, journal, installation } = this.target;
    const snapshots = new StatisticsSnapshots(objects, log);
    const position = Math.max(0, mark.position - meter.from + 1);
    const { createdAt } = await journal.tail(METER_SHARD);
    const segments: SegmentRef[] = [];
    for await (const segment of taken.segments(stored.manifest)) {
      // Live messages come from the snapshots of their accounts.
      if (segment.table === 'live') continue;
      segments.push(await snapshots.writeSegment(position, RESTORED, segments.length, segment));
    }
    const { createdAtMs } = stored.manifest;
    const marks = [{ ...mark, createdAt, position }];
    await snapshots.writeManifest({ clusterId: installation.clusterId, createdAtMs, marks, segments });
  }

  async #append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<number> {
    const watch = {
      signal: new AbortController().signal,
      onUnknown: (cause: unknown) => this.reader.log.warn('restore.append-unknown', { shard, cause: String(cause) }),
    };
    return this.#appender.append(shard, [bytes], expectedLast, watch);
  }
}

/** @throws BAD_CONFIG in one line that names the missing key */
export function checkKey(manifest: BackupManifest, keyId: string): void {
  if (manifest.keyId === keyId) return;
  throw new MillraceError(
    'BAD_CONFIG',
    `the backup's secrets are sealed with key ${manifest.keyId}, and this key file holds key ${keyId}`,
  );
}
