/**
 * Pages of the log and of the DLQ list. A page ends with what was asked for, with `MAX_PAGE_BYTES`, or when its time
 * is over; it then says where to go on, so that a search which has to look at a million rows costs many short pages
 * and never one long silence. Each generator's step is a few milliseconds.
 */
import type { DlqSelector, Envelope, HeaderList } from '../../domain/queue/index.js';
import { type AccountId, assert, type DlqId, type MessageId } from '../../kernel/index.js';
import {
  type DlqPage,
  type DlqRow,
  type LogEvent,
  type LogPage,
  type LogQuery,
  MESSAGE_STATES,
  type MessageState,
  type SqlFile,
  type SqlRow,
} from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import { decodeEnvelope } from './envelope-bytes.js';
import { maybePlace, type Place, placeOf, rangeOf, textOf } from './log-places.js';
import { type Found, RowSearch } from './row-search.js';
import { STATE_NUMBERS } from './schema.js';

/** Bodies and responses of one page; it travels between threads and processes whole. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

const EMPTY = new Uint8Array();
const STATES = new Map<number, MessageState>(MESSAGE_STATES.map((state) => [STATE_NUMBERS[state], state]));

export class LogReader {
  readonly #events: RowSearch;
  readonly #dlq: RowSearch;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.#events = new RowSearch(file, 'events');
    this.#dlq = new RowSearch(file, 'dlq');
    this.#sql = prepared(file, STATEMENTS);
  }

  /** @param isLate asked after each step. @throws INVALID for a cursor that is none */
  *events(name: AccountId, query: LogQuery, isLate: () => boolean): Generator<void, LogPage> {
    const { filter, order, count, cursor } = query;
    const range = rangeOf(filter, order, cursor === undefined ? undefined : placeOf(cursor));
    const account = this.#account(name);
    if (account === undefined || count <= 0) return { events: [], cursor: undefined };
    const states = query.states.map((state) => STATE_NUMBERS[state]);
    const search = { account, filter, states, order, ...range, accept: () => true };
    const page = new PageParts(this.#sql);
    const events: LogEvent[] = [];
    const last = yield* gathered(this.#events.run(search), isLate, (row) => {
      if (events.length >= count || page.bytes >= MAX_PAGE_BYTES) return false;
      const event = page.event(row);
      if (event !== undefined) events.push(event);
      return true;
    });
    return { events, cursor: last && textOf(last) };
  }

  /** @param isLate asked after each step */
  *dlq(name: AccountId, selector: DlqSelector, isLate: () => boolean): Generator<void, DlqPage> {
    const account = this.#account(name);
    if (account === undefined) return { entries: [], after: undefined };
    const page = new PageParts(this.#sql);
    if (selector.kind === 'ids') {
      const entries = selector.dlqIds.map((id) => this.#entry(page, account, id));
      return { entries: entries.filter((entry) => entry !== undefined), after: undefined };
    }
    const { filter, order, count, after } = selector;
    const { responseStatus } = filter;
    const statuses = responseStatus === undefined || responseStatus.length === 0 ? undefined : new Set(responseStatus);
    const range = rangeOf(filter, order, after === undefined ? undefined : placeOf(after));
    const accept = (row: SqlRow) => statuses === undefined || statuses.has(row.status as number);
    const entries: DlqRow[] = [];
    if (count <= 0) return { entries, after: undefined };
    const last = yield* gathered(
      this.#dlq.run({ account, filter, states: [], order, ...range, accept }),
      isLate,
      (row) => {
        if (entries.length >= count || page.bytes >= MAX_PAGE_BYTES) return false;
        const entry = page.entry(row);
        if (entry !== undefined) entries.push(entry);
        return true;
      },
    );
    return { entries, after: last && (textOf(last) as DlqId) };
  }

  #entry(page: PageParts, account: number, dlqId: DlqId): DlqRow | undefined {
    const place = maybePlace(dlqId);
    const row = place && this.#sql.dlqEntry.get([account, place.atMs, place.n]);
    return row && page.entry(row);
  }

  #account(name: AccountId): number | undefined {
    return this.#sql.account.get([name])?.id as number | undefined;
  }
}

const STATEMENTS = {
  account: 'SELECT id FROM accounts WHERE name = ?',
  message: 'SELECT name, envelope, body, created_ms, not_before_ms FROM messages WHERE id = ?',
  envelope: 'SELECT bytes FROM envelopes WHERE id = ?',
  body: 'SELECT content FROM bodies WHERE id = ?',
  response: 'SELECT status, header, body FROM responses WHERE id = ?',
  dlqEntry: 'SELECT * FROM dlq WHERE account = ? AND at_ms = ? AND n = ?',
} as const;

/**
 * Takes rows until `take` wants no more. @returns where the next page begins, exclusive; undefined when nothing is left
 */
function* gathered(
  found: Iterable<Found>,
  isLate: () => boolean,
  take: (row: SqlRow) => boolean,
): Generator<void, Place | undefined> {
  let last: Place | undefined;
  for (const { place, row } of found) {
    if (row !== undefined && !take(row)) return last;
    last = place;
    if (row !== undefined) continue;
    if (isLate()) return place;
    yield;
  }
  return undefined;
}

interface MessageParts {
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  readonly body: Uint8Array;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
}

/** What the rows of a page refer to; each is read once. A row may have been pruned between two steps: then undefined. */
class PageParts {
  bytes = 0;
  readonly #messages = new Map<number, MessageParts>();
  readonly #envelopes = new Map<number, Envelope>();

  constructor(private readonly sql: Prepared<typeof STATEMENTS>) {}

  event(row: SqlRow): LogEvent | undefined {
    const message = this.#message(row.message as number);
    if (message === undefined) return undefined;
    const { messageId, envelope, body } = message;
    const state = STATES.get(row.state as number);
    assert(state !== undefined, 'a state without a name', { state: row.state });
    const response = row.response === null ? undefined : this.#response(row.response as number);
    this.bytes += body.length + (response?.body.length ?? 0);
    return {
      atMs: row.at_ms as number,
      state,
      messageId,
      envelope,
      body,
      nextDeliveryAtMs: row.next_ms === null ? undefined : (row.next_ms as number),
      error: row.error === null ? undefined : (row.error as string),
      response,
    };
  }

  entry(row: SqlRow): DlqRow | undefined {
    const message = this.#message(row.message as number);
    if (message === undefined) return undefined;
    const body = this.#body(row.response as number);
    this.bytes += message.body.length + body.length;
    return {
      dlqId: textOf({ atMs: row.at_ms as number, n: row.n as number }) as DlqId,
      ...message,
      failedAtMs: row.failed_ms as number,
      retried: row.retried as number,
      response: {
        status: row.status as number,
        header: JSON.parse(row.header as string) as HeaderList,
        body,
        error: row.error as string,
      },
    };
  }

  #message(id: number): MessageParts | undefined {
    const known = this.#messages.get(id);
    if (known !== undefined) return known;
    const row = this.sql.message.get([id]);
    if (row === undefined) return undefined;
    const parts = {
      messageId: row.name as MessageId,
      envelope: this.#envelope(row.envelope as number),
      body: this.#body(row.body as number),
      createdAtMs: row.created_ms as number,
      notBeforeMs: row.not_before_ms as number,
    };
    this.#messages.set(id, parts);
    return parts;
  }

  #envelope(id: number): Envelope {
    let envelope = this.#envelopes.get(id);
    if (envelope === undefined) {
      const row = this.sql.envelope.get([id]);
      assert(row !== undefined, 'a message without its envelope', { id });
      envelope = decodeEnvelope(row.bytes as Uint8Array);
      this.#envelopes.set(id, envelope);
    }
    return envelope;
  }

  /** Empty also where the body was gone before this file began. */
  #body(id: number): Uint8Array {
    if (id === 0) return EMPTY;
    return (this.sql.body.get([id])?.content as Uint8Array | undefined) ?? EMPTY;
  }

  #response(id: number): LogEvent['response'] {
    const row = this.sql.response.get([id]);
    return (
      row && {
        status: row.status as number,
        header: JSON.parse(row.header as string) as HeaderList,
        body: row.body as Uint8Array,
      }
    );
  }
}
