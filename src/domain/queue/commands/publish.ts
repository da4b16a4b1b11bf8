/**
 * Accepts messages: all of a call or none. A group becomes one message for each endpoint.
 *
 *  PUB1 every condition that can refuse a call is judged before its first event
 *  PUB2 an id that was accepted before is answered as it was then, and changes no state
 *  PUB3 a deduplication id is reserved by the event that accepts its message; within a call the first item gets it
 *  PUB4 items that the intake acknowledged are accepted regardless of the present limits
 */
import { accept, ensureQueue } from '../messages/accept.js';
import { Growth, heldRefusal } from '../messages/held-refusal.js';
import { type PlannedItem, planItem } from '../messages/publish-plan.js';
import { queuesRefusal, suspended, usageRefusal } from '../messages/refusals.js';
import { type QueueSteps, type QueueTurn, WholeSteps } from '../messages/turn.js';
import type { Published, PublishItem, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { MAX_COMMAND_MESSAGES } from '../model/limits.js';
import type { CarriedBody } from '../model/records.js';
import { isRunItem, type RunItem } from '../runs/run-items.js';
import { acceptRunItem, countsForLimits, refusalForRuns, runGrowth, runItemRefusal } from '../runs/submissions.js';
import { hashedTrigger, isLongTrigger } from '../runs/triggers.js';

/** Messages accepted in one step: about 1 ms. A larger call is one decision in several steps. */
const AT_ONCE = 100;
/** Messages per step. */
const STEP_MESSAGES = 50;

/** An item of a workflow run: its messages follow from the state of the run. */
interface PlannedRunItem {
  readonly run: RunItem;
}

/** The messages that the items of a call would make; built item by item. */
class PublishPlan {
  readonly items: (PlannedItem | PlannedRunItem)[] = [];
  #count = 0;

  constructor(
    private readonly isRepeat: boolean,
    private readonly turn: QueueTurn,
  ) {}

  /** @returns the refusal of the call, if any */
  add(item: PublishItem): QueueReply | undefined {
    const one = planForItem(item, this.isRepeat, this.turn);
    if ('type' in one) return one;
    this.#count += one.run === undefined ? one.messages.length : 1;
    if (this.#count > MAX_COMMAND_MESSAGES) {
      return rejection('INVALID', `one call makes at most ${MAX_COMMAND_MESSAGES} messages`);
    }
    this.items.push(one);
    return undefined;
  }
}

/** Counts messages and tells when a step should end. */
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

/**
 * Accepts records of the intake, in order. Records up to the stored position were accepted earlier; a refusal refuses
 * all.
 */
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

/** Whether the items take longer than other commands should wait. */
function isMuch(items: readonly PublishItem[], { state }: QueueTurn): boolean {
  let messages = 0;
  for (const item of items) {
    const { destination } = item;
    if (isLongTrigger(item)) return true;
    messages += destination.kind === 'group' ? (state.groups.get(destination.name)?.endpoints.length ?? 1) : 1;
  }
  return messages > AT_ONCE;
}

/** The common case without steps, because it is the hot path; `deciding` does the same in steps. */
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

/** PUB2 (an id that was accepted before is answered as it was then). Undefined: the account is suspended. */
function planFor(items: readonly PublishItem[], isTold: boolean, turn: QueueTurn): PublishPlan | undefined {
  const { state, context } = turn;
  // A call is accepted whole or not at all, so one known id stands for all.
  const isRepeat = items.some(({ id }) => state.acceptedIds.has(id));
  if (!isTold && !isRepeat && context.account.state === 'passive') return undefined;
  return new PublishPlan(isRepeat, turn);
}

function planForItem(item: PublishItem, isRepeat: boolean, turn: QueueTurn): PlannedItem | PlannedRunItem | QueueReply {
  if (isRunItem(item)) {
    // PUB2 (an id that was accepted before is answered as it was then): its run may have ended since.
    const refusal = isRepeat ? undefined : runItemRefusal(item, turn);
    return refusal ?? { run: item };
  }
  return planItem(item, turn);
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
  // The first step records no event.
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

/** The growth by items that would be recorded, without repetitions and duplicates. */
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
    // Only the first message carries the bytes.
    body = body === undefined ? turn.state.bodies.carried(item.body) : { ...body, content: undefined };
    accept(planned, body, turn);
    return { messageId: id, url, isDuplicate: false };
  });
  return isGroup ? results : (results[0] as Published);
}
