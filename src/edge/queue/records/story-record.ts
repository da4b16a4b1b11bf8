/**
 * A message's whole story: attempts, made of the events of its log. What the log does not keep is left out: the answer to
 * an attempt that delivered it, and what happened longer ago than the log goes back.
 */
import type { LogEvent } from '../../../ports/index.js';
import { responseMembers } from '../../records/message-record.js';
import type { Spelling } from '../../wire-alias.js';

/** What attempts end with, by the event that says so. */
const OUTCOMES = { DELIVERED: 'DELIVERED', ERROR: 'ERROR', CANCELED: 'CANCELED' } as const;

/** What attempts end with beside the word for one that a crash has ended, which was made again. */
export const ATTEMPT_OUTCOMES = [...Object.values(OUTCOMES), 'INTERRUPTED'] as const;

interface Attempt {
  /** Retries before it. */
  readonly retried: number;
  readonly startedAt: number;
  endedAt?: number;
  /** `INTERRUPTED`: a crash ended it, and it was made again. Undefined: it is under way. */
  outcome?: (typeof OUTCOMES)[keyof typeof OUTCOMES] | 'INTERRUPTED';
  error?: string | undefined;
  /** When the next one is due. */
  nextDeliveryTime?: number | undefined;
  response?: ReturnType<typeof responseMembers>;
}

/** @param events of one message, the earliest first */
export function attemptsOf(events: readonly LogEvent[], spelling: Spelling) {
  const attempts: Attempt[] = [];
  let retried = 0;
  for (const { atMs, state, error, response, nextDeliveryAtMs } of events) {
    const last = attempts.at(-1);
    const open = last?.outcome === undefined ? last : undefined;
    if (state === 'ACTIVE') {
      if (open !== undefined) Object.assign(open, { endedAt: atMs, outcome: 'INTERRUPTED' });
      attempts.push({ retried, startedAt: atMs });
    } else if (state === 'RETRY') {
      retried += 1;
      if (last !== undefined) last.nextDeliveryTime = nextDeliveryAtMs;
    } else if (open !== undefined && state in OUTCOMES) {
      Object.assign(open, { endedAt: atMs, outcome: OUTCOMES[state as keyof typeof OUTCOMES], error });
      if (response !== undefined) open.response = responseMembers(response, spelling);
    }
  }
  return attempts.map(({ response, ...attempt }) => ({ ...attempt, ...response }));
}

/** How many retries there were. */
export function retriesIn(events: readonly LogEvent[]): number {
  return events.filter(({ state }) => state === 'RETRY').length;
}
