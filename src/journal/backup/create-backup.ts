/**
 * Makes a backup of a running installation: of each shard the newest verified snapshot and every later entry up to a
 * position that is fixed at the start.
 *
 *  CB1 every change acknowledged before the start is in the backup, and each shard ends at its fixed position
 *  CB2 intakes are copied before the queues, so a message that an owner accepts during the copy is in at least one of
 *      them
 *  CB3 the meter's log is copied last, so it has every record that the control state has counted; a snapshot of the
 *      statistics comes before it, with the counts of removed records
 *  CB4 copied data is verified: objects by their digests, entries by their chain
 *  CB5 a shard with a snapshot that is removed during the copy is copied again from the present one
 */
import { EntryAssembler, type ReadEntry, sha256 } from '../../codec/envelope/index.js';
import { isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { BackupFiles, Clock, FileRef, Journal, Log, ObjectStore } from '../../ports/index.js';
import { type Chain, EMPTY_HEAD } from '../chain.js';
import { chainAfter } from '../entry-reader.js';
import { SnapshotStore, type StoredManifest, segmentsOfPartition } from '../snapshot-store.js';
import { meterPositionOf, StatisticsSnapshots, type StoredStatistics } from '../statistics-snapshots.js';
import {
  type BackupManifest,
  headToJson,
  type JournalBackup,
  type LogBackup,
  writeManifest,
} from './backup-manifest.js';
import { copyLog, lastWholeEntry, recordOf } from './copy-log.js';
import { isManifest, KEPT_PREFIX } from './kept-objects.js';
import { type BackupRecord, writeRecords } from './record-files.js';
import { snapshotUpTo } from './snapshot-up-to.js';

export interface BackupSource {
  readonly journal: Pick<Journal, 'read' | 'readAt' | 'tail'>;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The parts of an installation. */
export interface Installation {
  readonly clusterId: string;
  readonly kvShards: number;
  readonly queueShards: number;
  /**
   * Shards with owners. The control shard comes last, so that a database deleted during the backup does not come back
   * empty.
   */
  readonly journals: readonly ShardName[];
  readonly intakes: readonly ShardName[];
  readonly meter: ShardName;
  /** The present level of the installation's stored forms. */
  format(): Promise<number>;
}

export interface BackupMaker {
  readonly madeBy: string;
  readonly keyId: string;
}

/**
 * A snapshot is removed after two later ones of its shard; this happens twice in a row only when copying is far too
 * slow.
 */
const TRIES = 5;

/**
 * @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when data of the installation cannot be verified; errors of the files
 */
export async function createBackup(
  source: BackupSource,
  files: BackupFiles,
  installation: Installation,
  maker: BackupMaker,
): Promise<BackupManifest> {
  const startedAtMs = source.clock.nowMs();
  const intakes: LogBackup[] = [];
  for (const shard of installation.intakes) intakes.push(await copyLog(source, files, shard));
  const ends = new Map<ShardName, number>();
  for (const shard of installation.journals) ends.set(shard, await lastWholeEntry(source, shard));
  const kept = await copyKept(source, files);
  const journals: JournalBackup[] = [];
  for (const shard of installation.journals) {
    journals.push(await copyJournal(source, files, shard, installation.clusterId, ends.get(shard) ?? 0));
  }
  const { meter, statistics } = await copyMeter(source, files, installation);
  const { clusterId, kvShards, queueShards } = installation;
  const manifest: BackupManifest = {
    // Read last: a form is written only after its level was raised, so this level covers all copied data.
    format: await installation.format(),
    ...maker,
    clusterId,
    kvShards,
    queueShards,
    startedAtMs,
    finishedAtMs: source.clock.nowMs(),
    journals,
    intakes,
    meter,
    kept,
    statistics,
  };
  await writeManifest(files, manifest);
  return manifest;
}

/** Copies kept moments of databases; one that is deleted during the copy is left out. */
async function copyKept({ objects }: BackupSource, files: BackupFiles): Promise<FileRef[]> {
  await files.removeAll('kept/');
  const found = await objects.list(KEPT_PREFIX);
  const whole = new Set(found.filter(({ name }) => isManifest(name)).map(({ name }) => folderOf(name)));
  const records = async function* (): AsyncGenerator<BackupRecord> {
    for (const { name } of found) {
      const content = whole.has(folderOf(name)) ? await objects.get(name) : undefined;
      if (content !== undefined) yield { name, content };
    }
  };
  return writeRecords(files, 'kept/objects-', records());
}

/** Copies the meter's log and a snapshot of the statistics (CB3). */
async function copyMeter(
  source: BackupSource,
  files: BackupFiles,
  { clusterId, meter: shard }: Installation,
): Promise<{ readonly meter: LogBackup; readonly statistics: readonly FileRef[] }> {
  for (let tries = 1; ; tries += 1) {
    const newest = await newestStatistics(source, clusterId);
    const statistics = newest === undefined ? [] : await copyStatistics(source, files, newest);
    const meter = await copyLog(source, files, shard);
    // The log was removed up to a still newer snapshot.
    const isBehind = newest !== undefined && meter.from > meterPositionOf(newest.manifest) + 1;
    if (!isBehind || tries === TRIES) return { meter, statistics };
  }
}

async function newestStatistics(
  { objects, log }: BackupSource,
  clusterId: string,
): Promise<StoredStatistics | undefined> {
  for await (const stored of new StatisticsSnapshots(objects, log).newestFirst()) {
    if (stored.manifest.clusterId === clusterId) return stored;
  }
  return undefined;
}

async function copyStatistics(
  { objects }: BackupSource,
  files: BackupFiles,
  { name, manifest }: StoredStatistics,
): Promise<FileRef[]> {
  await files.removeAll('statistics/');
  const records = async function* (): AsyncGenerator<BackupRecord> {
    for (const object of [name, ...manifest.segments.map((segment) => segment.object)]) {
      const content = await objects.get(object);
      if (content === undefined)
        throw new MillraceError('JOURNAL_DAMAGED', 'the snapshot of the statistics was deleted during the copy', {
          object,
        });
      yield { name: object, content };
    }
  };
  return writeRecords(files, 'statistics/objects-', records());
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

/** Copies a shard, again if its snapshot is removed (CB5). */
async function copyJournal(
  source: BackupSource,
  files: BackupFiles,
  shard: ShardName,
  clusterId: string,
  fixedEnd: number,
): Promise<JournalBackup> {
  for (let tries = 1; ; tries += 1) {
    await files.removeAll(`${shard}/`);
    try {
      // Entries are only added: a later position is equally valid, and its snapshot exists.
      const end = tries === 1 ? fixedEnd : await lastWholeEntry(source, shard);
      return await new JournalCopy(source, files, shard, clusterId, end).run();
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED') || tries === TRIES) throw error;
      source.log.warn('backup.shard-again', { shard, tries, reason: error.message });
    }
  }
}

class JournalCopy {
  constructor(
    private readonly source: BackupSource,
    private readonly files: BackupFiles,
    private readonly shard: ShardName,
    private readonly clusterId: string,
    private readonly end: number,
  ) {}

  async run(): Promise<JournalBackup> {
    const { source, files, shard } = this;
    const store = new SnapshotStore(source.objects, source.log);
    const base = await snapshotUpTo(store, shard, this.end);
    const manifest = base?.manifest;
    this.#checkCluster(manifest?.clusterId ?? this.clusterId);
    const chain = chainAfter(shard, manifest);
    const from = chain.head.position + 1;
    const to = Math.max(this.end, from - 1);
    const { first } = await source.journal.tail(shard);
    if (first > from && to >= from) throw this.#damage('entries after the snapshot are missing');
    const objects =
      base === undefined ? [] : await writeRecords(files, `${shard}/objects-`, this.#objects(store, base));
    const entries = await writeRecords(files, `${shard}/entries-`, this.#entries(chain, from, to));
    if (chain.head.position !== to) throw this.#damage('no entry ends at the end of the copy');
    const head = headToJson(to === 0 ? EMPTY_HEAD : chain.head);
    return { shard, snapshot: base?.name ?? null, from, to, head, objects, entries };
  }

  /** Reads objects and compares their digests (CB4). */
  async *#objects(store: SnapshotStore, { name, manifest, digest }: StoredManifest): AsyncGenerator<BackupRecord> {
    const bytes = await this.source.objects.get(name);
    if (bytes === undefined || Buffer.compare(sha256(bytes), digest) !== 0)
      throw this.#damage('a snapshot was deleted during the copy');
    yield { name, content: bytes };
    for (const partition of manifest.partitions) {
      for (const ref of segmentsOfPartition(partition)) {
        yield { name: ref.object, content: await store.readObject(partition.name, ref) };
      }
    }
  }

  async *#entries(chain: Chain, from: number, to: number): AsyncGenerator<BackupRecord> {
    if (to < from) return;
    const assembler = new EntryAssembler();
    for await (const message of this.source.journal.read(this.shard, from, to)) {
      const read = assembler.add(message.position, message.bytes);
      if (read !== undefined) this.#follow(chain, read);
      yield recordOf(message);
    }
  }

  #follow(chain: Chain, read: ReadEntry): void {
    chain.follow(read);
    if (read.entry.body.kind === 'claim') this.#checkCluster(read.entry.body.clusterId);
  }

  #checkCluster(clusterId: string): void {
    if (clusterId !== this.clusterId) throw this.#damage('it belongs to another installation');
  }

  #damage(reason: string): MillraceError {
    return new MillraceError('JOURNAL_DAMAGED', `${this.shard}: ${reason}`, { shard: this.shard, end: this.end });
  }
}
