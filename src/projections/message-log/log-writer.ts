/**
 * Converts events of the queue into rows: the history of each message, and the DLQ list. Equal events give equal
 * rows, folded one by one or in a rebuild. Runs inside the caller's transaction. Events of an unknown message are
 * ignored: it was accepted before the front of the journal was removed and has ended, or before the file began.
 * Events of workflow runs go to `RunWriter`.
 */
import type { QueueEvent, QueueEventOf } from '../../domain/queue/index.js';
import { type AccountId, assert, type MessageId } from '../../kernel/index.js';
import type { MessageState, SqlFile } from '../../ports/index.js';
import { AddedRows } from '../added-rows.js';
import { SECTION_EVENTS, STATE_NUMBERS } from '../log-rows/schema.js';
import { RunRestorer } from '../run-log/run-restorer.js';
import { RunWriter } from '../run-log/run-writer.js';
import { type Prepared, prepared } from '../statements.js';
import { type MessageRow, QueueRows } from './queue-rows.js';

interface NewRow {
  readonly atMs: number;
  readonly state: MessageState;
  readonly message: MessageRow;
  readonly nextMs?: number | undefined;
  readonly error?: string | undefined;
  readonly response?: number | undefined;
}

export class LogWriter {
  readonly rows: QueueRows;
  readonly runs: RunWriter;
  readonly runRestorer: RunRestorer;
  readonly #added = new Map<number, number>();
  readonly #events: AddedRows;
  readonly #sql: Prepared<typeof STATEMENTS>;
  #account = 0;
  #n = 0;

  constructor(file: SqlFile) {
    this.rows = new QueueRows(file);
    this.runs = new RunWriter(file, this.rows.shared);
    this.runRestorer = new RunRestorer(file, this.runs);
    this.#events = new AddedRows(file, 'INSERT INTO events', 9);
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * @param index of the section in its partition
   * @returns rows added to the log
   */
  section(account: AccountId, index: number, events: Iterable<QueueEvent>): number {
    const first = index * SECTION_EVENTS;
    this.#account = this.rows.shared.account(account);
    this.#n = first;
    let ofRuns = 0;
    for (const event of events) {
      const added = this.#isPlain(event) ? undefined : this.runs.apply(this.#account, this.#n, event);
      if (added === undefined) {
        this.#apply(event);
      } else {
        this.#n += added;
        ofRuns += added;
      }
    }
    const all = this.#n - first;
    assert(all < SECTION_EVENTS, 'a section with more events than it has numbers for', { account, index });
    const added = all - ofRuns;
    if (added > 0) this.#added.set(this.#account, (this.#added.get(this.#account) ?? 0) + added);
    return all;
  }

  /** A quick test without a table: a remembered message of the plain log, which most are. */
  #isPlain(event: QueueEvent): boolean {
    return 'id' in event && this.rows.remembered(this.#account, event.id) !== undefined;
  }

  /** Applies an event of a snapshot; no row is added to the log. */
  restored(account: AccountId, event: QueueEvent): void {
    this.#account = this.rows.shared.account(account);
    if (this.runRestorer.restore(this.#account, event)) return;
    if (event.type === 'MessageRestored') {
      // A delivered message has no further events.
      if (event.status !== 'delivered') this.#keepMessage(event.id, event);
    } else if (event.type === 'DlqRestored') {
      const { dlqId, messageId, response, failedAtMs, retried } = event.entry;
      const message = this.#keepMessage(messageId, event.entry);
      const { status, error, header } = response;
      const body = referred(response.body);
      this.rows.addDlq(this.#account, dlqId, message, { failedAtMs, retried, status, error, header, body });
    } else if (event.type === 'ScheduleRestored') {
      this.rows.setSchedule(this.#account, event.schedule.id, referred(event.schedule.body));
    }
  }

  /** Called before a snapshot is applied. */
  clear(account: AccountId): void {
    this.rows.clear(account);
    this.runRestorer.clear(this.rows.shared.account(account));
  }

  /**
   * Called at the end of a transaction.
   * @returns accounts with more events than before
   */
  flush(): readonly number[] {
    this.rows.flush();
    this.#events.flush();
    this.rows.shared.flush();
    const grown = [...this.#added.keys(), ...this.runs.flush()];
    for (const [account, added] of this.#added) this.#sql.countEvents.run([added, account]);
    this.#added.clear();
    return grown;
  }

  /** Called after a rolled-back transaction. */
  forget(): void {
    this.rows.forget();
    this.runs.forget();
    this.#events.forget();
    this.#added.clear();
  }

  #apply(event: QueueEvent): void {
    switch (event.type) {
      case 'MessageAccepted':
        this.#accepted(event);
        break;
      case 'AttemptStarted':
        this.#started(event);
        break;
      case 'AttemptFailed':
        this.#failed(event);
        break;
      case 'MessageDeadLettered':
        this.#deadLettered(event);
        break;
      case 'MessageDelivered':
        this.#delivered(event);
        break;
      case 'CancelRequested':
        this.#changed(event, 'CANCEL_REQUESTED');
        break;
      case 'MessageCancelled':
        this.#changed(event, 'CANCELED');
        break;
      case 'DlqDeleted':
      case 'DlqExpired':
        this.#events.flush();
        for (const id of event.dlqIds) this.rows.dropDlq(this.#account, id);
        break;
      case 'DlqRetried':
        this.#events.flush();
        this.rows.dropDlq(this.#account, event.dlqId);
        break;
      case 'ScheduleSet':
        this.rows.setSchedule(this.#account, event.schedule.id, event.body);
        break;
      case 'ScheduleDeleted':
        this.rows.dropSchedule(this.#account, event.id);
        break;
      default:
        // Other events concern no message or entry of the log.
        break;
    }
  }

  /** The row of a pending message: the existing one, or a new one. */
  #keepMessage(
    name: MessageId,
    message: Pick<QueueEventOf<'MessageRestored'>, 'envelope' | 'body' | 'createdAtMs' | 'notBeforeMs' | 'retried'>,
  ): MessageRow {
    const known = this.rows.message(this.#account, name);
    if (known === undefined) {
      return this.rows.addMessage(this.#account, name, { ...message, body: referred(message.body) });
    }
    this.rows.keepMessage(known.id, message.retried);
    return known;
  }

  #accepted({ id, atMs, envelope, body, notBeforeMs }: QueueEventOf<'MessageAccepted'>): void {
    const fields = { envelope, body, createdAtMs: atMs, notBeforeMs, retried: 0 };
    const message = this.rows.addMessage(this.#account, id, fields);
    this.#add({ atMs, state: 'CREATED', message, nextMs: notBeforeMs > atMs ? notBeforeMs : undefined });
  }

  #started({ id, atMs, retried }: QueueEventOf<'AttemptStarted'>): void {
    const message = this.rows.message(this.#account, id);
    if (message === undefined) return;
    if (retried > 0) this.rows.keepMessage(message.id, retried);
    this.#add({ atMs, state: 'ACTIVE', message });
  }

  #failed(event: QueueEventOf<'AttemptFailed'>): void {
    const { id, atMs, error, nextAtMs } = event;
    const message = this.rows.message(this.#account, id);
    if (message === undefined) return;
    this.#add({ atMs, state: 'ERROR', message, error, response: this.rows.shared.addResponse(event) });
    if (nextAtMs !== undefined) this.#add({ atMs, state: 'RETRY', message, error, nextMs: nextAtMs });
  }

  #delivered(event: QueueEventOf<'MessageDelivered'>): void {
    const message = this.rows.message(this.#account, event.id);
    if (message === undefined) return;
    const response = this.rows.shared.addAnswer(this.#account, event);
    this.#add({ atMs: event.atMs, state: 'DELIVERED', message, response });
  }

  #deadLettered(event: QueueEventOf<'MessageDeadLettered'>): void {
    const { id, dlqId, atMs, status, error, header, response: body } = event;
    const message = this.rows.message(this.#account, id);
    if (message === undefined) return;
    this.#add({ atMs, state: 'FAILED', message, error });
    const entry = { failedAtMs: atMs, retried: undefined, status, error, header, body };
    this.rows.addDlq(this.#account, dlqId, message, entry);
  }

  #changed({ id, atMs }: { id: MessageId; atMs: number }, state: MessageState): void {
    const message = this.rows.message(this.#account, id);
    if (message !== undefined) this.#add({ atMs, state, message });
  }

  #add({ atMs, state, message: { id, profile }, nextMs, error, response }: NewRow): void {
    const number = STATE_NUMBERS[state];
    this.#events.add(
      this.#account,
      atMs,
      this.#n,
      number,
      id,
      profile,
      nextMs ?? null,
      error ?? null,
      response ?? null,
    );
    this.#n += 1;
  }
}

const STATEMENTS = {
  countEvents: 'UPDATE accounts SET events = events + ? WHERE id = ?',
} as const;

/** A body that an earlier event brought, or that is stored next to the snapshot. */
function referred({ number }: { readonly number: number }) {
  return { number, content: undefined };
}
