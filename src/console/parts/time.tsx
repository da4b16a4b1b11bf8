/** Moments in the viewer's zone or in UTC, and relative times. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { duration } from './format.js';

/** Kept in the browser: moments are shown in UTC instead of the viewer's zone. */
const UTC = 'millrace-utc';
export const isUtc = signal(localStorage.getItem(UTC) === 'true');

export function showUtc(next: boolean): void {
  isUtc.value = next;
  localStorage.setItem(UTC, String(next));
}

interface Formats {
  /** A moment, to the second. */
  readonly moment: Intl.DateTimeFormat;
  /** The same with milliseconds and the zone. */
  readonly exact: Intl.DateTimeFormat;
  readonly clock: Intl.DateTimeFormat;
}

const DATE = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const CLOCK = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;

function formatsIn(timeZone: 'UTC' | undefined): Formats {
  const zone = timeZone === undefined ? {} : { timeZone };
  const exact = { ...DATE, ...CLOCK, fractionalSecondDigits: 3, timeZoneName: 'short' } as const;
  return {
    moment: new Intl.DateTimeFormat(undefined, { ...DATE, ...CLOCK, ...zone }),
    exact: new Intl.DateTimeFormat(undefined, { ...exact, ...zone }),
    clock: new Intl.DateTimeFormat(undefined, { ...CLOCK, ...zone }),
  };
}

const LOCAL_FORMATS = formatsIn(undefined);
const UTC_FORMATS = formatsIn('UTC');

function formats(): Formats {
  return isUtc.value ? UTC_FORMATS : LOCAL_FORMATS;
}

const TICK_MS = 10_000;

/** The current time for relative times; all of them update together. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, TICK_MS);

/** @returns the current time in milliseconds, each second another one while `isMoving` */
export function useNow(isMoving: boolean): number {
  const shown = useSignal(Date.now());
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => {
      shown.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, [isMoving]);
  return shown.value;
}

export interface TimeProps {
  /** Milliseconds since 1970, or ISO 8601. Undefined: a dash. */
  readonly at: number | string | undefined;
  /**
   * `ago`: relative. `past`: the same for a moment that cannot be in the future, whatever the browser's clock says.
   * `full`: date and time. `clock`: only the time of day. All show the milliseconds on hover.
   */
  readonly as?: 'ago' | 'past' | 'full' | 'clock';
}

/** @param ms since 1970 */
export function momentText(ms: number): string {
  return formats().moment.format(ms);
}

export function Time({ at, as = 'full' }: TimeProps) {
  if (at === undefined || at === '' || at === 0) return <span class="muted">–</span>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>;
  const { moment, exact, clock } = formats();
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {as === 'full' ? moment.format(date) : as === 'clock' ? clock.format(date) : shortText(date, as)}
      {as === 'full' && isUtc.value && <span class="muted small"> UTC</span>}
    </time>
  );
}

function shortText(date: Date, as: 'ago' | 'past'): string {
  // The last tick of `now` may be older than the moment.
  const ms = date.getTime() - Math.max(now.value, Date.now());
  return relative(as === 'past' ? Math.min(ms, 0) : ms);
}

/** "3 min ago", "in 2 h". */
export function relativeText(atMs: number): string {
  return relative(atMs - Date.now());
}

function relative(ms: number): string {
  if (Math.abs(ms) < 1_500) return 'now';
  return ms < 0 ? `${duration(roughly(-ms))} ago` : `in ${duration(roughly(ms))}`;
}

function roughly(ms: number): number {
  if (ms < 60_000) return Math.round(ms / 1_000) * 1_000;
  return ms < 3_600_000 ? Math.round(ms / 60_000) * 60_000 : ms;
}
