/**
 * What one tick of a schedule makes: a message, or one for each endpoint of its group. Ids follow from the
 * schedule and the instant, so that a tick which is made again, by whomever, is the same messages.
 */
import { calledUrl, type MessageId } from '../../../kernel/index.js';
import type { QueueContext } from '../decision.js';
import { derivedMessageId, messageIdAt } from '../ids.js';
import type { BodyRef, DeliverySettings, Envelope, Schedule, UrlGroup } from '../records.js';
import { parseSettings, withDefaults } from '../settings/publish-settings.js';

/** It is for whoever accepts messages; the body is the schedule's own, and comes without bytes. */
export interface TickMessage {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly notBeforeMs: number;
}

/**
 * It names the first message of a tick. The instant of creation keeps schedules apart that have one name, in two
 * accounts or one after the other.
 */
export function tickMessageId({ id, createdAtMs }: Schedule, tickAtMs: number): MessageId {
  return derivedMessageId(`${id} ${createdAtMs} ${tickAtMs}`);
}

/** Undefined: the group is not there any more. @param groups as they are now: so are their endpoints and defaults */
export function messagesOfTick(
  schedule: Schedule,
  tickAtMs: number,
  groups: { get(name: string): UrlGroup | undefined },
  context: QueueContext,
): readonly TickMessage[] | undefined {
  const first = tickMessageId(schedule, tickAtMs);
  const { destination } = schedule;
  if (destination.kind === 'url') return [message(schedule, first, tickAtMs, destination, schedule.settings, context)];
  const group = groups.get(destination.name);
  if (group === undefined) return undefined;
  const settings = groupSettings(schedule, group, context);
  return group.endpoints.map(({ url, name }, at) =>
    message(schedule, messageIdAt(first, at), tickAtMs, { url, topicName: group.name, name }, settings, context),
  );
}

function message(
  schedule: Schedule,
  id: MessageId,
  tickAtMs: number,
  to: { readonly url: string; readonly topicName?: string; readonly name?: string | undefined },
  settings: DeliverySettings,
  { nowMs }: QueueContext,
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
  // A delay counts from the tick, so that it does not add to the tick's own lateness.
  const notBeforeMs = settings.delaySeconds === 0 ? nowMs : tickAtMs + settings.delaySeconds * 1000;
  return { id, envelope, body: schedule.body, notBeforeMs };
}

/** The group's defaults under the schedule's own; those that do not fit any more, by limits or otherwise, are left out. */
function groupSettings({ ownHeaders, settings }: Schedule, group: UrlGroup, context: QueueContext): DeliverySettings {
  if (group.defaults.length === 0) return settings;
  const raw = withDefaults(group.defaults, { headers: ownHeaders, query: [] });
  const { nowMs, account } = context;
  const outcome = parseSettings(raw, { limits: account.limits, nowMs, of: 'schedule' });
  return outcome.isOk ? outcome.parsed.settings : settings;
}
