/** The bodies that events of a queue bring with them: what a reader of entries looks for. */
import { decodeQueueEvents } from '../../codec/queue/index.js';
import type { CarriedBody, QueueEvent } from '../../domain/queue/index.js';

/** One step for each event; undefined for those without a body of their own. @throws JOURNAL_DAMAGED */
export function* carriedBodies(
  effects: Uint8Array,
): Iterable<readonly [number: number, content: Uint8Array] | undefined> {
  for (const event of decodeQueueEvents(effects)) {
    const body = bodyOf(event);
    yield body?.content === undefined ? undefined : [body.number, body.content];
  }
}

function bodyOf(event: QueueEvent): CarriedBody | undefined {
  switch (event.type) {
    case 'MessageAccepted':
    case 'ScheduleSet':
      return event.body;
    case 'MessageDeadLettered':
    case 'FailureFunctionEnded':
      return event.response;
    default:
      return undefined;
  }
}
