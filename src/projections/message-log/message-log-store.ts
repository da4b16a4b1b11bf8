/**
 * The read model's file. Rows and checkpoints change in the same transaction, so that a kill at any moment neither
 * repeats nor loses an entry.
 *
 *  ML1 an entry is folded once: entries up to the checkpoint are skipped
 */
import type { ReadEntry } from '../../codec/envelope/index.js';
import type { QueueEvent } from '../../domain/queue/index.js';
import type { AccountId, ShardName } from '../../kernel/index.js';
import type { Log, SqlFile, SqlFiles } from '../../ports/index.js';
import { type Checkpoint, checkpointIn, checkpointRow } from '../checkpoint.js';
import { MESSAGE_LOG_SCHEMA, MESSAGE_LOG_VERSION } from '../log-rows/schema.js';
import { ModelFile } from '../model-file.js';
import { RunReader } from '../run-log/run-reader.js';
import { RUN_SCHEMA } from '../run-log/schema.js';
import { foldQueueSections } from '../section-events.js';
import { type Prepared, prepared } from '../statements.js';
import { BacklogAges } from './backlog-ages.js';
import { MessageLogReader } from './log-reader.js';
import { LogWriter } from './log-writer.js';
import { NameIsThere } from './queue-rows.js';
import { DEFAULT_RETENTION, MessageLogRetention, type RetentionLimits } from './retention.js';

export interface MessageLogStoreOptions {
  readonly clusterId: string;
  readonly retention?: RetentionLimits;
}

export class MessageLogStore {
  /** Limits of accounts that differ from the default. */
  readonly #maxEvents = new Map<AccountId, number>();
  readonly #file: ModelFile<Parts>;

  constructor(
    files: SqlFiles,
    log: Log,
    private readonly options: MessageLogStoreOptions,
  ) {
    this.#file = new ModelFile(files, log, {
      model: 'messages',
      clusterId: options.clusterId,
      version: MESSAGE_LOG_VERSION,
      schema: MESSAGE_LOG_SCHEMA + RUN_SCHEMA,
      partsOf: (file) => this.#partsOf(file),
    });
  }

  get #parts(): Parts {
    return this.#file.parts;
  }

  get reader(): MessageLogReader {
    return this.#parts.reader;
  }

  get backlogAges(): BacklogAges {
    return this.#parts.backlogAges;
  }

  get runReader(): RunReader {
    return this.#parts.runReader;
  }

  checkpoint(shard: ShardName): Checkpoint | undefined {
    const row = this.#parts.sql.readShard.get([shard]);
    return row && checkpointIn(row);
  }

  /**
   * Folds entries after the shard's checkpoint.
   * @returns the new checkpoint and the rows added to the log
   * @throws JOURNAL_DAMAGED, SqlFailure
   */
  apply(shard: ShardName, entries: readonly ReadEntry[], before: Checkpoint): { after: Checkpoint; rows: number } {
    return this.#transaction(() => {
      let rows = 0;
      const after = foldQueueSections(entries, before, ({ account, index, events }) => {
        rows += this.#parts.writer.section(account, index, events);
      });
      this.#writeCheckpoint(shard, after);
      return { after, rows };
    });
  }

  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void {
    this.#transaction(() => this.#writeCheckpoint(shard, checkpoint));
  }

  /** Starts to take an account's state from a snapshot: its DLQ stays empty until `restore` fills it. */
  clear(account: AccountId): void {
    this.#transaction(() => this.#parts.writer.clear(account));
  }

  /** @param bodies contents of the bodies for which `lacksBody` returned true */
  restore(account: AccountId, events: readonly QueueEvent[], bodies: ReadonlyMap<number, Uint8Array>): void {
    this.#transaction(() => {
      const { writer } = this.#parts;
      const id = writer.rows.shared.account(account);
      for (const [number, content] of bodies) writer.rows.shared.keepBody(id, number, content);
      for (const event of events) writer.restored(account, event);
    });
  }

  lacksBody(account: AccountId, number: number): boolean {
    const { shared } = this.#parts.writer.rows;
    return !shared.hasBody(shared.account(account), number);
  }

  /**
   * Ends the restore, in steps.
   * @returns the start of the next step
   */
  dropGone(account: AccountId, after: number): number | undefined {
    return this.#transaction(() => this.#parts.writer.rows.dropGone(account, after, DROP_STEP));
  }

  /** The same for runs. */
  dropGoneRuns(account: AccountId, after: number): number | undefined {
    const { runRestorer, rows } = this.#parts.writer;
    return this.#transaction(() => runRestorer.dropGone(rows.shared.account(account), after, DROP_STEP));
  }

  /** The last step: removes kept bodies that no row refers to. */
  dropUnusedBodies(account: AccountId, after: number): number | undefined {
    const { shared } = this.#parts.writer.rows;
    return this.#transaction(() => shared.dropUnused(shared.account(account), after, DROP_STEP));
  }

  accounts(): readonly AccountId[] {
    return this.#parts.sql.accounts.all([]).map((row) => row.name as AccountId);
  }

  get isPruneDue(): boolean {
    return this.#parts.retention.isDue;
  }

  /** Called regularly, because events expire without a change. */
  lookForOld(): void {
    this.#parts.retention.lookAtAll();
  }

  /** Sets the number of events kept for these accounts; 0 keeps none. */
  limitEvents(limits: Iterable<readonly [AccountId, number]>): void {
    const named = new Map(limits);
    for (const [account, maxEvents] of named) this.#maxEvents.set(account, maxEvents);
    this.#parts.retention.lookAtNamed(named.keys());
  }

  /**
   * One step.
   * @returns rows removed
   */
  prune(nowMs: number): number {
    return this.#transaction(() => this.#parts.retention.step(nowMs));
  }

  /**
   * Shrinks the file after pruning.
   * @returns bytes freed in this step; 0: none left
   */
  giveBack(): number {
    return this.#file.sql.giveBack();
  }

  /** Removes all rows; folding then starts from the beginning. */
  discard(reason: string): void {
    this.#file.discard(reason);
  }

  close(): void {
    this.#file.close();
  }

  /** `work` may run twice: QR1 (after a name conflict the transaction is repeated with `looksFirst`). */
  #transaction<T>(work: () => T): T {
    const { rows } = this.#parts.writer;
    try {
      return this.#attempt(work);
    } catch (error) {
      if (!(error instanceof NameIsThere)) throw error;
      rows.looksFirst = true;
      return this.#attempt(work);
    } finally {
      rows.looksFirst = false;
    }
  }

  #attempt<T>(work: () => T): T {
    const { writer, retention } = this.#parts;
    try {
      return this.#file.sql.transaction(() => {
        const result = work();
        retention.lookAt(writer.flush());
        return result;
      });
    } catch (error) {
      writer.forget();
      throw error;
    }
  }

  #writeCheckpoint(shard: ShardName, at: Checkpoint): void {
    this.#parts.sql.writeShard.run(checkpointRow(shard, at));
  }

  #partsOf(file: SqlFile): Parts {
    const writer = new LogWriter(file);
    const { maxAgeMs, maxAnswerAgeMs, maxEvents } = this.options.retention ?? DEFAULT_RETENTION;
    const maxEventsOf = (account: AccountId) => this.#maxEvents.get(account) ?? maxEvents;
    return {
      writer,
      reader: new MessageLogReader(file),
      backlogAges: new BacklogAges(file, maxEventsOf),
      runReader: new RunReader(file),
      retention: new MessageLogRetention(file, writer.rows, writer.runs.rows, {
        maxAgeMs,
        maxAnswerAgeMs,
        maxEventsOf,
      }),
      sql: prepared(file, STATEMENTS),
    };
  }
}

const DROP_STEP = 1000;

interface Parts {
  readonly writer: LogWriter;
  readonly reader: MessageLogReader;
  readonly backlogAges: BacklogAges;
  readonly runReader: RunReader;
  readonly retention: MessageLogRetention;
  readonly sql: Prepared<typeof STATEMENTS>;
}

const STATEMENTS = {
  readShard: 'SELECT * FROM shards WHERE shard = ?',
  writeShard: 'INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?)',
  accounts: 'SELECT name FROM accounts',
} as const;
