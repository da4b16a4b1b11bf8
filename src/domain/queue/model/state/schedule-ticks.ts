/**
 * Makes the messages of one tick: one, or one for each endpoint of the group. Their ids are derived from the schedule
 * and the tick's time, so a repeated tick has the same messages.
 */
import { calledUrl, type MessageId } from '../../../../kernel/index.js';
import type { QueueContext } from '../decision.js';
import { derivedMessageId, messageIdAt } from '../ids.js';
import type { BodyRef, DeliverySettings, Envelope, Schedule, UrlGroup } from '../records.js';
import { parseSettings, withDefaults } from '../settings/publish-settings.js';

/** A message to be accepted; it refers to the schedule's body without bytes. */
export interface TickMessage {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly notBeforeMs: number;
}

/**
 * The id of a tick's first message. The creation time distinguishes schedules with the same name in different
 * accounts, or one after the other.
 */
export function tickMessageId({ id, createdAtMs }: Schedule, tickAtMs: number): MessageId {
  return derivedMessageId(`${id} ${createdAtMs} ${tickAtMs}`);
}

/**
 * Undefined: the group no longer exists.
 * @param groups the present groups, with their present endpoints and defaults
 */
export function messagesOfTick(
  schedule: Schedule,
  tickAtMs: number,
  groups: { get(name: string): UrlGroup | undefined },
  context: QueueContext,
): readonly TickMessage[] | undefined {
  const first = tickMessageId(schedule, tickAtMs);
  const { destination } = schedule;
  if (destination.kind === 'url') {
    const notBeforeMs = startOf(schedule.settings, tickAtMs, context);
    return [message(schedule, first, destination, schedule.settings, notBeforeMs)];
  }
  const group = groups.get(destination.name);
  if (group === undefined) return undefined;
  const settings = groupSettings(schedule, group, context);
  const notBeforeMs = startOf(settings, tickAtMs, context);
  return group.endpoints.map(({ url, name }, at) =>
    message(schedule, messageIdAt(first, at), { url, topicName: group.name, name }, settings, notBeforeMs),
  );
}

/** A delay counts from the tick, so that it does not add to the lateness of the tick. */
function startOf({ delaySeconds }: DeliverySettings, tickAtMs: number, { nowMs }: QueueContext): number {
  return delaySeconds === 0 ? nowMs : tickAtMs + delaySeconds * 1000;
}

function message(
  schedule: Schedule,
  id: MessageId,
  to: { readonly url: string; readonly topicName?: string; readonly name?: string | undefined },
  settings: DeliverySettings,
  notBeforeMs: number,
): TickMessage {
  const envelope: Envelope = {
    url: calledUrl(to.url),
    settings,
    queueName: schedule.queueName,
    scheduleId: schedule.id,
    topicName: to.topicName,
    endpointName: to.name,
    callerIp: schedule.callerIp,
    isAlias: schedule.isAlias,
    callbackOf: undefined,
  };
  return { id, envelope, body: schedule.body, notBeforeMs };
}

/** The schedule's settings over the group's defaults; defaults that are no longer valid are left out. */
function groupSettings({ ownHeaders, settings }: Schedule, group: UrlGroup, context: QueueContext): DeliverySettings {
  if (group.defaults.length === 0) return settings;
  const raw = withDefaults(group.defaults, { headers: ownHeaders, query: [] });
  const { nowMs, account } = context;
  const outcome = parseSettings(raw, { limits: account.limits, nowMs, of: 'schedule' });
  return outcome.isOk ? outcome.parsed.settings : settings;
}
