/** Asking whoever keeps a model, over whatever carries bytes. */
import { isMillraceError, MillraceError } from '../kernel/index.js';
import type { Behind, Bus, MaybeBehind } from '../ports/index.js';

/** @throws MillraceError, as whoever is asked does */
export type Ask = (question: Uint8Array) => Promise<Uint8Array>;

/** Is told of every answer that is behind what was asked for. */
export type OnBehind = (behind: Behind) => void;

/** What those keep that answer on the bus: errors name it. */
const KEPT = { query: 'the read models', search: 'search indexes' } as const;
const TRIES = 2;
/** A wait, a search and the way. */
const TRY_MS = 5000;

/**
 * Asks whichever process keeps them; questions change nothing, so one is asked again where it may help.
 * @param tryMs for one try: longer than a question may wait and search
 */
export function askOverBus(bus: Bus, kind: keyof typeof KEPT, tryMs = TRY_MS): Ask {
  return async (question) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await bus.request({ kind }, question, tryMs);
      } catch (error) {
        if (!isMillraceError(error) || !error.retryable) throw error;
        if (tries < TRIES && error.details.isUnserved !== true) continue;
        throw new MillraceError('SHARD_UNAVAILABLE', `no process that keeps ${KEPT[kind]} answers`, {}, error);
      }
    }
  };
}

export function toldIfBehind<Answer extends MaybeBehind>(answer: Answer, onBehind: OnBehind | undefined): Answer {
  if (answer.behind !== undefined) onBehind?.(answer.behind);
  return answer;
}
