/** Judges a new or replaced schedule: id, timetable, destination and settings. schedule-ticks.ts makes its messages. */
import type { NewSchedule, PublishDestination, QueueReplyOf } from '../model/commands.js';
import type { QueueContext } from '../model/decision.js';
import type { QueueEventOf } from '../model/events.js';
import type { Bodies } from '../model/messages/bodies.js';
import type { DeliverySettings, HeaderList, Schedule, ScheduleDestination, UrlGroup } from '../model/records.js';
import { parseCron } from '../model/settings/cron.js';
import { parseDestinationUrl } from '../model/settings/destination.js';
import { nameProblem } from '../model/settings/names.js';
import { parseSettings, withDefaults } from '../model/settings/publish-settings.js';
import { tickAfter } from '../model/state/schedules.js';

interface Groups {
  get(name: string): UrlGroup | undefined;
}

interface Around {
  /** The replaced schedule. */
  readonly before: Schedule | undefined;
  /** Number of schedules of the account. */
  readonly count: number;
  readonly groups: Groups;
  readonly bodies: Pick<Bodies, 'carried'>;
}

export function decideSchedule(
  { id, cron: text, destination, queueName, body, callerIp, isAlias }: NewSchedule,
  { before, count, groups, bodies }: Around,
  context: QueueContext,
): QueueEventOf<'ScheduleSet'> | QueueReplyOf<'Rejected'> {
  const { nowMs, account } = context;
  if (account.state === 'passive') return rejected('SUSPENDED', 'the account is suspended');
  const problem =
    nameProblem('schedule id', id) ?? (queueName === undefined ? undefined : nameProblem('queue name', queueName));
  if (problem !== undefined) return rejected('INVALID', problem);
  const timetable = parseCron(text);
  if (!timetable.isOk) return rejected('INVALID', timetable.message);
  const delivery = deliveryOf(destination, groups, context);
  if (!delivery.isOk) return rejected('INVALID', delivery.message);
  const { maxSchedules } = account.limits;
  if (before === undefined && count >= maxSchedules) {
    return rejected('TOO_MANY', `quota maxSchedules exceeded, current limit: ${maxSchedules}`);
  }
  const { cron } = timetable;
  const schedule = {
    id,
    cron,
    destination: delivery.destination,
    settings: delivery.settings,
    ownHeaders: delivery.ownHeaders,
    queueName,
    callerIp,
    isAlias,
    isPaused: before?.isPaused ?? false,
    createdAtMs: before?.createdAtMs ?? nowMs,
    nextTickAtMs: before?.cron === cron ? before.nextTickAtMs : tickAfter(cron, nowMs),
  };
  return { type: 'ScheduleSet', schedule, body: bodies.carried(body), atMs: nowMs };
}

type DeliveryOutcome =
  | {
      readonly isOk: true;
      readonly destination: ScheduleDestination;
      readonly settings: DeliverySettings;
      readonly ownHeaders: HeaderList;
    }
  | { readonly isOk: false; readonly message: string };

function deliveryOf(
  destination: PublishDestination,
  groups: Groups,
  { nowMs, account: { limits } }: QueueContext,
): DeliveryOutcome {
  if (destination.kind === 'url') {
    const { url, settings } = destination;
    return { isOk: true, destination: { kind: 'url', url }, settings, ownHeaders: [] };
  }
  const { name, raw } = destination;
  const group = groups.get(name);
  if (group === undefined) return { isOk: false, message: noSuchDestination(name) };
  const context = { limits, nowMs, of: 'schedule' } as const;
  const whole = parseSettings(withDefaults(group.defaults, raw), context);
  if (!whole.isOk) return whole;
  const own = parseSettings(raw, context);
  if (!own.isOk) return own;
  const ownHeaders = inOneList(raw.headers, raw.query);
  return { isOk: true, destination: { kind: 'group', name }, settings: own.parsed.settings, ownHeaders };
}

/** A name without a group is read as a URL and refused like one, as in a publish. */
function noSuchDestination(name: string): string {
  const outcome = parseDestinationUrl(name);
  return outcome.isOk ? `url group ${name} not found` : outcome.message;
}

/** Headers win over the query, as in every call. */
function inOneList(headers: HeaderList, query: HeaderList): HeaderList {
  const given = new Set(headers.map(([name]) => name));
  return [...headers, ...query.filter(([name]) => !given.has(name))];
}

function rejected(reason: QueueReplyOf<'Rejected'>['reason'], message: string): QueueReplyOf<'Rejected'> {
  return { type: 'Rejected', reason, message };
}
