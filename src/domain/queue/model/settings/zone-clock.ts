/**
 * The wall clock of a time zone. A wall time is a date and a time of day without a zone, written as the milliseconds
 * that it would be in UTC.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;
/** A formatter takes about ten kilobytes; all accounts together use a few dozen zones. */
const KEPT_CLOCKS = 128;

const clocks = new Map<string, ZoneClock>();

/** @param zone the canonical name, as `canonicalZone` gives it */
export function clockOf(zone: string): Pick<ZoneClock, 'wallAt' | 'instantOf'> {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new ZoneClock(zone);
    if (clocks.size >= KEPT_CLOCKS) clocks.delete(clocks.keys().next().value as string);
    clocks.set(zone, clock);
  }
  return clock;
}

/** @returns undefined: there is no such zone. Spellings that differ in case have one canonical name. */
export function canonicalZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

class ZoneClock {
  readonly #format: Intl.DateTimeFormat;

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** The wall time at an instant. */
  wallAt(instantMs: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(instantMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const milliseconds = ((instantMs % 1000) + 1000) % 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  }

  /**
   * The instant of a wall time. A wall time that comes twice gives the first instant; one that the clock skips gives
   * the instant of the change.
   */
  instantOf(wallMs: number): number {
    // No zone changes its clock twice within two days.
    const before = this.#offsetAt(wallMs - DAY_MS);
    const after = this.#offsetAt(wallMs + DAY_MS);
    const early = wallMs - Math.max(before, after);
    const late = wallMs - Math.min(before, after);
    if (this.wallAt(early) === wallMs) return early;
    if (this.wallAt(late) === wallMs) return late;
    return this.#changeBetween(early, late);
  }

  #offsetAt(instantMs: number): number {
    return this.wallAt(instantMs) - instantMs;
  }

  /** The whole minute of the change, after the first instant and at most at the second. */
  #changeBetween(fromMs: number, toMs: number): number {
    const before = this.#offsetAt(fromMs);
    let early = Math.floor(fromMs / MINUTE_MS);
    let late = Math.ceil(toMs / MINUTE_MS);
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2);
      if (this.#offsetAt(middle * MINUTE_MS) === before) early = middle;
      else late = middle;
    }
    return late * MINUTE_MS;
  }
}
