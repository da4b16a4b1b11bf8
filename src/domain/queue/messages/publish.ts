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
import { type QueueSteps, type QueueTurn, WholeSteps } from '../turn.js';
import { type Planned, type PlannedItem, type PlannedRunItem, PublishPlan } from './publish-plan.js';

/** Messages that are accepted in one step: about a millisecond. More are one decision in steps. */
const AT_ONCE = 100;
/** Messages of a step. */
const STEP_MESSAGES = 50;

/** Counts messages, and says when it is time for a pause. */
class Pace {
  #done = 0;

  isDue(one: PlannedItem | PlannedRunItem): boolean {
    this.#done += one.run === undefined ? one.messages.length : 1;
    if (this.#done < STEP_MESSAGES) return false;
    this.#done = 0;
    return true;
  }
}

export function publish(command: QueueCommandOf<'Publish'>, turn: QueueTurn): QueueReply | QueueSteps {
  return isMuch(command.items, turn) ? new WholeSteps(deciding(command, turn)) : publishNow(command, turn);
}

/** What intake records brought, in order. One at or before the position was taken earlier; with one all are refused. */
export function takeIntake({ records }: QueueCommandOf<'TakeIntake'>, turn: QueueTurn): QueueReply | QueueSteps {
  const untaken = records.filter(({ position }) => position > turn.state.intakePosition);
  const last = untaken.at(-1);
  if (last === undefined) return { type: 'Done' };
  const items = untaken.flatMap((record) => record.items);
  const told = { type: 'Publish', items, isTold: true } as const;
  const { position } = last;
  return isMuch(items, turn)
    ? new WholeSteps(taking(told, position, turn))
    : taken(publishNow(told, turn), position, turn);
}

function* taking(told: QueueCommandOf<'Publish'>, position: number, turn: QueueTurn): Generator<void, QueueReply> {
  return taken(yield* deciding(told, turn), position, turn);
}

function taken(reply: QueueReply, position: number, turn: QueueTurn): QueueReply {
  if (reply.type === 'Rejected') return reply;
  turn.evolve({ type: 'IntakeTaken', position, atMs: turn.context.nowMs });
  return { type: 'Done' };
}

/** Do they take longer than others should wait? */
function isMuch(items: readonly PublishItem[], { state }: QueueTurn): boolean {
  let messages = 0;
  for (const item of items) {
    const { destination } = item;
    if (isLongTrigger(item)) return true;
    messages += destination.kind === 'group' ? (state.groups.get(destination.name)?.endpoints.length ?? 1) : 1;
  }
  return messages > AT_ONCE;
}

/** The commonest case, spelled out because it is the hot path: `deciding` is the same in steps. */
function publishNow({ items, isTold }: QueueCommandOf<'Publish'>, turn: QueueTurn): QueueReply {
  const plan = planFor(items, isTold, turn);
  if (plan === undefined) return suspended();
  for (const item of items) {
    const refusal = plan.add(item);
    if (refusal !== undefined) return refusalForRuns(refusal, items);
  }
  if (!isTold) {
    const growth = new PublishGrowth(turn);
    for (const one of plan.items) growth.add(one);
    const refusal = growth.refusal();
    if (refusal !== undefined) return refusal;
  }
  return published(
    plan.items.map((one) => acceptOne(one, turn)),
    turn,
  );
}

/** PUB2. Undefined: the account is suspended. */
function planFor(items: readonly PublishItem[], isTold: boolean, turn: QueueTurn): PublishPlan | undefined {
  const { state, context } = turn;
  // All of a call or none: one of its ids stands for it.
  const isRepeat = items.some(({ id }) => state.acceptedIds.has(id));
  if (!isTold && !isRepeat && context.account.state === 'passive') return undefined;
  return new PublishPlan(isRepeat, turn);
}

function acceptOne(one: PlannedItem | PlannedRunItem, turn: QueueTurn): Published | readonly Published[] {
  return one.run === undefined ? acceptItem(one, turn) : acceptRunItem(one.run, turn);
}

function published(results: readonly (Published | readonly Published[])[], { state, context }: QueueTurn): QueueReply {
  return { type: 'Published', results, daily: state.usage.dailyUse(context.account, context.nowMs) };
}

function* deciding({ items: given, isTold }: QueueCommandOf<'Publish'>, turn: QueueTurn): Generator<void, QueueReply> {
  const items = given.some(isLongTrigger) ? yield* hashed(given) : given;
  const plan = planFor(items, isTold, turn);
  if (plan === undefined) return suspended();
  const pace = new Pace();
  for (const item of items) {
    const refusal = plan.add(item);
    if (refusal !== undefined) return refusalForRuns(refusal, items);
    if (pace.isDue(plan.items.at(-1) as PlannedItem | PlannedRunItem)) yield;
  }
  const refusal = isTold ? undefined : yield* limitRefusal(plan.items, pace, turn);
  if (refusal !== undefined) return refusal;
  // Nothing is recorded by the first step.
  yield;
  const results: (Published | readonly Published[])[] = [];
  for (const one of plan.items) {
    results.push(acceptOne(one, turn));
    if (pace.isDue(one)) yield;
  }
  return published(results, turn);
}

function* limitRefusal(
  planned: readonly (PlannedItem | PlannedRunItem)[],
  pace: Pace,
  turn: QueueTurn,
): Generator<void, QueueReply | undefined> {
  const growth = new PublishGrowth(turn);
  for (const one of planned) {
    growth.add(one);
    if (pace.isDue(one)) yield;
  }
  return growth.refusal();
}

function* hashed(given: readonly PublishItem[]): Generator<void, readonly PublishItem[]> {
  const items: PublishItem[] = [];
  for (const item of given) items.push(isLongTrigger(item) ? yield* hashedTrigger(item) : item);
  return items;
}

/** A tick's message: counted like any other, refused by no limit. */
export function acceptTick({ id, envelope, body, notBeforeMs }: TickMessage, turn: QueueTurn): void {
  ensureQueue(envelope.queueName, turn);
  accept({ id, envelope, notBeforeMs, deduplication: undefined }, { ...body, content: undefined }, turn);
}

/** What would be recorded: neither repeats nor duplicates. */
class PublishGrowth {
  readonly #reserved = new Set<string>();
  readonly #queues = new Set<string>();
  readonly #growth = new Growth();
  readonly #ofRuns = new Growth();
  #count = 0;

  constructor(private readonly turn: QueueTurn) {}

  add(one: PlannedItem | PlannedRunItem): void {
    if (one.run !== undefined) {
      const isNew = countsForLimits(one.run, this.turn);
      if (isNew) this.#count += 1;
      runGrowth(one.run, isNew ? this.#growth : this.#ofRuns, this.turn);
      return;
    }
    const { state, context } = this.turn;
    let isCarried = false;
    for (const { id, deduplication, envelope } of one.messages) {
      if (state.acceptedIds.has(id)) continue;
      if (deduplication !== undefined) {
        const isDuplicate = state.deduplication.messageOf(deduplication, context.nowMs) !== undefined;
        if (isDuplicate || this.#reserved.has(deduplication)) continue;
        this.#reserved.add(deduplication);
      }
      this.#count += 1;
      this.#growth.message(envelope);
      if (!isCarried) this.#growth.body(one.item.body.byteLength);
      isCarried = true;
      const { queueName } = envelope;
      if (queueName !== undefined && state.queues.get(queueName) === undefined) this.#queues.add(queueName);
    }
  }

  refusal(): QueueReply | undefined {
    const { state, context } = this.turn;
    return (
      usageRefusal(this.#count, this.turn) ??
      queuesRefusal(this.#queues, this.turn) ??
      heldRefusal(this.#growth, state, context) ??
      heldRefusal(this.#ofRuns, state, context, 'ofRuns')
    );
  }
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
