/** Commands about named queues. The first message for a queue also creates it (see publish). */
import { cancelWhere } from '../messages/cancel.js';
import { queuesRefusal } from '../messages/refusals.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';

const DONE: QueueReply = { type: 'Done' };

/** An existing queue may change even when the account has too many. */
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

/** The queue's messages are cancelled first: waiting ones leave, active ones end with their attempts. */
export function deleteQueue(
  { name, ifEmpty }: QueueCommandOf<'DeleteQueue'>,
  turn: QueueTurn,
): QueueReply | QueueSteps {
  const queue = turn.state.queues.get(name);
  if (queue === undefined) return DONE;
  if (queue.lag === 0) return remove(name, turn);
  if (ifEmpty === true) return DONE;
  return cancelThenRemove(name, turn);
}

function* cancelThenRemove(name: string, turn: QueueTurn): Generator<void, QueueReply> {
  for (;;) {
    const queue = turn.state.queues.get(name);
    if (queue === undefined) return DONE;
    // Messages enqueued during the cancellation are cancelled in another round.
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
