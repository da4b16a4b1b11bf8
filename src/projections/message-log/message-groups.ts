/**
 * Pages of the log grouped by message: each message with all its matching events.
 *
 *  MGR1 a message is on one page of a list: that of its first matching event in the list's order
 *  MGR2 latest first, events after the list's first page are left out: they would move their messages to pages that
 *       were already shown
 */
import { MillraceError } from '../../kernel/index.js';
import type { LogEvent, LogPage, LogQuery } from '../../ports/index.js';
import { isBefore, type LogPlace, type LogRange, maybePlace, rangeOf, textOf } from '../log-rows/log-places.js';
import type { RowSearch } from '../log-rows/row-search.js';
import { MAX_LOG_PAGE_BYTES, type PageParts } from './page-parts.js';

/** Events per message; further ones are left out, so that no message fills a page. */
const MAX_GROUP_EVENTS = 1000;
/** A page with this many events starts no further message. */
const MAX_PAGE_EVENTS = 10_000;
/** Work between two clock checks, about 1 ms; searching a message's events counts as 100 rows. */
const STEP_WORK = 2000;
const MESSAGE_WORK = 100;

export interface GroupSearch {
  readonly account: number;
  readonly query: LogQuery;
  /** Stored numbers. */
  readonly states: readonly number[];
}

/**
 * @param isLate called after each step
 * @throws INVALID for an invalid cursor
 */
export function* groupedEvents(
  rows: RowSearch,
  page: PageParts,
  { account, query, states }: GroupSearch,
  isLate: () => boolean,
): Generator<void, LogPage> {
  const { filter, order, count } = query;
  const cursor = query.cursor === undefined ? undefined : cursorOf(query.cursor);
  let top = cursor?.top;
  const search = { account, filter, states, order, accept: () => true };
  const seen = new Set<number>();
  const events: LogEvent[] = [];
  let messages = 0;
  let work = 0;
  let last: LogPlace | undefined;
  const next = (place: LogPlace) => textOf(place) + (order === 'latestFirst' && top ? `-${textOf(top)}` : '');
  for (const { place, row } of rows.run({ ...search, ...below(top, rangeOf(filter, order, cursor?.place)) })) {
    if (order === 'latestFirst') top ??= place;
    const message = row?.message as number | undefined;
    if (message !== undefined && !seen.has(message)) {
      const isFull = messages >= count || page.bytes >= MAX_LOG_PAGE_BYTES || events.length >= MAX_PAGE_EVENTS;
      if (isFull) return { events, cursor: last && next(last) };
      seen.add(message);
      work += MESSAGE_WORK;
      const only = [{ by: 'message', values: [message, account] }] as const;
      const found = eventsOf(
        rows.run({ ...search, ...below(top, rangeOf(filter, order, undefined)), only }),
        place,
        page,
      );
      events.push(...found);
      if (found.length > 0) messages += 1;
    }
    last = place;
    work += 1;
    if (row !== undefined && work < STEP_WORK) continue;
    if (isLate()) return { events, cursor: next(place) };
    work = 0;
    yield;
  }
  return { events, cursor: undefined };
}

/** Empty for a message of an earlier page: its first event is not at `place`. */
function eventsOf(found: ReturnType<RowSearch['run']>, place: LogPlace, page: PageParts): LogEvent[] {
  const events: LogEvent[] = [];
  for (const one of found) {
    if (one.row === undefined) continue;
    const isFirst = events.length === 0;
    if (isFirst && textOf(one.place) !== textOf(place)) return events;
    if (events.length >= MAX_GROUP_EVENTS || (!isFirst && page.bytes >= MAX_LOG_PAGE_BYTES)) return events;
    const event = page.event(one.row, isFirst);
    if (event === undefined) return events;
    events.push(event);
  }
  return events;
}

/** Cuts the range at `top`: MGR2 (events after the list's first page are left out). */
function below(top: LogPlace | undefined, { after, before }: LogRange): LogRange {
  if (top === undefined) return { after, before };
  const end = { atMs: top.atMs, n: top.n + 1 };
  return { after, before: isBefore(end, before) ? end : before };
}

/** `<place>`, or latest first `<place>-<top>`. */
function cursorOf(text: string): { readonly place: LogPlace; readonly top: LogPlace | undefined } {
  const [atMs, n, ...rest] = text.split('-');
  const place = maybePlace(`${atMs}-${n}`);
  const top = rest.length === 0 ? undefined : maybePlace(rest.join('-'));
  if (place === undefined || (rest.length > 0 && top === undefined)) {
    throw new MillraceError('INVALID', 'not a cursor of this list');
  }
  return { place, top };
}
