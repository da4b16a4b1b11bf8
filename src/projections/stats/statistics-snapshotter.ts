/**
 * Stores counts outside the file, so that the front of the meter's log can be removed. A snapshot is due when the log
 * after the newest one is as large as that, or after a day. An empty file starts from a snapshot.
 *
 *  SN1 a snapshot is consistent: no counts change while it is read
 *  SN2 an interrupted load starts again: the checkpoint of the meter's log is written last
 *  SN3 a journal other than the one that the snapshot names is counted from its beginning, in addition to the counts
 *      of the snapshot
 */
import {
  coveredUpTo,
  keptStatistics,
  meterPositionOf,
  StatisticsSnapshots,
  type StoredStatistics,
} from '../../journal/index.js';
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { Clock, Journal, JournalTail, Log, ObjectStore, Timers } from '../../ports/index.js';
import {
  METER_SHARD,
  type SegmentRef,
  type StatisticsManifest,
  type StatisticsMark,
  type StatisticsRow,
  type StatisticsTable,
} from '../../protocol/index.js';
import type { StatsStore } from './stats-store.js';

export interface StatisticsSnapshotterPorts {
  readonly journal: Pick<Journal, 'tail'>;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface SnapshotterOptions {
  readonly clusterId: string;
  /** Names this process, and distinguishes its objects from those of others. */
  readonly writer: string;
  /** A snapshot is due when the meter's log after the newest one has this many bytes, and as many as that snapshot. */
  readonly meterBytes: number;
  /** The greatest age of the newest snapshot after further records, because the journals of queues are trimmed too. */
  readonly maxAgeMs: number;
  readonly lookEveryMs: number;
}

/** The target size of a segment before compression; a segment belongs to one table. */
const SEGMENT_BYTES = 1024 * 1024;
/** The estimated size of a number. */
const VALUE_BYTES = 8;
/** After this many failed loads, this process ignores the snapshot. */
const MAX_LOADS = 3;
/** Rows loaded in one transaction: a few milliseconds. */
const LOAD_ROWS = 1000;

export class StatisticsSnapshotter {
  readonly #snapshots: StatisticsSnapshots;
  readonly #loads = new Map<string, number>();
  /** Valid snapshots, newest first, for the listed `names`. */
  #known: { readonly names: string; readonly stored: readonly StoredStatistics[] } = { names: '', stored: [] };
  #coveredUpTo = 0;

  constructor(
    private readonly ports: StatisticsSnapshotterPorts,
    private readonly options: SnapshotterOptions,
  ) {
    this.#snapshots = new StatisticsSnapshots(ports.objects, ports.log);
  }

  /** The position up to which the meter's log is in two snapshots; 0: none. */
  get coveredUpTo(): number {
    return this.#coveredUpTo;
  }

  /**
   * Whether a new file could start from a snapshot without a gap.
   * @param first the first position of the meter's log
   */
  async knowsWhatIsGone(first: number): Promise<boolean> {
    for await (const stored of this.#snapshots.newestFirst()) {
      if (this.#isFit(stored)) return meterPositionOf(stored.manifest) + 1 >= first;
    }
    return false;
  }

  /**
   * Fills an empty store from the newest valid snapshot, if any.
   * @throws JOURNAL_UNAVAILABLE, SqlFailure
   */
  async load(store: StatsStore, signal: AbortSignal): Promise<void> {
    if (store.checkpoint(METER_SHARD) !== undefined) return;
    const { log } = this.ports;
    for await (const stored of this.#snapshots.newestFirst()) {
      if (!this.#isFit(stored)) continue;
      this.#loads.set(stored.name, this.#loadsOf(stored) + 1);
      try {
        const marks = await this.#marksFor(stored.manifest);
        store.clear();
        for await (const { table, rows } of this.#snapshots.segments(stored.manifest)) {
          await this.#loadRows(store, table, rows);
          if (signal.aborted) return;
        }
        store.setMarks(marks);
        log.info('statistics.snapshot-loaded', { manifest: stored.name, position: meterPositionOf(stored.manifest) });
        return;
      } catch (error) {
        if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
        store.clear();
        log.error('statistics.snapshot-refused', { manifest: stored.name, reason: describeError(error) });
      }
    }
  }

  #isFit(stored: StoredStatistics): boolean {
    return stored.manifest.clusterId === this.options.clusterId && this.#loadsOf(stored) < MAX_LOADS;
  }

  #loadsOf({ name }: StoredStatistics): number {
    return this.#loads.get(name) ?? 0;
  }

  async #loadRows(store: StatsStore, table: StatisticsTable, rows: readonly StatisticsRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += LOAD_ROWS) {
      store.load(table, rows.slice(at, at + LOAD_ROWS));
      await this.ports.timers.yieldToEventLoop();
    }
  }

  /**
   * Checkpoints of the snapshot without those of replaced journals: SN3 (these are counted from their beginning). The
   * meter's is last: SN2 (an interrupted load starts again).
   */
  async #marksFor({ marks }: StatisticsManifest): Promise<StatisticsMark[]> {
    const known: StatisticsMark[] = [];
    for (const mark of marks) {
      const { createdAt } = await this.ports.journal.tail(mark.shard);
      if (createdAt === mark.createdAt) known.push(mark);
      else if (mark.shard === METER_SHARD) known.push({ ...mark, createdAt, position: 0 });
    }
    return known.sort((one, other) => Number(one.shard === METER_SHARD) - Number(other.shard === METER_SHARD));
  }

  /**
   * Checks regularly until it is stopped.
   * @param isReady whether all entries stored at the start are counted
   */
  async run(store: StatsStore, isReady: () => boolean, signal: AbortSignal): Promise<void> {
    const { log } = this.ports;
    while (!signal.aborted) {
      try {
        if (isReady()) await this.#look(store, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn('statistics.snapshot-failed', { reason: describeError(error) });
      }
      await this.ports.timers.pause(this.options.lookEveryMs, signal);
    }
  }

  async #look(store: StatsStore, signal: AbortSignal): Promise<void> {
    const counted = store.checkpoint(METER_SHARD);
    if (counted === undefined || counted.position === 0) return;
    let stored = await this.#stored();
    if (this.#isDue(stored[0], counted.position, await this.ports.journal.tail(METER_SHARD))) {
      if (!(await this.#write(store, signal))) return;
      stored = await this.#stored();
      await this.#snapshots.prune(keptStatistics(stored));
    }
    this.#coveredUpTo = coveredUpTo(stored);
  }

  /** Valid snapshots; read again when their names have changed. */
  async #stored(): Promise<readonly StoredStatistics[]> {
    const names = (await this.#snapshots.names()).join(' ');
    if (names === this.#known.names) return this.#known.stored;
    const stored: StoredStatistics[] = [];
    for await (const one of this.#snapshots.newestFirst()) {
      if (one.manifest.clusterId === this.options.clusterId) stored.push(one);
    }
    this.#known = { names, stored };
    return stored;
  }

  #isDue(newest: StoredStatistics | undefined, position: number, { first, last, bytes }: JournalTail): boolean {
    if (newest === undefined) return true;
    const records = position - meterPositionOf(newest.manifest);
    if (records <= 0) return false;
    if (this.ports.clock.nowMs() - newest.manifest.createdAtMs >= this.options.maxAgeMs) return true;
    const size = newest.manifest.segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const recordBytes = bytes / Math.max(1, last - first + 1);
    return records * recordBytes >= Math.max(this.options.meterBytes, size);
  }

  /**
   * Writes a snapshot: SN1 (no counts change while it is read).
   * @returns false after a stop, or if another process has just written one
   */
  async #write(store: StatsStore, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.ports;
    const { clusterId } = this.options;
    const createdAtMs = clock.nowMs();
    const begunMs = clock.monotonicMs();
    const segments: SegmentRef[] = [];
    try {
      return await store.hold(async (tables) => {
        const marks = tables.marks();
        const position = marks.find(({ shard }) => shard === METER_SHARD)?.position ?? 0;
        const writer = `${this.options.writer}-${createdAtMs.toString(36)}`;
        for (const segment of inSegments(tables.rows())) {
          segments.push(await this.#snapshots.writeSegment(position, writer, segments.length, segment));
          if (signal.aborted) throw new Stopped();
        }
        const { name } = await this.#snapshots.writeManifest({ clusterId, createdAtMs, marks, segments });
        const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
        const durationMs = Math.round(clock.monotonicMs() - begunMs);
        log.info('statistics.snapshotted', { manifest: name, position, bytes, durationMs });
        return true;
      });
    } catch (error) {
      await this.#snapshots.discard(segments).catch((reason: unknown) => {
        log.debug('statistics.snapshot-remains', { reason: describeError(reason) });
      });
      if (error instanceof Stopped || isMillraceError(error, 'CONFLICT')) return false;
      throw error;
    }
  }
}

class Stopped extends Error {}

interface Rows {
  readonly table: StatisticsTable;
  readonly rows: readonly StatisticsRow[];
}

/** Rows of each table in segments of a bounded size, to limit the number of objects. */
function* inSegments(steps: Iterable<Rows>): Generator<Rows> {
  let table: StatisticsTable | undefined;
  let rows: StatisticsRow[] = [];
  let bytes = 0;
  for (const step of steps) {
    if (table !== undefined && (table !== step.table || bytes >= SEGMENT_BYTES)) {
      yield { table, rows };
      rows = [];
      bytes = 0;
    }
    table = step.table;
    for (const row of step.rows) {
      rows.push(row);
      for (const value of row) bytes += typeof value === 'number' ? VALUE_BYTES : value.length;
    }
  }
  if (table !== undefined) yield { table, rows };
}

/** The default policy, used for example in tests. */
export const DEFAULT_SNAPSHOTTER_OPTIONS: Omit<SnapshotterOptions, 'clusterId' | 'writer'> = {
  meterBytes: 16 * 1024 * 1024,
  maxAgeMs: 24 * 3_600_000,
  lookEveryMs: 10_000,
};
