/**
 * Accepting messages: all of a call's or none. Groups are unfolded into one message for each endpoint.
 *
 *  P1 whatever can refuse a call is judged before its first event
 *  P2 an id that was accepted before is answered as it was then, and changes nothing
 *  P3 a deduplication id is reserved by the event that accepts its message; within a call the first item has it
 *  P4 what was told (acknowledged from the intake) is accepted whatever the limits say now
 */
import { calledUrl, type MessageId } from '../../../kernel/index.js';
import { Growth, heldRefusal } from '../accounts/held-refusal.js';
import type { Published, PublishItem, QueueCommandOf, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { messageIdAt } from '../ids.js';
import { MAX_COMMAND_MESSAGES } from '../limits.js';
import { ensureQueue } from '../queues/queue-commands.js';
import type { CarriedBody, DeliverySettings, Envelope } from '../records.js';
import { queuesRefusal, suspended, usageRefusal } from '../refusals.js';
import { isRunItem, type RunItem } from '../runs/run-items.js';
import { acceptRunItem, countsForLimits, refusalForRuns, runGrowth, runItemRefusal } from '../runs/submissions.js';
import type { TickMessage } from '../schedules/schedule-ticks.js';
import { parseSettings, withDefaults } from '../settings/publish-settings.js';
import type { QueueTurn } from '../turn.js';
import { deduplicationKeyOf } from './deduplication-key.js';

interface Planned {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
  readonly deduplication: string | undefined;
}

interface PlannedItem {
  readonly run?: undefined;
  readonly item: PublishItem;
  readonly isGroup: boolean;
  readonly messages: readonly Planned[];
}

/** Of a workflow's run: what it comes to follows from the run. */
interface PlannedRunItem {
  readonly run: RunItem;
}

export function publish(command: QueueCommandOf<'Publish'>, turn: QueueTurn): QueueReply {
  const { state, context } = turn;
  const { account, nowMs } = context;
  // P2. All of a call or none: one of its ids stands for it.
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
  const reply = publish({ type: 'Publish', items, isTold: true }, turn);
  if (reply.type === 'Rejected') return reply;
  turn.apply({ type: 'IntakeTaken', position: last.position, atMs: turn.context.nowMs });
  return { type: 'Done' };
}

/** A tick's message: counted like any other, refused by no limit. */
export function acceptTick({ id, envelope, body, notBeforeMs }: TickMessage, turn: QueueTurn): void {
  ensureQueue(envelope.queueName, turn);
  accept({ id, envelope, notBeforeMs, deduplication: undefined }, { ...body, content: undefined }, turn);
}

function planOf(
  items: readonly PublishItem[],
  isRepeat: boolean,
  turn: QueueTurn,
): readonly (PlannedItem | PlannedRunItem)[] | QueueReply {
  const planned: (PlannedItem | PlannedRunItem)[] = [];
  let count = 0;
  for (const item of items) {
    const one = planForItem(item, isRepeat, turn);
    if ('type' in one) return one;
    count += one.run === undefined ? one.messages.length : 1;
    if (count > MAX_COMMAND_MESSAGES) {
      return rejection('INVALID', `one call makes at most ${MAX_COMMAND_MESSAGES} messages`);
    }
    planned.push(one);
  }
  return planned;
}

function planForItem(item: PublishItem, isRepeat: boolean, turn: QueueTurn): PlannedItem | PlannedRunItem | QueueReply {
  if (isRunItem(item)) {
    // P2: its run may be over by now.
    const refusal = isRepeat ? undefined : runItemRefusal(item, turn);
    return refusal ?? { run: item };
  }
  return item.destination.kind === 'url' ? planForUrl(item, turn) : planForGroup(item, turn);
}

function planForUrl(item: PublishItem, turn: QueueTurn): PlannedItem | QueueReply {
  const { destination } = item;
  if (destination.kind !== 'url') return noSuchGroup();
  const { settings } = destination;
  const url = calledUrl(destination.url);
  const envelope = envelopeOf(item, url, settings, undefined, undefined);
  const deduplication =
    item.deduplication === undefined
      ? undefined
      : deduplicationKeyOf(item.deduplication, {
          destination: url,
          endpointUrl: undefined,
          body: item.body,
          header: settings.header,
        });
  const notBeforeMs = item.notBeforeMs ?? turn.context.nowMs + settings.delaySeconds * 1000;
  return { item, isGroup: false, messages: [{ id: item.id, envelope, notBeforeMs, deduplication }] };
}

function planForGroup(item: PublishItem, { state, context }: QueueTurn): PlannedItem | QueueReply {
  const { destination, id, queueName } = item;
  if (destination.kind !== 'group') return noSuchGroup();
  const group = state.groups.get(destination.name);
  if (group === undefined) return noSuchGroup();
  const outcome = parseSettings(withDefaults(group.defaults, destination.raw), {
    limits: context.account.limits,
    nowMs: context.nowMs,
    of: queueName === undefined ? 'publish' : 'enqueue',
  });
  if (!outcome.isOk) return rejection('INVALID', outcome.message);
  const { settings, notBeforeMs, deduplication = item.deduplication } = outcome.parsed;
  const dueAtMs = item.notBeforeMs ?? notBeforeMs ?? context.nowMs + settings.delaySeconds * 1000;
  const messages = group.endpoints.map((endpoint, at) => ({
    id: messageIdAt(id, at),
    envelope: envelopeOf(item, calledUrl(endpoint.url), settings, group.name, endpoint.name),
    notBeforeMs: dueAtMs,
    deduplication:
      deduplication === undefined
        ? undefined
        : deduplicationKeyOf(deduplication, {
            destination: group.name,
            endpointUrl: endpoint.url,
            body: item.body,
            header: settings.header,
          }),
  }));
  return { item, isGroup: true, messages };
}

function noSuchGroup(): QueueReply {
  return rejection('INVALID', 'invalid destination url: endpoint has invalid scheme, add http:// or https://');
}

function envelopeOf(
  { queueName, callerIp, isAlias }: PublishItem,
  url: string,
  settings: DeliverySettings,
  topicName: string | undefined,
  endpointName: string | undefined,
): Envelope {
  return {
    url,
    settings,
    queueName,
    scheduleId: undefined,
    topicName,
    endpointName,
    callerIp,
    isAlias,
    callbackOf: undefined,
  };
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
  turn.apply({
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
