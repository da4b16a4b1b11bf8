/** Sends questions to the process that keeps a model, over any transport of bytes. */
import { isMillraceError, MillraceError } from '../kernel/index.js';
import type { Behind, Bus, MaybeBehind } from '../ports/index.js';

/** @throws MillraceError, as the answering process does */
export type Ask = (question: Uint8Array) => Promise<Uint8Array>;

/** Called for every answer that lags. */
export type OnBehind = (behind: Behind) => void;

/** Nouns for errors. */
const KEPT = { query: 'the read models', search: 'search indexes' } as const;
const TRIES = 2;
/** Time for the wait, the search and the transport. */
const TRY_MS = 5000;

/**
 * Asks a process that keeps the model. Questions change no data, so one is repeated when that may help.
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

export function reportIfBehind<Answer extends MaybeBehind>(answer: Answer, onBehind: OnBehind | undefined): Answer {
  if (answer.behind !== undefined) onBehind?.(answer.behind);
  return answer;
}
