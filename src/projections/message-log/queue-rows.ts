/**
 * The rows of messages, of DLQ entries and of schedules, and what keeps them: a message's row stays for its events, for
 * its entry in the DLQ, and for as long as more may be heard of it.
 *
 *  QR1 a message's row is added with others, without a look whether its name is there already: where it is, `flush`
 *      throws, and its transaction is done once more, with `looksFirst`
 *
 * What this object remembers is only valid as long as its transactions succeed; after one that did not, `forget` it.
 */
import type { CarriedBody, Envelope } from '../../domain/queue/index.js';
import { type AccountId, type DlqId, Remembered } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { AddedRows, RowIds } from '../added-rows.js';
import { type Prepared, prepared } from '../statements.js';
import { dlqPlace } from './log-places.js';
import { SharedRows } from './shared-rows.js';

export interface MessageRow {
  readonly id: number;
  readonly account: number;
  readonly profile: number;
}

/** QR1. An id follows from its cause, and the cause came twice: a schedule was deleted and made again. */
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
  /** Undefined: as the message's row has it. */
  readonly retried: number | undefined;
  readonly status: number;
  readonly error: string;
  readonly header: readonly (readonly [string, string])[];
  readonly body: Pick<CarriedBody, 'number' | 'content'>;
}

/** Messages whose rows are remembered by name; beyond it all are looked up again. */
const MAX_REMEMBERED = 50_000;

export class QueueRows {
  readonly shared: SharedRows;
  /** QR1. */
  looksFirst = false;
  /** By name: two accounts seldom have the same. */
  readonly #messages = new Remembered<string, MessageRow>(MAX_REMEMBERED);
  readonly #added: AddedRows;
  readonly #ids: RowIds;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.shared = new SharedRows(file);
    this.#added = new AddedRows(file, 'INSERT OR IGNORE INTO messages', 10);
    this.#ids = new RowIds(file, 'messages');
    this.#sql = prepared(file, STATEMENTS);
  }

  /** What is known without a look at the table. */
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

  /** Messages that were added are in the table. @throws NameIsThere (QR1) */
  flush(): void {
    this.#mustBeNew(this.#added.flush());
  }

  /** More may be heard of it. */
  keepMessage(id: number, retried: number): void {
    this.flush();
    this.#sql.keepMessage.run([retried, id]);
  }

  /** This is called for a message that has come to its end. */
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

  /** The message's row goes too when it has no events any more. */
  dropDlq(account: number, dlqId: DlqId): void {
    const { atMs, n } = dlqPlace(dlqId);
    const row = this.#sql.findDlq.get([account, atMs, n]);
    if (row === undefined) return;
    this.flush();
    this.#sql.dropDlq.run([account, atMs, n]);
    this.shared.releaseBody(row.response as number);
    // Its end may not be among its events, where a snapshot told of it.
    this.#sql.endMessage.run([row.message as number]);
    this.dropMessageUnlessNeeded(row.message as number);
  }

  /** A schedule holds its body for the messages it will make. */
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

  /** Before a snapshot is folded in: nothing is in the DLQ, and no message is known to be alive. */
  clear(account: AccountId): void {
    const id = this.shared.account(account);
    this.flush();
    for (const row of this.#sql.allDlq.all([id])) this.shared.releaseBody(row.response as number);
    for (const row of this.#sql.allSchedules.all([id])) this.shared.releaseBody(row.body as number);
    this.#sql.clearDlq.run([id]);
    this.#sql.clearSchedules.run([id]);
    this.#sql.markGone.run([id]);
  }

  /** After it: what the snapshot did not name stays only for its events. @returns where to go on, undefined at the end */
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
