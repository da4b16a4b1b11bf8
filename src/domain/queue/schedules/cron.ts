/**
 * Timetables: five fields (minute, hour, day of month, month, day of week) or a descriptor such as `@hourly`, with
 * `CRON_TZ=<IANA zone> ` in front for another zone than UTC. Days of month and of week are or-ed when both are named.
 *
 * When clocks change
 *  CRO1 forward, over an hour that does not exist: a tick at one fixed time of day is made at the first instant after
 *       the gap; ticks of a pattern with lists, ranges or steps that fall into the gap are not made
 *  CRO2 back, over an hour that exists twice: a tick at one fixed time of day is made once, the first time round;
 *       a pattern with lists, ranges or steps ticks through both
 */
import { Cron } from 'croner';

export type CronOutcome =
  | { readonly isOk: true; readonly cron: string }
  | { readonly isOk: false; readonly message: string };

const ZONE_PREFIX = /^(?:CRON_)?TZ=(\S+)\s+/;
/** The longest useful one is far shorter; expressions are stored and shown. */
const MAX_CRON_CHARACTERS = 256;
const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
/** Compiled timetables that are kept: as many as accounts usually have schedules in force. */
const KEPT_TIMETABLES = 1024;
/** A timetable is asked from here whether it ever comes; any instant would do. */
const PROBE_AT_MS = Date.UTC(2020, 0, 1);

const timetables = new Map<string, Cron>();

/** @returns the trimmed text as it is stored; the message of a refusal begins `Invalid cron expression` */
export function parseCron(text: string): CronOutcome {
  const cron = text.trim();
  if (cron === '') return refused('empty spec string');
  if (cron.length > MAX_CRON_CHARACTERS) return refused(`longer than ${MAX_CRON_CHARACTERS} characters`);
  if (timetables.has(cron)) return { isOk: true, cron };
  try {
    const timetable = compile(cron);
    if (timetable.nextRun(new Date(PROBE_AT_MS)) === null) return refused('it never comes');
    keep(cron, timetable);
    return { isOk: true, cron };
  } catch (error) {
    return refused(reasonOf(error));
  }
}

/**
 * The first tick strictly later than an instant, both in milliseconds since the epoch.
 * @param cron that `parseCron` has let through. @returns undefined: no tick is left
 */
export function nextTickAfter(cron: string, afterMs: number): number | undefined {
  let timetable = timetables.get(cron);
  if (timetable === undefined) {
    timetable = compile(cron);
    keep(cron, timetable);
  }
  return timetable.nextRun(new Date(afterMs))?.getTime();
}

export interface TicksWanted {
  /** Later than this one, and not later than that. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** The first ticks of a timetable, in order. @param cron as of `nextTickAfter` */
export function ticksBetween(cron: string, { fromMs, toMs, count }: TicksWanted): readonly number[] {
  const ticks: number[] = [];
  let tick = nextTickAfter(cron, fromMs);
  while (tick !== undefined && tick <= toMs && ticks.length < count) {
    ticks.push(tick);
    tick = nextTickAfter(cron, tick);
  }
  return ticks;
}

/** @throws Error of the library for what is no timetable */
function compile(cron: string): Cron {
  const prefix = ZONE_PREFIX.exec(cron);
  const pattern = prefix === null ? cron : cron.slice(prefix[0].length);
  if (pattern.startsWith('@') && !DESCRIPTORS.has(pattern.toLowerCase())) {
    throw new Error(`unrecognized descriptor: ${pattern}`);
  }
  // Paused: only asked for instants; the library's own timers are never started.
  return new Cron(pattern, { timezone: prefix?.[1] ?? 'UTC', paused: true, mode: '5-part' });
}

function keep(cron: string, timetable: Cron): void {
  if (timetables.size >= KEPT_TIMETABLES) timetables.delete(timetables.keys().next().value as string);
  timetables.set(cron, timetable);
}

function refused(reason: string): CronOutcome {
  return { isOk: false, message: `Invalid cron expression: ${reason}` };
}

/** In words of ours where the library's speak of itself. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/time ?zone/i.test(text)) return 'unknown time zone';
  if (/exactly/.test(text)) return 'five fields are expected';
  return text.replace(/^CronPattern: /, '');
}
