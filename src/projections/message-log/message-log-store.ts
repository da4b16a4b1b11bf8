/**
 * The read model's file: rows and how far each journal has been folded change in the same transaction, so that a kill
 * at any moment repeats nothing and leaves nothing out.
 *
 *  ML1 an entry is folded once: what the checkpoint covers is passed over
 *  ML2 a file of another version, of another cluster, or one that cannot be read is removed and made anew
 */

import type { ReadEntry } from '../../codec/envelope/index.js';
import { decodeQueueEvents } from '../../codec/queue/index.js';
import type { QueueEvent } from '../../domain/queue/index.js';
import { type AccountId, describeError, type ShardName } from '../../kernel/index.js';
import { parseQueuePartition } from '../../messages/index.js';
import { type Log, SqlFailure, type SqlFile, type SqlFiles, type SqlStatement } from '../../ports/index.js';
import { type Checkpoint, checkpointIn } from '../checkpoint.js';
import { RunReader } from '../run-log/run-reader.js';
import { RUN_SCHEMA } from '../run-log/schema.js';
import { LogReader } from './log-reader.js';
import { LogWriter } from './log-writer.js';
import { DEFAULT_RETENTION, Retention, type RetentionLimits } from './retention.js';
import { SCHEMA, SCHEMA_VERSION } from './schema.js';

export interface MessageLogStoreOptions {
  readonly clusterId: string;
  readonly retention?: RetentionLimits;
}

const QUEUE_PREFIX = 'queue:';

export class MessageLogStore {
  /** Of accounts that have a number of their own. */
  readonly #maxEvents = new Map<AccountId, number>();
  #file: SqlFile;
  #parts: Parts;

  constructor(
    private readonly files: SqlFiles,
    private readonly log: Log,
    private readonly options: MessageLogStoreOptions,
  ) {
    [this.#file, this.#parts] = this.#open();
  }

  get reader(): LogReader {
    return this.#parts.reader;
  }

  get runReader(): RunReader {
    return this.#parts.runReader;
  }

  checkpoint(shard: ShardName): Checkpoint | undefined {
    const row = this.#parts.sql.readShard.get([shard]);
    return row && checkpointIn(row);
  }

  /** Entries that follow the shard's checkpoint. @returns rows added to the log. @throws JOURNAL_DAMAGED, SqlFailure */
  apply(shard: ShardName, entries: readonly ReadEntry[], before: Checkpoint): { after: Checkpoint; rows: number } {
    let after = before;
    let rows = 0;
    this.#transaction(() => {
      for (const { entry, hash, position } of entries) {
        if (entry.number <= after.entry) continue;
        if (entry.body.kind === 'batch') {
          for (const { partition, index, effects } of entry.body.sections) {
            if (!partition.startsWith(QUEUE_PREFIX)) continue;
            rows += this.#parts.writer.section(parseQueuePartition(partition), index, decodeQueueEvents(effects));
          }
        }
        after = { ...after, position, entry: entry.number, hash, clockMs: entry.clockMs };
      }
      this.#writeCheckpoint(shard, after);
    });
    return { after, rows };
  }

  setCheckpoint(shard: ShardName, checkpoint: Checkpoint): void {
    this.#transaction(() => this.#writeCheckpoint(shard, checkpoint));
  }

  /** Begins to take an account's state from a snapshot: its DLQ is empty until `restore` fills it. */
  clear(account: AccountId): void {
    this.#transaction(() => this.#parts.writer.clear(account));
  }

  /** @param bodies contents of bodies that `lacksBody` asked for */
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

  /** Ends it, in steps. @returns where to go on */
  dropGone(account: AccountId, after: number): number | undefined {
    return this.#transaction(() => this.#parts.writer.rows.dropGone(account, after, DROP_STEP));
  }

  /** The same for runs. */
  dropGoneRuns(account: AccountId, after: number): number | undefined {
    const { runRestorer, rows } = this.#parts.writer;
    return this.#transaction(() => runRestorer.dropGone(rows.shared.account(account), after, DROP_STEP));
  }

  /** Last, when no row is to come any more: what was kept and nothing refers to. */
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

  /** Once in a while: events grow old by themselves. */
  lookForOld(): void {
    this.#parts.retention.lookAtAll();
  }

  /** From now on so many events of each of these accounts are kept, 0 for none. */
  limitEvents(limits: Iterable<readonly [AccountId, number]>): void {
    const named = new Map(limits);
    for (const [account, maxEvents] of named) this.#maxEvents.set(account, maxEvents);
    this.#parts.retention.lookAtNamed(named.keys());
  }

  /** One step. @returns rows removed */
  prune(nowMs: number): number {
    return this.#transaction(() => this.#parts.retention.step(nowMs));
  }

  /** What was pruned leaves the file too. @returns bytes given back in one step; 0: nothing to do */
  giveBack(): number {
    return this.#file.giveBack();
  }

  /** Removes everything; what follows is folded from the beginning. */
  discard(reason: string): void {
    this.log.warn('read-model.discarded', { model: 'messages', reason });
    this.#closeQuietly(this.#file);
    this.files.remove();
    [this.#file, this.#parts] = this.#create();
  }

  close(): void {
    this.#file.close();
  }

  #transaction<T>(work: () => T): T {
    const { writer, retention } = this.#parts;
    try {
      return this.#file.transaction(() => {
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
    const { createdAt, position, entry, hash, clockMs, hasGap } = at;
    this.#parts.sql.writeShard.run([shard, createdAt, position, entry, hash, clockMs, hasGap ? 1 : 0]);
  }

  #open(): [SqlFile, Parts] {
    let file: SqlFile | undefined;
    try {
      file = this.files.open();
      const reason = this.#refusal(file);
      if (reason === undefined) return [file, this.#partsOf(file)];
      if (reason !== 'empty') this.log.info('read-model.rebuilding', { model: 'messages', reason });
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      this.log.warn('read-model.discarded', { model: 'messages', reason: describeError(error) });
    }
    if (file !== undefined) this.#closeQuietly(file);
    this.files.remove();
    return this.#create();
  }

  #create(): [SqlFile, Parts] {
    const file = this.files.open();
    file.transaction(() => {
      file.exec(SCHEMA);
      file.exec(RUN_SCHEMA);
      const meta = file.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
      meta.run(['version', String(SCHEMA_VERSION)]);
      meta.run(['cluster', this.options.clusterId]);
    });
    return [file, this.#partsOf(file)];
  }

  /** Why the file cannot be gone on with. */
  #refusal(file: SqlFile): string | undefined {
    if (file.prepare('SELECT 1 AS found FROM sqlite_schema LIMIT 1').get([]) === undefined) return 'empty';
    const meta = file.prepare('SELECT value FROM meta WHERE name = ?');
    if (meta.get(['version'])?.value !== String(SCHEMA_VERSION)) return 'another version';
    if (meta.get(['cluster'])?.value !== this.options.clusterId) return 'another cluster';
    return undefined;
  }

  #partsOf(file: SqlFile): Parts {
    const writer = new LogWriter(file);
    const { maxAgeMs, maxEvents } = this.options.retention ?? DEFAULT_RETENTION;
    const maxEventsOf = (account: AccountId) => this.#maxEvents.get(account) ?? maxEvents;
    return {
      writer,
      reader: new LogReader(file),
      runReader: new RunReader(file),
      retention: new Retention(file, writer.rows, writer.runs.rows, { maxAgeMs, maxEventsOf }),
      sql: {
        readShard: file.prepare('SELECT * FROM shards WHERE shard = ?'),
        writeShard: file.prepare('INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?)'),
        accounts: file.prepare('SELECT name FROM accounts'),
      },
    };
  }

  #closeQuietly(file: SqlFile): void {
    try {
      file.close();
    } catch (error) {
      // A damaged file may not even close; it is removed in any case.
      this.log.debug('read-model.not-closed', { reason: describeError(error) });
    }
  }
}

const DROP_STEP = 1000;

interface Parts {
  readonly writer: LogWriter;
  readonly reader: LogReader;
  readonly runReader: RunReader;
  readonly retention: Retention;
  readonly sql: Readonly<Record<'readShard' | 'writeShard' | 'accounts', SqlStatement>>;
}
