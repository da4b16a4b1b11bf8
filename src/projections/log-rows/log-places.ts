/**
 * Places in the log and in the DLQ list: a time and a number, ordered by both. The text form `<ms>-<number>` is that
 * of cursors and DLQ ids.
 */
import { type DlqId, MillraceError } from '../../kernel/index.js';

export interface LogPlace {
  readonly atMs: number;
  readonly n: number;
}

const PLACE = /^([0-9]{1,16})-([0-9]{1,16})$/;

const BEFORE_ALL: LogPlace = { atMs: -1, n: -1 };
const AFTER_ALL: LogPlace = { atMs: Number.MAX_SAFE_INTEGER, n: Number.MAX_SAFE_INTEGER };

/** @throws INVALID */
export function placeOf(text: string): LogPlace {
  const place = maybePlace(text);
  if (place === undefined) throw new MillraceError('INVALID', 'not a cursor of this list');
  return place;
}

/** Undefined: the text is not a place. */
export function maybePlace(text: string): LogPlace | undefined {
  const match = PLACE.exec(text);
  if (match === null) return undefined;
  const place = { atMs: Number(match[1]), n: Number(match[2]) };
  return Number.isSafeInteger(place.atMs) && Number.isSafeInteger(place.n) ? place : undefined;
}

/** Both ends exclusive. */
export interface LogRange {
  readonly after: LogPlace;
  readonly before: LogPlace;
}

export type Order = 'earliestFirst' | 'latestFirst';

/** The range between two instants, inclusive. A cursor moves the end at which the order starts. */
export function rangeOf(
  { fromMs, toMs }: { readonly fromMs?: number | undefined; readonly toMs?: number | undefined },
  order: Order,
  cursor: LogPlace | undefined,
): LogRange {
  const after = fromMs === undefined ? BEFORE_ALL : { atMs: fromMs, n: -1 };
  const before = toMs === undefined ? AFTER_ALL : { atMs: toMs, n: Number.MAX_SAFE_INTEGER };
  if (cursor === undefined) return { after, before };
  if (order === 'earliestFirst') return { after: isBefore(cursor, after) ? after : cursor, before };
  return { after, before: isBefore(cursor, before) ? cursor : before };
}

export function dlqPlace(dlqId: DlqId): LogPlace {
  return placeOf(dlqId);
}

export function textOf({ atMs, n }: LogPlace): string {
  return `${atMs}-${n}`;
}

export function isBefore(a: LogPlace, b: LogPlace): boolean {
  return a.atMs === b.atMs ? a.n < b.n : a.atMs < b.atMs;
}
