/**
 * The story of a message: its attempts, built from its events in the log. It lacks events and answers that the log no
 * longer has.
 */
import type { LogEvent } from '../../../ports/index.js';
import { responseMembers } from '../../records/message-record.js';
import type { Spelling } from '../../wire-alias.js';

/** The outcome of an attempt by the event that ends it. */
const OUTCOMES = { DELIVERED: 'DELIVERED', ERROR: 'ERROR', CANCELED: 'CANCELED' } as const;

/** All outcomes, including `INTERRUPTED` for an attempt that a crash ended and that was repeated. */
export const ATTEMPT_OUTCOMES = [...Object.values(OUTCOMES), 'INTERRUPTED'] as const;

interface Attempt {
  /** Retries before it. */
  readonly retried: number;
  readonly startedAt: number;
  endedAt?: number;
  /** `INTERRUPTED`: a crash ended the attempt, and it was repeated. Undefined: still running. */
  outcome?: (typeof OUTCOMES)[keyof typeof OUTCOMES] | 'INTERRUPTED';
  error?: string | undefined;
  /** Due time of the next attempt. */
  nextDeliveryTime?: number | undefined;
  response?: ReturnType<typeof responseMembers> & {
    /** Milliseconds from the request to the answer. */
    readonly duration: number | undefined;
  };
}

/** @param events of one message, the earliest first */
export function attemptsOf(events: readonly LogEvent[], spelling: Spelling) {
  const attempts: Attempt[] = [];
  let retried = 0;
  for (const { atMs, state, envelope, error, response, nextDeliveryAtMs } of events) {
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
      if (response !== undefined) {
        const members = responseMembers(response, envelope.settings.redact?.response, spelling);
        open.response = { ...members, duration: response.durationMs };
      }
    }
  }
  return attempts.map(({ response, ...attempt }) => ({ ...attempt, ...response }));
}

/** The number of retries. */
export function retriesIn(events: readonly LogEvent[]): number {
  return events.filter(({ state }) => state === 'RETRY').length;
}
