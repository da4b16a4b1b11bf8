/**
 * The messages that an item of a call would make: groups resolved, settings parsed, ids derived. No state changes.
 */
import { calledUrl, type MessageId } from '../../../kernel/index.js';
import type { PublishItem, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { messageIdAt } from '../model/ids.js';
import type { DeliverySettings, Envelope } from '../model/records.js';
import { parseSettings, withDefaults } from '../model/settings/publish-settings.js';
import { deduplicationKeyOf } from './deduplication-key.js';
import type { QueueTurn } from './turn.js';

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

/** @returns the messages of an item that does not belong to a run, or the refusal of the call */
export function planItem(item: PublishItem, turn: QueueTurn): PlannedItem | QueueReply {
  return item.destination.kind === 'url' ? planForUrl(item, turn) : planForGroup(item, turn);
}

function planForUrl(item: PublishItem, turn: QueueTurn): PlannedItem | QueueReply {
  const { destination } = item;
  if (destination.kind !== 'url') return noSuchGroup();
  const { settings } = destination;
  const url = calledUrl(destination.url);
  const { webhook } = item;
  const plain = envelopeOf(item, url, settings, webhook?.application, webhook?.endpoint);
  const envelope =
    webhook === undefined ? plain : { ...plain, webhook: { id: webhook.id, eventType: webhook.eventType } };
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
