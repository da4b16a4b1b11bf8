/** Finds positions in the journal of a shard: its end, and the last entry before an instant. */
import { decodeMessage } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal } from '../ports/index.js';
import { journalEndAt } from './journal-end.js';

/** The position of the last complete entry. @throws JOURNAL_UNAVAILABLE */
export async function endPosition(journal: Journal, shard: ShardName): Promise<number> {
  return (await journalEndAt(journal, shard, await journal.tail(shard))).head.position;
}

/**
 * The position of the last entry whose clock is before the instant; clocks never fall along a journal.
 * @throws INVALID when the journal begins later, JOURNAL_UNAVAILABLE
 */
export async function positionBefore(journal: Journal, shard: ShardName, atMs: number): Promise<number> {
  const { first, last } = await journal.tail(shard);
  let [low, high, found] = [first, last, first - 1];
  while (low <= high) {
    const entry = await firstEntryFrom(journal, shard, Math.floor((low + high) / 2), high);
    if (entry === undefined) high = Math.floor((low + high) / 2) - 1;
    else if (entry.clockMs < atMs) {
      found = entry.position;
      low = entry.position + 1;
    } else high = Math.floor((low + high) / 2) - 1;
  }
  if (found >= first || first === 1) return found;
  const beginning = await firstEntryFrom(journal, shard, first, last);
  const since = beginning === undefined ? 'later' : `at ${new Date(beginning.clockMs).toISOString()}`;
  throw new MillraceError('INVALID', `from: the journal of ${shard} begins ${since}`, { shard });
}

/** The age of the first entry after a position, as the instant of its clock; undefined: there is none. */
export async function clockAfter(journal: Journal, shard: ShardName, position: number): Promise<number | undefined> {
  const { first, last } = await journal.tail(shard);
  return (await firstEntryFrom(journal, shard, Math.max(first, position + 1), last))?.clockMs;
}

/** The first entry that ends from `from` to `to`. Chunks of a large entry have no clock. */
async function firstEntryFrom(
  journal: Journal,
  shard: ShardName,
  from: number,
  to: number,
): Promise<{ readonly position: number; readonly clockMs: number } | undefined> {
  for (let position = from; position <= to; position += 1) {
    const bytes = await journal.readAt(shard, position);
    if (bytes === undefined) return undefined;
    const message = decodeMessage(bytes);
    if (message.kind === 'entry') return { position, clockMs: message.entry.clockMs };
    if (message.kind === 'commit') return { position, clockMs: message.clockMs };
  }
  return undefined;
}
