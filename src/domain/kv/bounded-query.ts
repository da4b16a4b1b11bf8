/** The bound of work of one query, of all kinds of indexes. */
import { MAX_QUERY_MS } from './limits.js';
import { ErrorReply, type Reply } from './reply.js';
import type { Steps } from './steps.js';
import { type WorkClock, WorkMeter } from './work-meter.js';

const MICROS = 1000;

/**
 * Ends a query with an error when it takes more than `MAX_QUERY_MS` of work. Pauses do not count.
 * @param advice for the client, which makes the query shorter
 */
export function* boundedQuery(clock: WorkClock, steps: Steps<Reply>, advice: string): Steps<Reply> {
  const meter = new WorkMeter(clock);
  let spentMicros = 0;
  for (;;) {
    meter.start();
    const step = steps.next();
    if (step.done === true) return step.value;
    spentMicros += meter.workedMicros();
    if (spentMicros > MAX_QUERY_MS * MICROS) {
      throw new ErrorReply(`ERR The query took more than ${MAX_QUERY_MS} ms of work: ${advice}`);
    }
    yield;
  }
}
