/**
 * Rows of messages, DLQ entries and schedules, and their lifetime: a message's row stays while it has events, a DLQ
 * entry, or may get further events.
 *
 *  QR1 messages are inserted in batches without looking for existing names: on a conflict `flush` throws, and the
 *      transaction is repeated with `looksFirst`
 *
 * Caches of this object are valid only after successful transactions; call `forget` after a failed one.
 */
import type { CarriedBody, Envelope } from '../../domain/queue/index.js';
import { type AccountId, BoundedCache, type DlqId } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { AddedRows, RowIds } from '../added-rows.js';
import { dlqPlace } from '../log-rows/log-places.js';
import { SharedRows } from '../log-rows/shared-rows.js';
import { type Prepared, prepared } from '../statements.js';

export interface MessageRow {
  readonly id: number;
  readonly account: number;
  readonly profile: number;
}

/**
 * A name conflict: QR1 (the transaction is repeated with `looksFirst`). A derived id can come twice when a schedule
 * was deleted and created again.
 */
export class NameIsThere extends Error {}

export interface NewMessage {
  readonly envelope: Envelope;
  readonly body: Pick<CarriedBody, 'number' | 'content'>;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly retried: number;
}

export interface NewDlqRow {
  readonly failedAtMs: number;
  /** Undefined: use the value of the message's row. */
  readonly retried: number | undefined;
  readonly status: number;
  readonly error: string;
  readonly header: readonly (readonly [string, string])[];
  readonly body: Pick<CarriedBody, 'number' | 'content'>;
}

/** Cached rows by name; beyond this rows are looked up again. */
const MAX_REMEMBERED = 50_000;

export class QueueRows {
  readonly shared: SharedRows;
  /** Look for existing names first: QR1 (after a name conflict the transaction is repeated). */
  looksFirst = false;
  /** By name only: two accounts seldom have the same one. */
  readonly #messages = new BoundedCache<string, MessageRow>(MAX_REMEMBERED);
  readonly #added: AddedRows;
  readonly #ids: RowIds;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.shared = new SharedRows(file);
    this.#added = new AddedRows(file, 'INSERT OR IGNORE INTO messages', 10);
    this.#ids = new RowIds(file, 'messages');
    this.#sql = prepared(file, STATEMENTS);
  }

  /** A cached row, without a look at the table. */
  remembered(account: number, name: string): MessageRow | undefined {
    const known = this.#messages.get(name);
    return known?.account === account ? known : undefined;
  }

  message(account: number, name: string): MessageRow | undefined {
    const known = this.remembered(account, name);
    if (known !== undefined) return known;
    this.flush();
    const row = this.#sql.findMessage.get([name, account]);
    if (row === undefined) return undefined;
    return this.#remember(name, { id: row.id as number, account, profile: row.profile as number });
  }

  addMessage(account: number, name: string, message: NewMessage): MessageRow {
    const known = this.looksFirst ? this.message(account, name) : undefined;
    if (known !== undefined) return known;
    const { id: envelope, profile } = this.shared.takeEnvelope(account, message.envelope);
    const body = this.shared.takeBody(account, message.body);
    const { createdAtMs, notBeforeMs, retried } = message;
    const id = this.#ids.next();
    this.#mustBeNew(this.#added.add(id, account, name, envelope, profile, body, createdAtMs, notBeforeMs, retried, 0));
    return this.#remember(name, { id, account, profile });
  }

  /**
   * Writes the batch of messages.
   * @throws NameIsThere: QR1 (the transaction is then repeated with `looksFirst`)
   */
  flush(): void {
    this.#mustBeNew(this.#added.flush());
  }

  /** Further events may follow for the message. */
  keepMessage(id: number, retried: number): void {
    this.flush();
    this.#sql.keepMessage.run([retried, id]);
  }

  /** Called for a message that has ended. */
  dropMessageUnlessNeeded(id: number): void {
    this.flush();
    if (this.#sql.findEvent.get([id]) !== undefined || this.#sql.findEntryOf.get([id]) !== undefined) return;
    const message = this.#sql.readMessage.get([id]);
    if (message === undefined) return;
    this.#sql.dropMessage.run([id]);
    this.#messages.delete(message.name as string);
    this.shared.releaseEnvelope(message.envelope as number);
    this.shared.releaseBody(message.body as number);
  }

  addDlq(account: number, dlqId: DlqId, { id, profile }: MessageRow, entry: NewDlqRow): void {
    const { atMs, n } = dlqPlace(dlqId);
    const { failedAtMs, status, error, header } = entry;
    if (entry.retried === undefined) this.flush();
    const retried = entry.retried ?? (this.#sql.readMessage.get([id])?.retried as number);
    const body = this.shared.takeBody(account, entry.body);
    const head = JSON.stringify(header);
    this.#sql.addDlq.run([account, atMs, n, id, profile, failedAtMs, retried, status, error, head, body]);
  }

  /** Also removes the message's row when it has no events left. */
  dropDlq(account: number, dlqId: DlqId): void {
    const { atMs, n } = dlqPlace(dlqId);
    const row = this.#sql.findDlq.get([account, atMs, n]);
    if (row === undefined) return;
    this.flush();
    this.#sql.dropDlq.run([account, atMs, n]);
    this.shared.releaseBody(row.response as number);
    // The end of a message from a snapshot may not be among its events.
    this.#sql.endMessage.run([row.message as number]);
    this.dropMessageUnlessNeeded(row.message as number);
  }

  /** A schedule holds its body for its future messages. */
  setSchedule(account: number, name: string, body: Pick<CarriedBody, 'number' | 'content'>): void {
    const id = this.shared.takeBody(account, body);
    this.dropSchedule(account, name);
    this.#sql.setSchedule.run([account, name, id]);
  }

  dropSchedule(account: number, name: string): void {
    const row = this.#sql.findSchedule.get([account, name]);
    if (row === undefined) return;
    this.shared.releaseBody(row.body as number);
    this.#sql.dropSchedule.run([account, name]);
  }

  /** Called before a snapshot is applied: empties the DLQ and marks all messages as gone. */
  clear(account: AccountId): void {
    const id = this.shared.account(account);
    this.flush();
    for (const row of this.#sql.allDlq.all([id])) this.shared.releaseBody(row.response as number);
    for (const row of this.#sql.allSchedules.all([id])) this.shared.releaseBody(row.body as number);
    this.#sql.clearDlq.run([id]);
    this.#sql.clearSchedules.run([id]);
    this.#sql.markGone.run([id]);
  }

  /**
   * Called after a snapshot: messages that it did not name keep their row only while they have events.
   * @returns the start of the next step; undefined at the end
   */
  dropGone(account: AccountId, after: number, count: number): number | undefined {
    const rows = this.#sql.gone.all([this.shared.account(account), after, count]);
    for (const row of rows) this.dropMessageUnlessNeeded(row.id as number);
    return rows.length < count ? undefined : (rows.at(-1)?.id as number);
  }

  forget(): void {
    this.shared.forget();
    this.#messages.clear();
    this.#added.forget();
    this.#ids.forget();
  }

  #mustBeNew(left: number): void {
    if (left > 0) throw new NameIsThere();
  }

  #remember(name: string, row: MessageRow): MessageRow {
    this.#messages.set(name, row);
    return row;
  }
}

const STATEMENTS = {
  findMessage: 'SELECT id, profile FROM messages WHERE name = ? AND account = ?',
  readMessage: 'SELECT account, name, envelope, body, retried FROM messages WHERE id = ?',
  keepMessage: 'UPDATE messages SET retried = ?, is_gone = 0 WHERE id = ?',
  dropMessage: 'DELETE FROM messages WHERE id = ?',
  endMessage: 'UPDATE messages SET is_gone = 1 WHERE id = ?',
  markGone: 'UPDATE messages SET is_gone = 1 WHERE account = ?',
  gone: 'SELECT id FROM messages WHERE account = ? AND is_gone = 1 AND id > ? ORDER BY id LIMIT ?',
  findEvent: 'SELECT 1 AS found FROM events WHERE message = ? LIMIT 1',
  findEntryOf: 'SELECT 1 AS found FROM dlq WHERE message = ? LIMIT 1',
  addDlq: 'INSERT OR IGNORE INTO dlq VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  findDlq: 'SELECT message, response FROM dlq WHERE account = ? AND at_ms = ? AND n = ?',
  dropDlq: 'DELETE FROM dlq WHERE account = ? AND at_ms = ? AND n = ?',
  allDlq: 'SELECT response FROM dlq WHERE account = ? AND response <> 0',
  clearDlq: 'DELETE FROM dlq WHERE account = ?',
  findSchedule: 'SELECT body FROM schedules WHERE account = ? AND name = ?',
  setSchedule: 'INSERT INTO schedules VALUES (?, ?, ?)',
  dropSchedule: 'DELETE FROM schedules WHERE account = ? AND name = ?',
  allSchedules: 'SELECT body FROM schedules WHERE account = ?',
  clearSchedules: 'DELETE FROM schedules WHERE account = ?',
} as const;
