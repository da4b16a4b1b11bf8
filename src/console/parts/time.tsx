/** Moments in the viewer's zone and in UTC, and relative times. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { duration } from './format.js';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
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
   * `ago`: relative, with the moment on hover. `past`: the same for a moment that cannot be in the future, whatever the
   * browser's clock says. `full`: both zones. `clock`: only the time of day.
   */
  readonly as?: 'ago' | 'past' | 'full' | 'clock';
}

/** @param ms since 1970 */
export function momentText(ms: number): string {
  return DAY.format(ms);
}

export function Time({ at, as = 'full' }: TimeProps) {
  if (at === undefined || at === '' || at === 0) return <span class="muted">–</span>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>;
  const iso = date.toISOString();
  const utc = `${iso.slice(0, 19).replace('T', ' ')} UTC`;
  const local = DAY.format(date);
  if (as === 'ago' || as === 'past') {
    // The last tick of `now` may be older than the moment.
    const ms = date.getTime() - Math.max(now.value, Date.now());
    return (
      <time dateTime={iso} title={`${local}\n${utc}`}>
        {relative(as === 'past' ? Math.min(ms, 0) : ms)}
      </time>
    );
  }
  if (as === 'clock') {
    return (
      <time dateTime={iso} title={`${local}\n${utc}`}>
        {CLOCK.format(date)}
      </time>
    );
  }
  return (
    <time dateTime={iso}>
      {local} <span class="muted small nowrap">{utc}</span>
    </time>
  );
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
