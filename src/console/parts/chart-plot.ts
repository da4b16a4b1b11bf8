/** Draws a chart with uPlot, which is loaded with the first chart. */
import type uPlot from 'uplot';
import { bytes } from './format.js';

export interface Series {
  readonly label: string;
  /** One per time; null: unknown. */
  readonly values: readonly (number | null)[];
}

export interface Drawn {
  /** Milliseconds since 1970, the earliest first. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly height: number;
  readonly isStacked: boolean;
  /** The sum of the series in the period before, one per time. */
  readonly before: readonly (number | null)[] | undefined;
}

/** The position of the pointer in the plot, in pixels of its box. */
export interface Pointer {
  readonly index: number;
  readonly left: number;
  readonly top: number;
}

export interface Watcher {
  /** The step under the crosshair, which all charts of a page share. */
  onHover(index: number | undefined): void;
  /** Undefined: the pointer is not in this chart. */
  onPointer(pointer: Pointer | undefined): void;
  onZoom(fromMs: number, toMs: number): void;
  onPick(index: number): void;
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
const LEAST_WIDTH = 120;
/** A shorter drag is a click. */
const LEAST_DRAG = 6;
/** The opacity of areas as two hex digits, after a colour of six. */
const AREA_ALPHA = { stacked: '59', single: '1a' } as const;
const SYNCED: ReadonlySet<string> = new Set(['mousemove', 'mouseleave']);

export function colorOf(label: string, index: number): string {
  return OF_STATES[label] ?? (COLORS[index % COLORS.length] as string);
}

/** A drawn chart. */
export interface Drawing {
  /** Draws newer values of a chart with the same shape. The crosshair and the tooltip stay. */
  show(chart: Drawn): void;
  /** Removes the drawing. */
  end(): void;
}

/** @returns a text that is the same for charts which one drawing can show. Undefined: the chart has no values */
export function shapeOf({ times, series, before, height, isStacked }: Drawn): string | undefined {
  if (times.length === 0) return undefined;
  return JSON.stringify([series.map(({ label }) => label), before !== undefined, height, isStacked]);
}

export async function draw(element: HTMLElement, chart: Drawn, watcher: Watcher): Promise<Drawing> {
  const { default: UPlot } = await import('uplot');
  const plot = new UPlot(optionsOf(element, chart, watcher), dataOf(chart), element);
  const sized = new ResizeObserver(() => {
    plot.setSize({ width: Math.max(element.clientWidth, LEAST_WIDTH), height: chart.height });
  });
  sized.observe(element);
  return {
    show: (newer) => plot.setData(dataOf(newer)),
    end: () => {
      sized.disconnect();
      plot.destroy();
    },
  };
}

function dataOf(chart: Drawn): uPlot.AlignedData {
  return [chart.times.map((ms) => ms / 1_000), ...drawnValues(chart)];
}

/** The period before comes first, so that it is below the others. */
function drawnValues({ series, isStacked, before }: Drawn): (number | null)[][] {
  const own = isStacked ? stacked(series) : series.map(({ values }) => [...values]);
  return before === undefined ? own : [[...before], ...own];
}

/** Each series on top of those before it. */
function stacked(series: readonly Series[]): (number | null)[][] {
  const sums: (number | null)[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, at) => (value === null ? null : value + (below?.[at] ?? 0))));
  }
  return sums;
}

function optionsOf(element: HTMLElement, chart: Drawn, watcher: Watcher): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  const first = chart.before === undefined ? 1 : 2;
  const alpha = chart.isStacked ? AREA_ALPHA.stacked : AREA_ALPHA.single;
  return {
    width: Math.max(element.clientWidth, LEAST_WIDTH),
    height: chart.height,
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 7 },
      drag: { x: true, y: false, setScale: false, dist: LEAST_DRAG },
      sync: { key: 'page', setSeries: false, filters: { pub: (type) => SYNCED.has(type) } },
    },
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
      ...(chart.before === undefined ? [] : [{ stroke: color('--line-strong'), width: 1.2, dash: [4, 4] }]),
      ...chart.series.map(({ label }, index) => {
        const stroke = color(colorOf(label, index));
        const hasArea = chart.isStacked || chart.series.length === 1;
        return { label, stroke, width: 1.6, spanGaps: false, ...(hasArea && { fill: stroke + alpha }) };
      }),
    ],
    ...(chart.isStacked && {
      bands: chart.series.slice(1).map((_, at) => ({ series: [first + at + 1, first + at] as [number, number] })),
    }),
    hooks: watching(watcher),
  };
}

function watching({ onHover, onPointer, onZoom, onPick }: Watcher): uPlot.Hooks.Arrays {
  let isInside = false;
  const point = ({ cursor: { idx, left = 0, top = 0 }, over }: uPlot) =>
    onPointer(isInside && idx != null ? { index: idx, left: left + over.offsetLeft, top } : undefined);
  return {
    init: [
      (plot) => {
        plot.over.addEventListener('mouseenter', () => {
          isInside = true;
        });
        plot.over.addEventListener('mouseleave', () => {
          isInside = false;
          onPointer(undefined);
        });
        plot.over.addEventListener('click', () => {
          if (plot.cursor.idx != null) onPick(plot.cursor.idx);
        });
      },
    ],
    setCursor: [
      (plot) => {
        onHover(plot.cursor.idx ?? undefined);
        point(plot);
      },
    ],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select;
        if (width < LEAST_DRAG) return;
        onZoom(plot.posToVal(left, 'x') * 1_000, plot.posToVal(left + width, 'x') * 1_000);
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      },
    ],
  };
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
