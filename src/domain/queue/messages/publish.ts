/**
 * Accepting messages: all of a call's or none. Groups are unfolded into one message for each endpoint.
 *
 *  PUB1 whatever can refuse a call is judged before its first event
 *  PUB2 an id that was accepted before is answered as it was then, and changes nothing
 *  PUB3 a deduplication id is reserved by the event that accepts its message; within a call the first item has it
 *  PUB4 what was told (acknowledged from the intake) is accepted whatever the limits say now
 */
import { Growth, heldRefusal } from '../accounts/held-refusal.js';
import type { Published, PublishItem, QueueCommandOf, QueueReply } from '../commands.js';
import { ensureQueue } from '../queues/queue-commands.js';
import type { CarriedBody } from '../records.js';
import { queuesRefusal, suspended, usageRefusal } from '../refusals.js';
import { acceptRunItem, countsForLimits, refusalForRuns, runGrowth } from '../runs/submissions.js';
import { hashedTrigger, isLongTrigger } from '../runs/triggers.js';
import type { TickMessage } from '../schedules/schedule-ticks.js';
import type { QueueSteps, QueueTurn } from '../turn.js';
import { type Planned, type PlannedItem, type PlannedRunItem, planOf } from './publish-plan.js';

export function publish(command: QueueCommandOf<'Publish'>, turn: QueueTurn): QueueReply | QueueSteps {
  return command.items.some(isLongTrigger) ? publishHashed(command, turn) : publishNow(command, turn);
}

/** What takes long is done before anything is judged, so that all of a call stays one decision. */
function* publishHashed(command: QueueCommandOf<'Publish'>, turn: QueueTurn): Generator<void, QueueReply> {
  const items: PublishItem[] = [];
  for (const item of command.items) items.push(isLongTrigger(item) ? yield* hashedTrigger(item) : item);
  return publishNow({ ...command, items }, turn);
}

function publishNow(command: QueueCommandOf<'Publish'>, turn: QueueTurn): QueueReply {
  const { state, context } = turn;
  const { account, nowMs } = context;
  // PUB2. All of a call or none: one of its ids stands for it.
  const isRepeat = command.items.some(({ id }) => state.acceptedIds.has(id));
  if (!command.isTold && !isRepeat && account.state === 'passive') return suspended();
  const plan = planOf(command.items, isRepeat, turn);
  if ('type' in plan) return refusalForRuns(plan, command.items);
  const refusal = command.isTold ? undefined : limitRefusal(plan, turn);
  if (refusal !== undefined) return refusal;
  const results = plan.map((one) => (one.run === undefined ? acceptItem(one, turn) : acceptRunItem(one.run, turn)));
  return { type: 'Published', results, daily: state.usage.dailyUse(account, nowMs) };
}

/** What intake records brought, in order. One at or before the position was taken earlier; with one all are refused. */
export function takeIntake({ records }: QueueCommandOf<'TakeIntake'>, turn: QueueTurn): QueueReply {
  const untaken = records.filter(({ position }) => position > turn.state.intakePosition);
  const last = untaken.at(-1);
  if (last === undefined) return { type: 'Done' };
  const items = untaken.flatMap((record) => record.items);
  const reply = publishNow({ type: 'Publish', items, isTold: true }, turn);
  if (reply.type === 'Rejected') return reply;
  turn.evolve({ type: 'IntakeTaken', position: last.position, atMs: turn.context.nowMs });
  return { type: 'Done' };
}

/** A tick's message: counted like any other, refused by no limit. */
export function acceptTick({ id, envelope, body, notBeforeMs }: TickMessage, turn: QueueTurn): void {
  ensureQueue(envelope.queueName, turn);
  accept({ id, envelope, notBeforeMs, deduplication: undefined }, { ...body, content: undefined }, turn);
}

/** Counts what would be recorded: neither repeats nor duplicates. */
function limitRefusal(planned: readonly (PlannedItem | PlannedRunItem)[], turn: QueueTurn): QueueReply | undefined {
  const { state, context } = turn;
  const reserved = new Set<string>();
  const queues = new Set<string>();
  const growth = new Growth();
  const ofRuns = new Growth();
  let count = 0;
  for (const one of planned) {
    if (one.run !== undefined) {
      const isNew = countsForLimits(one.run, turn);
      if (isNew) count += 1;
      runGrowth(one.run, isNew ? growth : ofRuns, turn);
      continue;
    }
    let isCarried = false;
    for (const { id, deduplication, envelope } of one.messages) {
      if (state.acceptedIds.has(id)) continue;
      if (deduplication !== undefined) {
        const isDuplicate = state.deduplication.messageOf(deduplication, context.nowMs) !== undefined;
        if (isDuplicate || reserved.has(deduplication)) continue;
        reserved.add(deduplication);
      }
      count += 1;
      growth.message(envelope);
      if (!isCarried) growth.body(one.item.body.byteLength);
      isCarried = true;
      const { queueName } = envelope;
      if (queueName !== undefined && state.queues.get(queueName) === undefined) queues.add(queueName);
    }
  }
  return (
    usageRefusal(count, turn) ??
    queuesRefusal(queues, turn) ??
    heldRefusal(growth, state, context) ??
    heldRefusal(ofRuns, state, context, 'ofRuns')
  );
}

function acceptItem({ item, isGroup, messages }: PlannedItem, turn: QueueTurn): Published | readonly Published[] {
  const { state, context } = turn;
  let body: CarriedBody | undefined;
  const results = messages.map((planned): Published => {
    const { id, deduplication, envelope } = planned;
    const { url } = envelope;
    if (state.acceptedIds.has(id)) return { messageId: id, url, isDuplicate: false };
    if (deduplication !== undefined) {
      const earlier = state.deduplication.messageOf(deduplication, context.nowMs);
      if (earlier !== undefined) return { messageId: earlier, url, isDuplicate: true };
    }
    ensureQueue(envelope.queueName, turn);
    // Its bytes come with the first message alone.
    body = body === undefined ? turn.state.bodies.carried(item.body) : { ...body, content: undefined };
    accept(planned, body, turn);
    return { messageId: id, url, isDuplicate: false };
  });
  return isGroup ? results : (results[0] as Published);
}

function accept({ id, envelope, notBeforeMs, deduplication }: Planned, body: CarriedBody, turn: QueueTurn): void {
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
