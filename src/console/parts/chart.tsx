/** Series over time, with a crosshair and its values. The library is loaded with the first chart. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { bytes, short } from './format.js';
import { momentText } from './time.js';

export interface Series {
  readonly label: string;
  /** One per time; null: unknown. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** Milliseconds since 1970, the earliest first. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  readonly height?: number;
}

/** Series of states have the colours of their states. */
const OF_STATES: Readonly<Record<string, string>> = {
  delivered: '--good',
  success: '--good',
  failed: '--bad',
  error: '--bad',
  retry: '--warn',
  active: '--info',
  started: '--info',
  created: '--line-strong',
  canceled: '--muted',
  cancelled: '--muted',
};
const COLORS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'];

export function Chart({ title, times, series, format = short, height = 180 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const at = useSignal<number | undefined>(undefined);
  const shown = at.value ?? times.length - 1;
  useEffect(() => {
    const element = box.current;
    if (element === null || times.length === 0) return undefined;
    const drawing = draw(element, { times, series, format, height }, (index) => {
      at.value = index;
    });
    return () => void drawing.then((end) => end());
  }, [times, series, height]);
  return (
    <figure class="chart" style={{ margin: 0 }}>
      <figcaption class="row between">
        <h2 class="title">{title}</h2>
        <span class="small muted">{times[shown] === undefined ? '' : momentText(times[shown])}</span>
      </figcaption>
      <div class="plot">
        <div ref={box} style={{ minHeight: `${height}px` }} role="img" aria-label={spoken(title, series, format)} />
        {isEmpty(series) && <p class="nothing">Nothing in this period</p>}
      </div>
      <div class="legend">
        {series.map(({ label, values }, index) => (
          <span key={label}>
            <i style={{ background: `var(${colorOf(label, index)})` }} />
            {label} <strong>{values[shown] == null ? '–' : format(values[shown] as number)}</strong>
          </span>
        ))}
      </div>
    </figure>
  );
}

type Drawn = Required<Omit<ChartProps, 'title'>>;

async function draw(element: HTMLElement, chart: Drawn, onHover: (index: number | undefined) => void) {
  const { default: UPlot } = await import('uplot');
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  const options: uPlot.Options = {
    width: Math.max(element.clientWidth, 120),
    height: chart.height,
    legend: { show: false },
    cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max((high ?? 0) * 1.1, 1e-9)] } },
    axes: [
      { ...axis, values: timeTexts },
      {
        ...axis,
        size: 64,
        ...(chart.format === bytes && { incrs: POWERS_OF_TWO }),
        values: (_, ticks) => ticks.map((tick) => chart.format(tick)),
      },
    ],
    series: [
      {},
      ...chart.series.map(({ label }, index) => ({
        label,
        stroke: color(colorOf(label, index)),
        width: 1.6,
        spanGaps: false,
      })),
    ],
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? undefined)] },
  };
  const data = [chart.times.map((ms) => ms / 1_000), ...chart.series.map(({ values }) => [...values])];
  const plot = new UPlot(options, data as uPlot.AlignedData, element);
  const sized = new ResizeObserver(() => {
    plot.setSize({ width: Math.max(element.clientWidth, 120), height: chart.height });
  });
  sized.observe(element);
  return () => {
    sized.disconnect();
    plot.destroy();
  };
}

function colorOf(label: string, index: number): string {
  return OF_STATES[label] ?? (COLORS[index % COLORS.length] as string);
}

/** Distances of ticks of a byte axis. */
const POWERS_OF_TWO = Array.from({ length: 53 }, (_, power) => 2 ** power);

const DAY_S = 86_400;
const OF_SECONDS = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const OF_MINUTES = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const OF_DAYS = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Ticks in the language of the browser; midnight shows the day. */
function timeTexts(_: uPlot, ticks: readonly number[], _axis: number, _space: number, everySeconds: number): string[] {
  const format = everySeconds < 60 ? OF_SECONDS : everySeconds < DAY_S ? OF_MINUTES : OF_DAYS;
  return ticks.map((tick) => {
    const date = new Date(tick * 1_000);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
    return (isMidnight ? OF_DAYS : format).format(date);
  });
}

function isEmpty(series: readonly Series[]): boolean {
  return series.every(({ values }) => values.every((value) => value === null || value === 0));
}

/** The newest values as text, for screen readers. */
function spoken(title: string, series: readonly Series[], format: (value: number) => string): string {
  const newest = series.map(({ label, values }) => {
    const value = values.findLast((one) => one !== null);
    return `${label} ${value == null ? 'unknown' : format(value)}`;
  });
  return `${title}: ${newest.join(', ')}`;
}
