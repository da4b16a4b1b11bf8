/**
 * Pages of the log and of the DLQ list. A page ends at the requested count, at `MAX_LOG_PAGE_BYTES` or at its time
 * limit, and names the start of the next one. A search over a million rows is then many short pages instead of one
 * long request. Each generator step takes a few milliseconds.
 */
import type { DlqSelector, MessageFilter } from '../../domain/queue/index.js';
import type { AccountId, DlqId } from '../../kernel/index.js';
import type { Counts, DlqPage, DlqRow, LogEvent, LogPage, LogQuery, SqlFile, SqlRow } from '../../ports/index.js';
import { LogParts } from '../log-parts.js';
import { type LogPlace, maybePlace, placeOf, rangeOf, textOf } from '../log-rows/log-places.js';
import { counted } from '../log-rows/row-counts.js';
import { RowSearch, type SearchStep } from '../log-rows/row-search.js';
import { STATE_NUMBERS } from '../log-rows/schema.js';
import { type Prepared, prepared } from '../statements.js';
import { groupedEvents } from './message-groups.js';
import { MAX_LOG_PAGE_BYTES, PageParts, READ_MESSAGE, STATES_BY_NUMBER } from './page-parts.js';

export class MessageLogReader {
  readonly #events: RowSearch;
  readonly #dlq: RowSearch;
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #shown: LogParts;

  constructor(file: SqlFile) {
    this.#events = new RowSearch(file, 'events');
    this.#dlq = new RowSearch(file, 'dlq');
    this.#sql = prepared(file, STATEMENTS);
    this.#shown = LogParts.of(file);
  }

  /**
   * @param isLate called after each step
   * @throws INVALID for an invalid cursor
   */
  *events(name: AccountId, query: LogQuery, isLate: () => boolean): Generator<void, LogPage> {
    const { filter, order, count, cursor } = query;
    const account = this.#account(name);
    if (account === undefined || count <= 0) return { events: [], cursor: undefined };
    const states = query.states.map((state) => STATE_NUMBERS[state]);
    const page = this.#page(query.trimBytes, query.withAnswers);
    if (query.groupBy === 'message')
      return yield* groupedEvents(this.#events, page, { account, query, states }, isLate);
    const range = rangeOf(filter, order, cursor === undefined ? undefined : placeOf(cursor));
    const search = { account, filter, states, order, ...range, accept: () => true };
    const events: LogEvent[] = [];
    const last = yield* gathered(this.#events.run(search), isLate, (row) => {
      if (events.length >= count || page.bytes >= MAX_LOG_PAGE_BYTES) return false;
      const event = page.event(row);
      if (event !== undefined) events.push(event);
      return true;
    });
    return { events, cursor: last && textOf(last) };
  }

  /**
   * @param isLate called after each step
   * @param trimBytes limit for each body; undefined: none
   */
  *dlq(name: AccountId, selector: DlqSelector, isLate: () => boolean, trimBytes?: number): Generator<void, DlqPage> {
    const account = this.#account(name);
    if (account === undefined) return { entries: [], after: undefined };
    const page = this.#page(trimBytes);
    if (selector.kind === 'ids') {
      const entries = selector.dlqIds.map((id) => this.#entry(page, account, id));
      return { entries: entries.filter((entry) => entry !== undefined), after: undefined };
    }
    const { filter, order, count, after } = selector;
    const range = rangeOf(filter, order, after === undefined ? undefined : placeOf(after));
    const accept = hasStatusIn(filter);
    const entries: DlqRow[] = [];
    if (count <= 0) return { entries, after: undefined };
    const last = yield* gathered(
      this.#dlq.run({ account, filter, states: [], order, ...range, accept }),
      isLate,
      (row) => {
        if (entries.length >= count || page.bytes >= MAX_LOG_PAGE_BYTES) return false;
        const entry = page.entry(row);
        if (entry !== undefined) entries.push(entry);
        return true;
      },
    );
    return { entries, after: last && (textOf(last) as DlqId) };
  }

  /** @param isLate called after each step */
  *eventCounts(
    name: AccountId,
    { filter, states }: Pick<LogQuery, 'filter' | 'states'>,
    isLate: () => boolean,
  ): Generator<void, Counts> {
    const account = this.#account(name);
    if (account === undefined) return { counts: {}, isWhole: true };
    const order = 'latestFirst';
    const numbers = states.map((state) => STATE_NUMBERS[state]);
    const search = { account, filter, states: numbers, order, ...rangeOf(filter, order, undefined) } as const;
    const found = this.#events.run({ ...search, accept: () => true });
    return yield* counted(found, isLate, ({ state }) => STATES_BY_NUMBER.get(state as number) as string);
  }

  /** @param isLate called after each step */
  *dlqCounts(name: AccountId, filter: MessageFilter, isLate: () => boolean): Generator<void, Counts> {
    const account = this.#account(name);
    if (account === undefined) return { counts: {}, isWhole: true };
    const order = 'latestFirst';
    const search = { account, filter, states: [], order, ...rangeOf(filter, order, undefined) } as const;
    const found = this.#dlq.run({ ...search, accept: hasStatusIn(filter) });
    return yield* counted(found, isLate, ({ status }) => String(status));
  }

  #page(trimBytes: number | undefined, withAnswers?: boolean): PageParts {
    return new PageParts(this.#shown.anew(), this.#sql.message, trimBytes, withAnswers);
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
  dlqEntry: 'SELECT * FROM dlq WHERE account = ? AND at_ms = ? AND n = ?',
  message: READ_MESSAGE,
} as const;

function hasStatusIn({ responseStatus }: MessageFilter): (row: SqlRow) => boolean {
  if (responseStatus === undefined || responseStatus.length === 0) return () => true;
  const statuses = new Set(responseStatus);
  return ({ status }) => statuses.has(status as number);
}

/**
 * Takes rows until `take` returns false.
 * @returns the start of the next page, exclusive; undefined at the end
 */
function* gathered(
  found: Iterable<SearchStep>,
  isLate: () => boolean,
  take: (row: SqlRow) => boolean,
): Generator<void, LogPlace | undefined> {
  let last: LogPlace | undefined;
  for (const { place, row } of found) {
    if (row !== undefined && !take(row)) return last;
    last = place;
    if (row !== undefined) continue;
    if (isLate()) return place;
    yield;
  }
  return undefined;
}
