/** Commands about named queues. A queue is also made by the first message for it (see publish). */
import type { QueueCommandOf, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { cancelWhere } from '../messages/cancel.js';
import { queuesRefusal } from '../refusals.js';
import type { QueueSteps, QueueTurn } from '../turn.js';

const DONE: QueueReply = { type: 'Done' };

/** A queue that is there may change also when there are too many. */
export function setQueue({ name, parallelism, isPaused }: QueueCommandOf<'SetQueue'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { maxParallelism } = context.account.limits;
  const queue = state.queues.get(name);
  if (parallelism > maxParallelism) {
    return rejection('TOO_MANY', `quota maxParallelism exceeded, current limit: ${maxParallelism}`);
  }
  const refusal = queue === undefined ? queuesRefusal(new Set([name]), turn) : undefined;
  if (refusal !== undefined) return refusal;
  if (queue?.parallelism === parallelism && queue.isPaused === isPaused) return DONE;
  evolve({ type: 'QueueSet', name, parallelism, isPaused, atMs: context.nowMs });
  return DONE;
}

export function pauseQueue({ name, isPaused }: QueueCommandOf<'PauseQueue'>, turn: QueueTurn): QueueReply {
  const queue = turn.state.queues.get(name);
  if (queue === undefined) return queueNotFound(name);
  if (queue.isPaused === isPaused) return DONE;
  const { parallelism } = queue;
  turn.evolve({ type: 'QueueSet', name, parallelism, isPaused, atMs: turn.context.nowMs });
  return DONE;
}

export function getQueue({ name }: QueueCommandOf<'GetQueue'>, { state }: QueueTurn): QueueReply {
  const queue = state.queues.get(name);
  return queue === undefined ? queueNotFound(name) : { type: 'Queues', queues: [queue.view()] };
}

export function listQueues(_: QueueCommandOf<'ListQueues'>, { state }: QueueTurn): QueueReply {
  return { type: 'Queues', queues: Array.from(state.queues.all(), (queue) => queue.view()) };
}

/** A missing queue is made by the first message for it. */
export function ensureQueue(name: string | undefined, { state, context, evolve }: QueueTurn): void {
  if (name === undefined || state.queues.get(name) !== undefined) return;
  evolve({ type: 'QueueSet', name, parallelism: 1, isPaused: false, atMs: context.nowMs });
}

/** Its messages are cancelled first: those that wait leave, those in flight end with their attempts. */
export function deleteQueue({ name }: QueueCommandOf<'DeleteQueue'>, turn: QueueTurn): QueueReply | QueueSteps {
  const queue = turn.state.queues.get(name);
  if (queue === undefined) return DONE;
  if (queue.lag === 0) return remove(name, turn);
  return cancelThenRemove(name, turn);
}

function* cancelThenRemove(name: string, turn: QueueTurn): Generator<void, QueueReply> {
  for (;;) {
    const queue = turn.state.queues.get(name);
    if (queue === undefined) return DONE;
    // Messages that were enqueued while others were cancelled go in another round.
    if (queue.lag === 0) return remove(name, turn);
    yield* cancelWhere(({ shared }) => shared.envelope.queueName === name, Number.POSITIVE_INFINITY, turn);
  }
}

function remove(name: string, { context, evolve }: QueueTurn): QueueReply {
  evolve({ type: 'QueueDeleted', name, atMs: context.nowMs });
  return DONE;
}

function queueNotFound(name: string): QueueReply {
  return rejection('NOT_FOUND', `queue ${name} not found`);
}
