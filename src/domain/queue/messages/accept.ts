/** Acceptance of a single message, after its command was judged. */
import type { CarriedBody } from '../model/records.js';
import type { TickMessage } from '../model/state/schedule-ticks.js';
import type { Planned } from './publish-plan.js';
import type { QueueTurn } from './turn.js';

export function accept(
  { id, envelope, notBeforeMs, deduplication }: Planned,
  body: CarriedBody,
  turn: QueueTurn,
): void {
  turn.evolve({
    type: 'MessageAccepted',
    id,
    atMs: turn.context.nowMs,
    envelope: turn.state.envelopes.commonOf(envelope),
    body,
    notBeforeMs,
    deduplication,
    retryOf: undefined,
    holdsPlaceOf: undefined,
  });
}

/** Accepts a tick's message: it counts like any other, and no limit refuses it. */
export function acceptTick({ id, envelope, body, notBeforeMs }: TickMessage, turn: QueueTurn): void {
  ensureQueue(envelope.queueName, turn);
  accept({ id, envelope, notBeforeMs, deduplication: undefined }, { ...body, content: undefined }, turn);
}

/** The first message for a missing queue creates it. */
export function ensureQueue(name: string | undefined, { state, context, evolve }: QueueTurn): void {
  if (name === undefined || state.queues.get(name) !== undefined) return;
  evolve({ type: 'QueueSet', name, parallelism: 1, isPaused: false, atMs: context.nowMs });
}
