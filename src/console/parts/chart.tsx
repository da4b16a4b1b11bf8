/**
 * Series over time. All charts of a page share the crosshair and the zoom, which a drag over a part of the time sets.
 */

import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { SmallButton } from './button.js';
import { colorOf, type Drawing, type Drawn, draw, type Pointer, type Series, shapeOf } from './chart-plot.js';
import { short } from './format.js';
import { setter } from './setter.js';
import { momentText } from './time.js';

export type { Series } from './chart-plot.js';

export interface ChartProps extends Pick<Drawn, 'times' | 'series'>, Partial<Omit<Drawn, 'times' | 'series'>> {
  readonly title: string;
  /** The address with the items between two instants, which a click on a step opens. */
  readonly hrefOf?: ((fromMs: number, toMs: number) => string) | undefined;
}

interface Zoom {
  readonly fromMs: number;
  readonly toMs: number;
}

const zoom = signal<Zoom | undefined>(undefined);
let mounted = 0;

export function Chart(props: ChartProps) {
  const { title, series, format = short, height = 180, hrefOf } = props;
  const { route } = useLocation();
  const box = useRef<HTMLDivElement>(null);
  const at = useSignal<number | undefined>(undefined);
  const pointer = useSignal<Pointer | undefined>(undefined);
  const drawn = useZoomed(props);
  const { times } = drawn;
  const shown = at.value ?? times.length - 1;
  const open = useRef<(index: number) => void>(() => {});
  open.current = (index) => {
    const from = times[index];
    if (hrefOf !== undefined && from !== undefined) route(hrefOf(from, times[index + 1] ?? from + stepOf(times)));
  };
  const newest = useRef(drawn);
  newest.current = drawn;
  const drawing = useRef<Promise<Drawing> | undefined>(undefined);
  const shape = shapeOf(drawn);
  useEffect(() => {
    const element = box.current;
    if (element === null || shape === undefined) return undefined;
    const made = draw(element, newest.current, {
      onHover: (index) => {
        at.value = index;
      },
      onPointer: (next) => {
        pointer.value = next;
      },
      onZoom: (fromMs, toMs) => {
        zoom.value = { fromMs, toMs };
      },
      onPick: (index) => open.current(index),
    });
    drawing.current = made;
    return () => {
      drawing.current = undefined;
      void made.then(({ end }) => end());
    };
  }, [shape, format]);
  useEffect(() => void drawing.current?.then(({ show }) => show(drawn)), [drawn]);
  return (
    <figure class={`chart ${hrefOf === undefined ? '' : 'has-items'}`} style={{ margin: 0 }}>
      <figcaption class="row between">
        <h2 class="title">{title}</h2>
        {zoom.value !== undefined && <WholePeriod />}
        <span class="small muted">{times[shown] === undefined ? '' : momentText(times[shown])}</span>
      </figcaption>
      <div class="plot">
        <div ref={box} style={{ minHeight: `${height}px` }} role="img" aria-label={spoken(title, series, format)} />
        {isEmpty(series) && <p class="nothing">No data in this period</p>}
        {pointer.value !== undefined && (
          <Tooltip drawn={drawn} pointer={pointer.value} hasItems={hrefOf !== undefined} />
        )}
      </div>
      <Legend drawn={drawn} index={shown} />
    </figure>
  );
}

/** The values of a step. */
function Legend({ drawn: { series, before, format }, index }: { readonly drawn: Drawn; readonly index: number }) {
  return (
    <div class="legend">
      {series.map(({ label, values }, at) => (
        <span key={label}>
          <i style={{ background: `var(${colorOf(label, at)})` }} />
          {label} <strong>{textOf(values[index], format)}</strong>
        </span>
      ))}
      {before !== undefined && (
        <span>
          <i class="before" />
          period before <strong>{textOf(before[index], format)}</strong>
        </span>
      )}
    </div>
  );
}

/** The part of the chart in the zoom, if at least two steps are in it. */
function useZoomed({ times, series, before, format = short, height = 180, isStacked = false }: ChartProps): Drawn {
  useEffect(() => {
    mounted += 1;
    return () => {
      mounted -= 1;
      // Charts of the next page begin with their whole period.
      if (mounted === 0) zoom.value = undefined;
    };
  }, []);
  const { value } = zoom;
  return useMemo(() => {
    const whole: Drawn = { times, series, before, format, height, isStacked };
    if (value === undefined) return whole;
    const first = times.findIndex((ms) => ms >= value.fromMs);
    const end = times.findLastIndex((ms) => ms <= value.toMs) + 1;
    if (first < 0 || end - first < 2) return whole;
    const part = <T,>(values: readonly T[]) => values.slice(first, end);
    const parts = series.map(({ label, values }) => ({ label, values: part(values) }));
    return { ...whole, times: part(times), series: parts, before: before && part(before) };
  }, [times, series, before, format, height, isStacked, value]);
}

function WholePeriod() {
  return <SmallButton onClick={setter(zoom, undefined)}>Whole period</SmallButton>;
}

interface TooltipProps {
  readonly drawn: Drawn;
  readonly pointer: Pointer;
  readonly hasItems: boolean;
}

/** At the pointer, on the side with more room. The legend has the same values as text. */
function Tooltip({ drawn, pointer: { index, left, top }, hasItems }: TooltipProps) {
  const { times, series, before, format, isStacked } = drawn;
  const isLate = index > times.length / 2;
  const atMs = times[index];
  if (atMs === undefined) return null;
  const sum = series.reduce((total, { values }) => total + (values[index] ?? 0), 0);
  return (
    <div class={`tooltip ${isLate ? 'is-left' : ''}`} style={{ left: `${left}px`, top: `${top}px` }} aria-hidden="true">
      <div class="muted">{momentText(atMs)}</div>
      {series.map(({ label, values }, at) => (
        <div key={label} class="line">
          <i style={{ background: `var(${colorOf(label, at)})` }} />
          {label} <strong>{textOf(values[index], format)}</strong>
        </div>
      ))}
      {isStacked && series.length > 1 && (
        <div class="line">
          <i /> together <strong>{format(sum)}</strong>
        </div>
      )}
      {before !== undefined && (
        <div class="line muted">
          <i class="before" /> period before <strong>{textOf(before[index], format)}</strong>
        </div>
      )}
      {hasItems && <div class="muted">Click: list them</div>}
    </div>
  );
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? '–' : format(value);
}

function stepOf(times: readonly number[]): number {
  return (times[1] ?? 0) - (times[0] ?? 0);
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
