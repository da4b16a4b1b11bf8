/** The changes of a database over its history, as bars below a slider. */
import { type Asked, useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { type Period, timesOf } from '../../api/points.js';
import type { OneDatabase } from './moments.js';

export interface Activity {
  readonly bars: readonly { readonly atMs: number; readonly writes: number }[];
  readonly stepMs: number;
  /** The end of the last step with a change; undefined: not known, or older than the statistics. */
  readonly lastMs: number | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS: readonly (readonly [Period, number])[] = [
  ['1h', HOUR_MS],
  ['3h', 3 * HOUR_MS],
  ['12h', 12 * HOUR_MS],
  ['1d', DAY_MS],
  ['3d', 3 * DAY_MS],
  ['7d', 7 * DAY_MS],
];

/** Counts come from the statistics, which cover 30 days and are some seconds late. */
export function useActivity({ database_id: id, creation_time }: OneDatabase): Asked<Activity> {
  return useAsk(`activity ${id}`, async (signal) => {
    const ageMs = Date.now() - creation_time * 1_000;
    const period = LENGTHS.find(([, lengthMs]) => lengthMs >= ageMs)?.[0] ?? '30d';
    const { write } = await manage('GET /v2/kv/stats/{id}', { path: { id }, query: { period }, signal });
    const times = timesOf(write);
    const stepMs = (times[1] ?? 0) - (times[0] ?? 0);
    const bars = write.map(({ y }, at) => ({ atMs: times[at] as number, writes: y }));
    const last = bars.findLast(({ writes }) => writes > 0);
    return { bars, stepMs, lastMs: last && Math.min(last.atMs + stepMs, Date.now()) };
  });
}

const HEIGHT = 32;
const WIDTH = 1_000;

export interface HistogramProps extends Pick<Activity, 'bars' | 'stepMs'> {
  /** The ends of the slider. */
  readonly fromMs: number;
  readonly toMs: number;
}

export function Histogram({ bars, stepMs, fromMs, toMs }: HistogramProps) {
  const most = Math.max(...bars.map(({ writes }) => writes));
  if (most <= 0) return null;
  const x = (ms: number) => ((Math.min(Math.max(ms, fromMs), toMs) - fromMs) / Math.max(toMs - fromMs, 1)) * WIDTH;
  return (
    <svg class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img">
      <title>Changes over time</title>
      {bars.map(({ atMs, writes }) => {
        const [left, right] = [x(atMs), x(atMs + stepMs)];
        // The square root keeps small numbers visible next to large ones.
        const height = Math.sqrt(writes / most) * HEIGHT;
        return writes > 0 && right > left ? (
          <rect key={atMs} x={left} y={HEIGHT - height} width={Math.max(right - left - 1, 2)} height={height} />
        ) : null;
      })}
    </svg>
  );
}
