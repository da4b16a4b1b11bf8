/**
 * What a caller asks of a schedule, judged: its id, timetable, destination and settings. What it makes is
 * schedule-ticks.ts.
 */
import type { NewSchedule, PublishDestination, QueueReplyOf } from '../commands.js';
import type { QueueContext } from '../decision.js';
import type { QueueEventOf } from '../events.js';
import type { Bodies } from '../messages/bodies.js';
import type { DeliverySettings, HeaderList, Schedule, ScheduleDestination, UrlGroup } from '../records.js';
import { parseDestinationUrl } from '../settings/destination.js';
import { nameProblem } from '../settings/names.js';
import { parseSettings, withDefaults } from '../settings/publish-settings.js';
import { nextTickAfter, parseCron } from './cron.js';

/** A timetable without another tick. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** The first tick later than an instant. */
export function tickAfter(cron: string, afterMs: number): number {
  return nextTickAfter(cron, afterMs) ?? NEVER_MS;
}

interface Groups {
  get(name: string): UrlGroup | undefined;
}

interface Around {
  /** The schedule that is replaced. */
  readonly before: Schedule | undefined;
  /** Schedules that there are. */
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

/** What is no group is read as a URL, and refused as one: a publish to it is answered alike. */
function noSuchDestination(name: string): string {
  const outcome = parseDestinationUrl(name);
  return outcome.isOk ? `url group ${name} not found` : outcome.message;
}

/** Headers win over the query, as everywhere. */
function inOneList(headers: HeaderList, query: HeaderList): HeaderList {
  const given = new Set(headers.map(([name]) => name));
  return [...headers, ...query.filter(([name]) => !given.has(name))];
}

function rejected(reason: QueueReplyOf<'Rejected'>['reason'], message: string): QueueReplyOf<'Rejected'> {
  return { type: 'Rejected', reason, message };
}
