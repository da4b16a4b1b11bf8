/**
 * Cron expressions: five fields (minute, hour, day of month, month, day of week), a descriptor such as `@hourly`, or
 * `@every` with a duration. The prefix `CRON_TZ=<IANA zone> ` selects a zone other than UTC. If both day fields are
 * restricted, a day that matches either one counts.
 * A timetable has fixed times when its minutes and hours are numbers, lists or ranges without a wildcard or step. All
 * others follow real time. When clocks change:
 *
 *  CRO1 forward, over times that do not exist: fixed times in the gap tick once together, at the first instant after
 *       the gap. Timetables of real time do not tick for the gap
 *  CRO2 back, over times that come twice: fixed times tick the first time only. Timetables of real time tick both
 *       times
 *  CRO3 `@every` ticks at multiples of its duration after its anchor, independent of any clock change
 */
import { Cron } from 'croner';
import { problemOfFields, withWholeRanges } from './cron-fields.js';
import { parseDurationSeconds } from './duration.js';
import { canonicalZone, clockOf } from './zone-clock.js';

export type CronOutcome =
  | { readonly isOk: true; readonly cron: string }
  | { readonly isOk: false; readonly message: string };

interface Timetable {
  /** The first tick strictly later than an instant. */
  next(afterMs: number, anchorMs: number): number | undefined;
}

const ZONE_PREFIX = /^(?:CRON_)?TZ=(\S+)\s+/;
const EVERY = /^@every(?:\s+(.*))?$/i;
/** The shortest time between two ticks, as with five fields. */
const MIN_EVERY_SECONDS = 60;
/** The longest time between two ticks, that of yearly timetables. */
const MAX_EVERY_SECONDS = 366 * 24 * 3600;
/** The longest useful expression is far shorter; expressions are stored and shown. */
const MAX_CRON_CHARACTERS = 256;
const DESCRIPTORS: readonly string[] = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
];
/** Compiled timetables kept in memory. */
const KEPT_TIMETABLES = 1024;
/** The start of the search for a first tick; any instant would do. */
const PROBE_AT_MS = Date.UTC(2020, 0, 1);

const timetables = new Map<string, Timetable>();

/** @returns the trimmed text as it is stored; the message of a refusal begins `Invalid cron expression` */
export function parseCron(text: string): CronOutcome {
  const cron = text.trim();
  if (cron === '') return refused('empty spec string; write five fields such as */5 * * * *, or @daily');
  if (cron.length > MAX_CRON_CHARACTERS) return refused(`longer than ${MAX_CRON_CHARACTERS} characters`);
  if (timetables.has(cron)) return { isOk: true, cron };
  try {
    const timetable = compile(cron);
    if (timetable.next(PROBE_AT_MS, PROBE_AT_MS) === undefined) {
      return refused(`"${cron}" names a day that never comes, such as 30 February`);
    }
    keep(cron, timetable);
    return { isOk: true, cron };
  } catch (error) {
    return refused(error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error));
  }
}

/**
 * The first tick strictly later than an instant, both in milliseconds since the epoch.
 * @param cron an expression that `parseCron` accepted
 * @param anchorMs another tick, from which `@every` counts; five fields ignore it
 * @returns undefined: no tick is left
 */
export function nextTickAfter(cron: string, afterMs: number, anchorMs = afterMs): number | undefined {
  let timetable = timetables.get(cron);
  if (timetable === undefined) {
    timetable = compile(cron);
    keep(cron, timetable);
  }
  return timetable.next(afterMs, anchorMs);
}

/** Whether the expression names a zone: another release of the program or of Node.js may know its rules better. */
export function hasZone(cron: string): boolean {
  return ZONE_PREFIX.test(cron);
}

export interface TicksWanted {
  /** `fromMs` is exclusive, `toMs` inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/**
 * The first ticks of a timetable, in order.
 * @param cron an expression that `parseCron` accepted
 */
export function ticksBetween(cron: string, { fromMs, toMs, count }: TicksWanted): readonly number[] {
  const ticks: number[] = [];
  let tick = nextTickAfter(cron, fromMs);
  while (tick !== undefined && tick <= toMs && ticks.length < count) {
    ticks.push(tick);
    tick = nextTickAfter(cron, tick);
  }
  return ticks;
}

/** @throws Error with the problem and a correct form */
function compile(cron: string): Timetable {
  const prefix = ZONE_PREFIX.exec(cron);
  const zone = prefix === null ? undefined : zoneOf(prefix[1] as string);
  const pattern = prefix === null ? cron : cron.slice(prefix[0].length);
  const every = EVERY.exec(pattern);
  if (every !== null) return timetableOfEvery(every[1] ?? '');
  if (pattern.startsWith('@') && !DESCRIPTORS.includes(pattern.toLowerCase())) {
    throw new Error(`unrecognized descriptor: ${pattern}; write ${DESCRIPTORS.join(', ')} or @every 1h30m`);
  }
  const fields = withWholeRanges(pattern);
  try {
    if (zone !== undefined && !hasFixedTimes(fields)) return timetableOfRealTime(fields, zone);
    return timetableOfFixedTimes(fields, zone);
  } catch (error) {
    const problem = pattern.startsWith('@') ? undefined : problemOfFields(pattern);
    throw problem === undefined ? error : new Error(problem);
  }
}

/** @throws Error for an unknown zone */
function zoneOf(name: string): string {
  const zone = canonicalZone(name);
  if (zone !== undefined) return zone;
  throw new Error(`unknown time zone ${name}; write an IANA name such as CRON_TZ=Europe/Berlin`);
}

/** All descriptors except `@hourly` have fixed times. */
function hasFixedTimes(fields: string): boolean {
  if (fields.startsWith('@')) return fields.toLowerCase() !== '@hourly';
  return !/[*?/]/.test(fields.split(/\s+/).slice(0, 2).join(' '));
}

// `paused`: the library only computes instants and never starts a timer.

/** With a wildcard or a step, the library follows real time. */
function timetableOfRealTime(fields: string, zone: string): Timetable {
  const calendar = new Cron(fields, { timezone: zone, paused: true, mode: '5-part' });
  return { next: (afterMs) => calendar.nextRun(new Date(afterMs))?.getTime() };
}

/** The library computes wall times, and the zone's clock converts them to instants. */
function timetableOfFixedTimes(fields: string, zone: string | undefined): Timetable {
  const calendar = new Cron(fields, { utcOffset: 0, paused: true, mode: '5-part' });
  if (zone === undefined) return { next: (afterMs) => calendar.nextRun(new Date(afterMs))?.getTime() };
  return {
    next(afterMs) {
      const clock = clockOf(zone);
      let wall = calendar.nextRun(new Date(clock.wallAt(afterMs)));
      // In the second of two equal hours the times of the first are skipped: at most a few ticks per minute.
      while (wall !== null) {
        const at = clock.instantOf(wall.getTime());
        if (at > afterMs) return at;
        wall = calendar.nextRun(wall);
      }
      return undefined;
    },
  };
}

function timetableOfEvery(text: string): Timetable {
  const seconds = /^\d+$/.test(text) ? undefined : parseDurationSeconds(text);
  if (seconds === undefined || seconds < MIN_EVERY_SECONDS || seconds > MAX_EVERY_SECONDS) {
    throw new Error(`@every "${text}": write a duration from 1m to 366d, such as @every 1h30m`);
  }
  const periodMs = seconds * 1000;
  return {
    next: (afterMs, anchorMs) => anchorMs + (Math.floor((afterMs - anchorMs) / periodMs) + 1) * periodMs,
  };
}

function keep(cron: string, timetable: Timetable): void {
  if (timetables.size >= KEPT_TIMETABLES) timetables.delete(timetables.keys().next().value as string);
  timetables.set(cron, timetable);
}

function refused(reason: string): CronOutcome {
  return { isOk: false, message: `Invalid cron expression: ${reason}` };
}
