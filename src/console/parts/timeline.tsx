/** Events in order, and durations side by side. */
import type { ComponentChildren } from 'preact';
import type { Tone } from './badge.js';
import { duration } from './format.js';
import { Time } from './time.js';

export interface Moment {
  readonly id: string;
  readonly atMs: number;
  readonly tone: Tone;
  readonly title: ComponentChildren;
  readonly details?: ComponentChildren;
}

/** The earliest first; each with the time since the one before. */
export function Timeline({ moments }: { readonly moments: readonly Moment[] }) {
  return (
    <ol class="timeline">
      {moments.map(({ id, atMs, tone, title, details }, at) => {
        const before = moments[at - 1]?.atMs;
        return (
          <li key={id} class={tone}>
            <div class="row between">
              <span class="row">{title}</span>
              <span class="small">
                <Time at={atMs} />
                {before !== undefined && <span class="muted"> +{duration(atMs - before)}</span>}
              </span>
            </div>
            {details}
          </li>
        );
      })}
    </ol>
  );
}

export interface Span {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly fromMs: number;
  /** Undefined: not finished. */
  readonly toMs: number | undefined;
  readonly tone?: 'warn' | 'bad' | 'info' | 'muted' | undefined;
}

/** @param nowMs  the temporary end of unfinished spans */
export function Waterfall({ spans, nowMs }: { readonly spans: readonly Span[]; readonly nowMs: number }) {
  const from = Math.min(...spans.map(({ fromMs }) => fromMs));
  const to = Math.max(...spans.map(({ toMs }) => toMs ?? nowMs));
  const whole = Math.max(to - from, 1);
  return (
    <div class="bars">
      {spans.map(({ id, label, fromMs, toMs, tone = '' }) => {
        const end = toMs ?? nowMs;
        const left = `${((fromMs - from) / whole) * 100}%`;
        const width = `${(Math.max(end - fromMs, 0) / whole) * 100}%`;
        return [
          <span key={`${id} label`} class="cut">
            {label}
          </span>,
          <span key={`${id} bar`} class="track" aria-hidden="true">
            <span class={`bar ${tone}`} style={{ left, width }} />
          </span>,
          <span key={`${id} time`} class="small muted">
            {duration(end - fromMs)}
            {toMs === undefined ? ' so far' : ''}
          </span>,
        ];
      })}
    </div>
  );
}
