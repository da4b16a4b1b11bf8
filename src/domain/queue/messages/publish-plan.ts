/** What the items of a call come to, before any of it is accepted: groups unfolded, settings read, ids named. */
import { calledUrl, type MessageId } from '../../../kernel/index.js';
import type { PublishItem, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { messageIdAt } from '../ids.js';
import { MAX_COMMAND_MESSAGES } from '../limits.js';
import type { DeliverySettings, Envelope } from '../records.js';
import { isRunItem, type RunItem } from '../runs/run-items.js';
import { runItemRefusal } from '../runs/submissions.js';
import { parseSettings, withDefaults } from '../settings/publish-settings.js';
import type { QueueTurn } from '../turn.js';
import { deduplicationKeyOf } from './deduplication-key.js';

export interface Planned {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly notBeforeMs: number;
  readonly deduplication: string | undefined;
}

export interface PlannedItem {
  readonly run?: undefined;
  readonly item: PublishItem;
  readonly isGroup: boolean;
  readonly messages: readonly Planned[];
}

/** It belongs to a workflow's run: what it comes to follows from the run. */
export interface PlannedRunItem {
  readonly run: RunItem;
}

/** Put together item by item. */
export class PublishPlan {
  readonly items: (PlannedItem | PlannedRunItem)[] = [];
  #count = 0;

  constructor(
    private readonly isRepeat: boolean,
    private readonly turn: QueueTurn,
  ) {}

  /** @returns what refuses the call */
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

function planForItem(item: PublishItem, isRepeat: boolean, turn: QueueTurn): PlannedItem | PlannedRunItem | QueueReply {
  if (isRunItem(item)) {
    // PUB2: its run may be over by now.
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
