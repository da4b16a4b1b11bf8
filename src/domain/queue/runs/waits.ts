/**
 * Steps that wait for an event, and the end of their wait.
 *
 *  WA1 a waiter ends once, by the first notify that finds it or by its deadline; its removal and the step's result
 *      are one turn
 *  WA2 an event for one run without a waiter is kept, in order, until a step of that run asks for it
 */
import type { MessageId } from '../../../kernel/index.js';
import { Growth, heldRefusal } from '../messages/held-refusal.js';
import { suspended } from '../messages/refusals.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { messageIdAt } from '../model/ids.js';
import { MAX_STORED_EVENT_BYTES, MAX_STORED_EVENTS, MAX_WAITER_BYTES } from '../model/run-limits.js';
import type { EventWaiter, ResultDelivery } from '../model/run-records.js';
import type { Run, Waiting } from '../model/runs/run.js';
import type { Notified, RequestedDelivery, WaiterView } from '../model/workflow-commands.js';
import { atOnce, eventText, LARGE_OUT_BYTES, type OutText, withOut } from './out-texts.js';
import { appendEntry, withMembers } from './run-end.js';
import { stepEnvelope } from './run-envelopes.js';
import { askedRefusal, runOver } from './submissions.js';

/** Waiters notified per step, or timed out per call of `work`: about 1 ms. */
const NOTIFIED_AT_ONCE = 200;
/** Each result has a copy of the event, and the results of one step form one journal entry. */
const NOTIFIED_BYTES_AT_ONCE = 1024 * 1024;
const TIMED_OUT_AT_ONCE = 200;

export function wait(command: QueueCommandOf<'Wait'>, turn: QueueTurn): QueueReply {
  const { runId, eventId, step, timeoutSeconds } = command;
  const { state, context, evolve } = turn;
  const run = state.runs.active(runId);
  if (run === undefined) return runOver();
  // A repeated delivery waits again; the first waiter is kept.
  if (run.waiterOf(step.stepId) !== undefined || run.resultOf(step.stepId) !== undefined) return { type: 'Done' };
  if (context.account.state === 'passive') return suspended();
  const { maxDelaySeconds } = context.account.limits;
  if (timeoutSeconds > maxDelaySeconds) {
    return rejection('TOO_MANY', `quota maxDelay exceeded, current limit: ${maxDelaySeconds}`);
  }
  const refusal = askedRefusal(run);
  if (refusal !== undefined) return refusal;
  if (run.waitingBytes >= MAX_WAITER_BYTES) {
    return rejection('TOO_MANY', `quota maxWaiterBytes exceeded, current limit: ${MAX_WAITER_BYTES}`);
  }
  const { resultId, stepText, timeoutText, timeoutBody } = command;
  const growth = new Growth().message(command.onNotify).text(stepText.length + (timeoutBody?.length ?? 0));
  const isFull = heldRefusal(growth, state, context, 'ofRuns');
  if (isFull !== undefined) return isFull;
  const atMs = context.nowMs;
  const waiter: EventWaiter = {
    runId,
    eventId,
    step,
    stepText,
    resultId,
    addedAtMs: atMs,
    deadlineMs: atMs + timeoutSeconds * 1000,
    timeoutText,
    timeoutBody,
    onNotify: deliveryOf(run, command.onNotify),
    onTimeout: deliveryOf(run, command.onTimeout),
  };
  evolve({ type: 'WaiterAdded', atMs, waiter });
  const stored = run.storedEvents.find((event) => event.eventId === eventId);
  const waiting = run.waiterOf(step.stepId);
  if (stored === undefined || waiting === undefined) return { type: 'Done' };
  leave(waiting, 'notified', turn);
  evolve({ type: 'StoredEventTaken', runId, eventId, atMs });
  deliverEvent(waiting, stored.id, atOnce(eventText(stored.content)), turn);
  return { type: 'Done' };
}

export function notify(command: QueueCommandOf<'Notify'>, turn: QueueTurn): QueueReply | QueueSteps {
  if (command.content.byteLength > LARGE_OUT_BYTES) return notifyInSteps(command, turn);
  return notifyNow(command, atOnce(eventText(command.content)), turn);
}

function* notifyInSteps(command: QueueCommandOf<'Notify'>, turn: QueueTurn): QueueSteps & Generator<void, QueueReply> {
  const result = notifyNow(command, yield* eventText(command.content), turn);
  return 'next' in result ? yield* result : result;
}

function notifyNow(
  command: QueueCommandOf<'Notify'>,
  out: OutText,
  turn: QueueTurn,
): QueueReply | Generator<void, QueueReply> {
  const { eventId, runId, firstId, content, isHook } = command;
  const { state, context, evolve } = turn;
  if (context.account.state === 'passive' && !state.acceptedIds.has(firstId)) return suspended();
  if (runId === undefined) return notifyAll(command, out, turn);
  const run = state.runs.active(runId);
  if (run === undefined && isHook) return rejection('NOT_FOUND', `workflowRun ${runId} not found`);
  // The path of an event id with a slash looks like a run id and an event id.
  const wholeId = `${runId}/${eventId}`;
  const isOfRun = isHook || run?.waiterFor(eventId) !== undefined || state.runs.waitersOf(wholeId).size === 0;
  if (run === undefined || !isOfRun) {
    return notifyAll({ ...command, eventId: wholeId }, out, turn);
  }
  const isRepeat = state.acceptedIds.has(firstId) || run.storedEvents.some(({ id }) => id === firstId);
  if (isRepeat) return { type: 'Notified', notified: [] };
  const isFull = heldRefusal(new Growth().text(content.byteLength), state, context, 'ofRuns');
  if (isFull !== undefined) return isFull;
  const waiting = run.waiterFor(eventId);
  if (waiting !== undefined) return { type: 'Notified', notified: [notifyOne(waiting, firstId, out, turn)] };
  if (run.storedEvents.length >= MAX_STORED_EVENTS) {
    return rejection('TOO_MANY', `quota maxStoredEvents exceeded, current limit: ${MAX_STORED_EVENTS}`);
  }
  const storedBytes = run.storedEvents.reduce((bytes, event) => bytes + event.content.byteLength, content.byteLength);
  if (storedBytes > MAX_STORED_EVENT_BYTES) {
    return rejection('TOO_MANY', `quota maxStoredEventBytes exceeded, current limit: ${MAX_STORED_EVENT_BYTES}`);
  }
  evolve({ type: 'EventStored', runId, eventId, id: firstId, content, atMs: context.nowMs });
  return { type: 'Notified', notified: [] };
}

/**
 * Ends expired waits.
 * @returns whether more are due
 */
export function timeOutWaits(turn: QueueTurn): boolean {
  const { runs } = turn.state;
  for (let count = 0; count < TIMED_OUT_AT_ONCE; count += 1) {
    const waiting = runs.nextDeadline;
    if (waiting === undefined || waiting.waiter.deadlineMs > turn.context.nowMs) return false;
    const { stepText, onTimeout, resultId, eventId, timeoutText } = waiting.waiter;
    const content = withMembers(stepText, { waitEventId: eventId, timeout: timeoutText, waitTimeout: true });
    leave(waiting, 'timeout', turn);
    bring(waiting, resultId, content, onTimeout, turn);
  }
  return true;
}

export function listWaiters({ eventId }: QueueCommandOf<'ListWaiters'>, { state }: QueueTurn): QueueReply {
  return { type: 'Waiters', waiters: Array.from(state.runs.waitersOf(eventId), viewOf) };
}

/**
 * Notifies the waiters that exist at the start and still wait when their turn comes. A repetition, after a crash
 * between the steps, notifies only those left of them and no later ones.
 */
function* notifyAll(
  { eventId, firstId, content }: QueueCommandOf<'Notify'>,
  out: OutText,
  turn: QueueTurn,
): Generator<void, QueueReply> {
  const { acceptedIds, messages, runs } = turn.state;
  if (!acceptedIds.has(firstId)) {
    const growth = new Growth().body(content.byteLength * runs.waitersOf(eventId).size);
    const isFull = heldRefusal(growth, turn.state, turn.context, 'ofRuns');
    if (isFull !== undefined) return isFull;
  }
  const beforeMs = acceptedIds.has(firstId) ? (messages.get(firstId)?.createdAtMs ?? 0) : Number.POSITIVE_INFINITY;
  const most = Math.min(NOTIFIED_AT_ONCE, Math.ceil(NOTIFIED_BYTES_AT_ONCE / Math.max(1, content.byteLength)));
  const notified: Notified[] = [];
  let number = 0;
  let room = most;
  for (const waiting of [...runs.waitersOf(eventId)]) {
    if (waiting.heapIndex === -1 || waiting.waiter.addedAtMs >= beforeMs) continue;
    while (acceptedIds.has(messageIdAt(firstId, number))) number += 1;
    notified.push(notifyOne(waiting, messageIdAt(firstId, number), out, turn));
    number += 1;
    room -= 1;
    if (room > 0) continue;
    yield;
    room = most;
  }
  return { type: 'Notified', notified };
}

function notifyOne(waiting: Waiting, id: MessageId, out: OutText, turn: QueueTurn): Notified {
  const view = viewOf(waiting);
  leave(waiting, 'notified', turn);
  deliverEvent(waiting, id, out, turn);
  return { waiter: view, messageId: id };
}

function leave({ run, waiter }: Waiting, reason: 'notified' | 'timeout', turn: QueueTurn): void {
  const { stepId } = waiter.step;
  turn.evolve({ type: 'WaiterRemoved', runId: run.id, stepId, why: reason, atMs: turn.context.nowMs });
}

function deliverEvent(waiting: Waiting, id: MessageId, out: OutText, turn: QueueTurn): void {
  const { stepText, eventId, timeoutText, onNotify } = waiting.waiter;
  const record = withOut(stepText, { waitEventId: eventId, timeout: timeoutText, waitTimeout: false }, out);
  bring(waiting, id, record, onNotify, turn);
}

/** The first result of a step counts, also if the endpoint delivered it itself. */
function bring(
  { run, waiter: { step } }: Waiting,
  id: MessageId,
  content: Uint8Array,
  { envelope }: ResultDelivery,
  turn: QueueTurn,
): void {
  if (run.resultOf(step.stepId) !== undefined) return;
  appendEntry(run, { id, step, content, envelope, notBeforeMs: turn.context.nowMs }, turn);
}

function deliveryOf(run: Run, asked: RequestedDelivery): ResultDelivery {
  return { envelope: stepEnvelope(run, asked), headers: asked.headers };
}

function viewOf({ waiter, run }: Waiting): WaiterView {
  const { onNotify, onTimeout, deadlineMs, timeoutBody } = waiter;
  return {
    runId: run.id,
    runCreatedAtMs: run.createdAtMs,
    url: onNotify.envelope.url,
    headers: onNotify.headers,
    deadlineMs,
    timeoutUrl: onTimeout.envelope.url,
    timeoutBody,
    timeoutHeaders: onTimeout.headers,
    isAlias: onNotify.envelope.isAlias,
  };
}
