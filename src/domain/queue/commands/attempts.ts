/**
 * Starts of attempts, and the command that reports an outcome, for plain messages and for messages of runs.
 *
 *  ATT1 an outcome counts only for the open attempt: a late or repeated one changes no state
 *  ATT2 a callback is accepted before its message ends, so that the place in a queue passes to it without a gap
 *  ATT3 an attempt that crashes interrupted too often counts as failed: a message cannot crash its owner for ever
 */
import { mayProbe, noteOutcome, noteProbe } from '../delivery/breaker.js';
import { concludeForMessage, endUntried } from '../delivery/outcomes.js';
import type { QueueTurn } from '../messages/turn.js';
import type { AttemptOutcome, QueueCommandOf, QueueReply } from '../model/commands.js';
import { MAX_ATTEMPT_RESTARTS } from '../model/limits.js';
import { ACTIVE, type Message } from '../model/messages/message.js';
import { concludeForRun } from '../runs/run-outcomes.js';

const EMPTY = new Uint8Array(0);

export function recordAttempt(
  { id, retried, restarts, outcome, sentBody }: QueueCommandOf<'RecordAttempt'>,
  turn: QueueTurn,
): QueueReply {
  const message = turn.state.messages.get(id);
  const isOpen = message?.status === ACTIVE && message.retried === retried && message.restarts === restarts;
  if (isOpen) {
    conclude(message, outcome, sentBody ?? EMPTY, turn);
    noteOutcome(message, outcome, turn);
  }
  return { type: 'Done' };
}

/**
 * Starts the next attempt, or repeats one that a crash interrupted.
 * @returns whether the call is to be made
 */
export function startAttempt(message: Message, turn: QueueTurn): boolean {
  const { id, retried } = message;
  const atMs = turn.context.nowMs;
  if (isOfEndedRun(message, turn)) {
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    return false;
  }
  if (message.status !== ACTIVE) {
    const stopped = turn.state.breakers.stoppedFor(message.shared.envelope.url);
    if (stopped !== undefined && !mayProbe(stopped, atMs)) {
      endUntried(message, `the destination is ${stopped.state}: ${stopped.error || 'by request'}`, turn);
      return false;
    }
    if (stopped !== undefined) noteProbe(stopped, message, turn);
    turn.evolve({ type: 'AttemptStarted', id, atMs, retried, restarts: 0 });
    return true;
  }
  if (message.isCancelRequested) {
    turn.evolve({ type: 'MessageCancelled', id, atMs });
    return false;
  }
  if (message.restarts >= MAX_ATTEMPT_RESTARTS) {
    conclude(message, { kind: 'no-response', error: 'interrupted', durationMs: 0 }, EMPTY, turn);
    return false;
  }
  turn.evolve({ type: 'AttemptStarted', id, atMs, retried, restarts: message.restarts + 1 });
  return true;
}

function conclude(message: Message, outcome: AttemptOutcome, sentBody: Uint8Array, turn: QueueTurn): void {
  const place = turn.state.runs.placeOf(message.id);
  if (place === undefined) concludeForMessage(message, outcome, sentBody, turn);
  else concludeForRun(message, place, outcome, sentBody, turn);
}

/** Messages of a run that has ended are not sent or sent again, except the call of its failure function. */
export function isOfEndedRun(message: Message, { state }: Pick<QueueTurn, 'state'>): boolean {
  if (message.shared.envelope.workflow === undefined) return false;
  const place = state.runs.placeOf(message.id);
  return place !== undefined && place.part.role !== 'failure' && (place.run === undefined || place.run.isOver);
}
