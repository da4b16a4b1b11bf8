/**
 * The statistics' file: counts and checkpoints change in the same transaction.
 *
 *  SS1 each entry of a journal and each record of a process is counted once: those covered by the checkpoint, or by
 *      the process's last number, are skipped
 *  SS2 the in-memory additions of a failed transaction are forgotten with it
 *  SS3 while the file is held (`hold`) it does not change: followers wait, and pruning is put off
 */
import type { ReadEntry } from '../../codec/envelope/index.js';
import type { QueueEvent } from '../../domain/queue/index.js';
import { type AccountId, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Log, SqlFile, SqlFiles } from '../../ports/index.js';
import type { MeterRecord, StatisticsMark, StatisticsRow, StatisticsTable } from '../../protocol/index.js';
import { type Checkpoint, checkpointIn, checkpointRow } from '../checkpoint.js';
import { ModelFile } from '../model-file.js';
import { foldQueueSections } from '../section-events.js';
import { type Prepared, prepared } from '../statements.js';
import { BucketRows } from './bucket-rows.js';
import { Deltas } from './deltas.js';
import { GaugeState } from './gauge-state.js';
import { LiveMessages } from './live-messages.js';
import { MeterFold } from './meter-fold.js';
import { QueueStatisticsFold } from './queue-fold.js';
import { STATISTICS_SCHEMA, STATISTICS_VERSION } from './schema.js';
import { CountedSessions } from './sessions.js';
import { StatsTables } from './stats-tables.js';
import { Subjects } from './subjects.js';

export interface StatsStoreOptions {
  readonly clusterId: string;
  nowMs(): number;
}

/** The checkpoint of a journal. */
export interface StatsCheckpoint extends Checkpoint {
  /** Journal entries up to this number are already included in the DLQ count from a snapshot. */
  readonly dlqFrom: number;
}

export class StatsStore {
  readonly #file: ModelFile<Parts>;
  #held: Promise<void> | undefined;

  constructor(
    files: SqlFiles,
    log: Log,
    private readonly options: StatsStoreOptions,
  ) {
    const { clusterId } = options;
    const how = { model: 'statistics', clusterId, version: STATISTICS_VERSION, schema: STATISTICS_SCHEMA, partsOf };
    this.#file = new ModelFile(files, log, how);
  }

  get #parts(): Parts {
    return this.#file.parts;
  }

  get rows(): BucketRows {
    return this.#parts.rows;
  }

  get gauges(): GaugeState {
    return this.#parts.gauges;
  }

  get subjects(): Subjects {
    return this.#parts.subjects;
  }

  /** SS3 (while the file is held it does not change). Undefined: it may be changed now. */
  whenFree(): Promise<void> | undefined {
    return this.#held;
  }

  /** SS3 (while the file is held it does not change). One holder at a time. */
  async hold<T>(work: (tables: StatsTables) => Promise<T>): Promise<T> {
    let free = () => {};
    this.#held = new Promise((resolve) => {
      free = resolve;
    });
    try {
      return await work(this.#parts.tables);
    } finally {
      this.#held = undefined;
      free();
    }
  }

  /** Starts to take all data from a snapshot: the file stays empty until `load` and, last, `setMarks`. */
  clear(): void {
    this.#transaction(() => this.#parts.tables.clear());
    this.#forget();
  }

  load(table: StatisticsTable, rows: readonly StatisticsRow[]): void {
    this.#transaction(() => this.#parts.tables.load(table, rows));
  }

  setMarks(marks: readonly StatisticsMark[]): void {
    this.#transaction(() => {
      for (const { shard, ...mark } of marks) this.#writeCheckpoint(shard, mark);
    });
    this.#forget();
  }

  checkpoint(shard: ShardName): StatsCheckpoint | undefined {
    const row = this.#parts.sql.readShard.get([shard]);
    return row && { ...checkpointIn(row), dlqFrom: row.dlq_from as number };
  }

  /**
   * Counts entries after the shard's checkpoint.
   * @returns the new checkpoint and the counted sections
   * @throws JOURNAL_DAMAGED, SqlFailure
   */
  apply(shard: ShardName, entries: readonly ReadEntry[], before: Checkpoint): { after: StatsCheckpoint; rows: number } {
    let after: StatsCheckpoint = { dlqFrom: 0, ...before };
    let rows = 0;
    this.#transaction(() => {
      const { queue, subjects } = this.#parts;
      after = foldQueueSections(entries, after, ({ account, entry, events }) => {
        const subject = subjects.idOf('queue', account);
        const dlq = queue.apply(subject, events);
        if (dlq !== 0 && entry > after.dlqFrom) subjects.growDlq(subject, dlq);
        rows += 1;
      });
      this.#writeCheckpoint(shard, after);
    });
    return { after, rows };
  }

  /**
   * Counts records of the meter's log after its checkpoint.
   * @returns the new checkpoint and the number of records
   */
  applyMeter(
    shard: ShardName,
    records: readonly { readonly position: number; readonly record: MeterRecord | undefined }[],
    before: Checkpoint,
  ): { after: StatsCheckpoint; rows: number } {
    let after: StatsCheckpoint = { dlqFrom: 0, ...before };
    this.#transaction(() => {
      const { meter, sessions } = this.#parts;
      for (const { position, record } of records) {
        if (record !== undefined && sessions.isNew(record)) meter.apply(record);
        after = { ...after, position, clockMs: record?.atMs ?? after.clockMs };
      }
      this.#writeCheckpoint(shard, after);
    });
    return { after, rows: records.length };
  }

  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void {
    this.#transaction(() => this.#writeCheckpoint(shard, { dlqFrom: 0, ...checkpoint }));
  }

  /**
   * Adds pending messages and DLQ entries of an account from a snapshot.
   * @param isFirst whether these are its first events
   */
  restore(account: AccountId, events: readonly QueueEvent[], isFirst: boolean): void {
    this.#transaction(() => {
      const { queue, subjects, live } = this.#parts;
      const id = subjects.idOf('queue', account);
      if (isFirst) {
        subjects.setDlq(id, 0);
        live.clear(id);
      }
      let dlq = 0;
      for (const event of events) {
        queue.restored(id, event);
        if (event.type === 'DlqRestored') dlq += 1;
      }
      subjects.growDlq(id, dlq);
    });
  }

  /**
   * Removes expired rows of some subjects.
   * @returns the subject to continue after; 0: start again
   */
  prune(after: number, count: number): number {
    if (this.#held !== undefined) return after;
    const nowMs = this.options.nowMs();
    return this.#transaction(() => {
      const { subjects, rows, sessions } = this.#parts;
      const some = subjects.after(after, count);
      for (const id of some) rows.prune(id, nowMs);
      if (some.length === count) return some.at(-1) as number;
      sessions.prune(nowMs);
      return 0;
    });
  }

  /**
   * Shrinks the file after pruning.
   * @returns bytes freed in this step; 0: none left
   */
  giveBack(): number {
    if (this.#held !== undefined) return 0;
    return this.#file.sql.giveBack();
  }

  /** Removes all rows; folding then starts from the beginning. */
  discard(reason: string): void {
    this.#file.discard(reason);
  }

  close(): void {
    this.#file.close();
  }

  #transaction<T>(work: () => T): T {
    if (this.#held !== undefined) throw new MillraceError('SHARD_UNAVAILABLE', 'the statistics are being written down');
    const { deltas, rows, live, sessions } = this.#parts;
    try {
      return this.#file.sql.transaction(() => {
        const result = work();
        const nowMs = this.options.nowMs();
        for (const [subject, delta] of deltas.take()) rows.add(subject, delta, nowMs);
        live.flush();
        sessions.flush();
        return result;
      });
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** SS2 (the in-memory additions of a failed transaction are forgotten). */
  #forget(): void {
    const { deltas, rows, live, gauges, subjects, sessions } = this.#parts;
    for (const part of [rows, live, gauges, subjects, sessions]) part.forget();
    deltas.clear();
  }

  #writeCheckpoint(shard: ShardName, at: StatsCheckpoint): void {
    this.#parts.sql.writeShard.run([...checkpointRow(shard, at), at.dlqFrom]);
  }
}

interface Parts {
  readonly deltas: Deltas;
  readonly rows: BucketRows;
  readonly live: LiveMessages;
  readonly gauges: GaugeState;
  readonly subjects: Subjects;
  readonly sessions: CountedSessions;
  readonly queue: QueueStatisticsFold;
  readonly meter: MeterFold;
  readonly tables: StatsTables;
  readonly sql: Prepared<typeof STATEMENTS>;
}

const STATEMENTS = {
  readShard: 'SELECT * FROM shards WHERE shard = ?',
  writeShard: 'INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
} as const;

function partsOf(file: SqlFile): Parts {
  const gauges = new GaugeState(file);
  const deltas = new Deltas((subject, atMs) => gauges.at(subject, atMs));
  const live = new LiveMessages(file);
  const subjects = new Subjects(file);
  return {
    deltas,
    rows: new BucketRows(file),
    live,
    gauges,
    subjects,
    sessions: new CountedSessions(file),
    queue: new QueueStatisticsFold(deltas, live),
    meter: new MeterFold(deltas, gauges, (kind, name) => subjects.idOf(kind, name)),
    tables: new StatsTables(file),
    sql: prepared(file, STATEMENTS),
  };
}
