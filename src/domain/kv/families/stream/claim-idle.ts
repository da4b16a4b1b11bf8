/** The option CLAIM of XREADGROUP: pending entries of any consumer that have been idle come first. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import type { Reply } from '../../reply.js';
import { mergeSorted, SlicePace } from '../../slices.js';
import type { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup, PendingEntry } from '../../types/stream-group.js';
import { MAX_ID, MIN_ID, type StreamId } from '../../types/stream-id.js';
import { ClaimRuns, type StreamEntry } from '../../types/stream-rebuild.js';
import { deliveredReply } from './range.js';
import type { ReadWords } from './read-words.js';
import { onceMore } from './release.js';
import { walkInSlices } from './walking.js';

/** A command that may wait is not sliced, so it looks at this many pending entries at most: about 2 ms. */
const MAX_LOOKED_AT_WAITING = 20_000;

interface IdleEntry {
  readonly id: StreamId;
  readonly entry: StreamEntry;
  readonly pending: PendingEntry;
}

/** Searches the entries of the group that were delivered at least `minIdleMs` ago. */
export interface IdleSearch {
  readonly key: ByteString;
  readonly stream: Stream;
  readonly group: ConsumerGroup;
  readonly minIdleMs: number;
  readonly mayWait: boolean;
}

/**
 * The entries that are idle, oldest delivery first, and the time until the next one is: infinite if there is none.
 * Deleted entries are left out.
 */
function* idleEntries(
  { stream, group, minIdleMs, mayWait }: IdleSearch,
  nowMs: number,
): Generator<void, { readonly idle: readonly IdleEntry[]; readonly nextInMs: number }> {
  const idle: IdleEntry[] = [];
  let nextInMs = Number.POSITIVE_INFINITY;
  let met = 0;
  yield* walkInSlices(group.pending, MIN_ID, MAX_ID, (id, pending) => {
    met += 1;
    const entry = stream.entry(id);
    if (entry !== undefined) {
      const leftMs = minIdleMs - (nowMs - pending.deliveredAtMs);
      if (leftMs <= 0) idle.push({ id, entry, pending });
      else if (leftMs < nextInMs) nextInMs = leftMs;
    }
    return !mayWait || met < MAX_LOOKED_AT_WAITING;
  });
  return { idle: yield* mergeSorted(idle, byDelivery), nextInMs };
}

function byDelivery(a: IdleEntry, b: IdleEntry): number {
  return a.pending.deliveredAtMs - b.pending.deliveredAtMs || (a.id < b.id ? -1 : 1);
}

/** Time until a pending entry becomes idle; infinite if none will. */
export function* nextIdleInMs(search: IdleSearch, nowMs: number): Generator<void, number> {
  return (yield* idleEntries(search, nowMs)).nextInMs;
}

/** Assigns idle entries to the consumer, as many as the command may answer. @returns them, as they were before */
export function* claimIdle(
  context: CommandContext,
  search: IdleSearch,
  consumer: Consumer,
  { count, budget }: Pick<ReadWords, 'count' | 'budget'>,
): Generator<void, Reply[]> {
  const { effects, nowMs } = context;
  const { idle } = yield* idleEntries(search, nowMs);
  const { group } = search;
  const runs = new ClaimRuns(search.key, group);
  const claimed: Reply[] = [];
  const pace = new SlicePace();
  for (const { id, entry, pending } of idle.slice(0, count)) {
    const reply = deliveredReply(id, entry, nowMs - pending.deliveredAtMs, pending.deliveries);
    if (!budget.take(reply)) break;
    claimed.push(reply);
    const deliveries = onceMore(pending.deliveries);
    group.assign(id, consumer, nowMs, deliveries);
    const ended = runs.add(id, { consumer, deliveredAtMs: nowMs, deliveries });
    if (ended !== undefined) effects.push(...ended);
    if (pace.isDue()) yield;
  }
  const last = runs.end();
  if (last !== undefined) effects.push(...last);
  return claimed;
}
