/** The steps of a run over time: a row for each, split into queued, executing, back-off and idle time. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { SmallButton } from '../../parts/button.js';
import { counted, duration } from '../../parts/format.js';
import { NodeCard, spanTimes } from './node-card.js';
import type { Run } from './records.js';
import { kindWord } from './run-graph.js';
import type { Span, StepAttempt, TimeSpan } from './run-life.js';
import type { Layer, Node } from './run-model.js';

/** Round marks of a time axis that begins at zero. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** @returns milliseconds, the first is 0; at most `most` marks after it, unless the axis is longer than years */
function marksOf(lengthMs: number, most: number): readonly number[] {
  const step = STEPS.find((one) => lengthMs / one <= most) ?? Math.ceil(lengthMs / most / DAY) * DAY;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, at) => at * step);
}

/** Rows rendered first: a run may have thousands of steps. */
const DRAWN_ROWS = 300;
const MARKS = 8;
/** The last part of the axis has no label, which would not fit. */
const LABELLED_SHARE = 0.94;
/** Of the card, with its distance to the window's edge. */
const CARD_WIDTH_PX = 336;
const CARD_HEIGHT_PX = 240;

export interface WaterfallProps {
  readonly run: Run;
  readonly layers: readonly Layer[];
  readonly nowMs: number;
  readonly chosen: string | undefined;
}

interface Pointed {
  readonly key: string;
  readonly leftPx: number;
  readonly topPx: number;
  readonly isAbove: boolean;
}

export function Waterfall({ run, layers, nowMs, chosen }: WaterfallProps) {
  const drawn = useSignal(DRAWN_ROWS);
  const box = useRef<HTMLElement>(null);
  const { pointed, point, leave } = usePointed(box);
  const rows = layers.flatMap(({ isParallel, nodes }) => nodes.map((node) => ({ node, isParallel })));
  const shown = rows.filter(({ node }) => node.kind !== 'Initial');
  const axis: TimeSpan = { fromMs: run.workflowRunCreatedAt, toMs: run.workflowRunCompletedAt ?? nowMs };
  return (
    <section
      ref={box}
      class="card flow-waterfall"
      aria-label="Steps over time"
      style={`--mark: ${markShareOf(axis.toMs - axis.fromMs)}%`}
      onMouseLeave={leave}
      onKeyDown={({ key }) => key === 'Escape' && leave()}
    >
      <Axis lengthMs={axis.toMs - axis.fromMs} />
      <ol class="plain-list flow-rows">
        {shown.slice(0, drawn.value).map(({ node, isParallel }) => (
          <li key={node.key} class={isParallel ? 'parallel' : undefined}>
            <Row node={node} axis={axis} isChosen={node.key === chosen} onPoint={point} onLeave={leave} />
          </li>
        ))}
      </ol>
      {shown.length > drawn.value && (
        <SmallButton
          onClick={() => {
            drawn.value += DRAWN_ROWS;
          }}
        >
          Show more: {shown.length - drawn.value} are below
        </SmallButton>
      )}
      <Legend />
      <HoverCard pointed={pointed} node={shown.find(({ node }) => node.key === pointed?.key)?.node} />
    </section>
  );
}

/** The row below the pointer or with the keyboard's focus, and the place of its card. */
function usePointed(box: RefObject<HTMLElement | null>) {
  const pointed = useSignal<Pointed | undefined>(undefined);
  const point = (node: Node, row: HTMLElement, x: number) => {
    const outer = box.current?.getBoundingClientRect();
    if (outer === undefined) return;
    const { top, bottom } = row.getBoundingClientRect();
    const isAbove = bottom + CARD_HEIGHT_PX > innerHeight;
    const leftPx = Math.max(Math.min(x - outer.left, outer.width - CARD_WIDTH_PX), 0);
    pointed.value = { key: node.key, leftPx, topPx: (isAbove ? top : bottom) - outer.top, isAbove };
  };
  const leave = () => {
    pointed.value = undefined;
  };
  return { pointed: pointed.value, point, leave };
}

function HoverCard({ pointed, node }: { readonly pointed: Pointed | undefined; readonly node: Node | undefined }) {
  if (pointed === undefined || node === undefined) return null;
  const { leftPx, topPx, isAbove } = pointed;
  return (
    <div
      class={`flow-card ${isAbove ? 'is-above' : ''}`}
      style={{ left: `${leftPx}px`, top: `${topPx}px` }}
      aria-hidden="true"
    >
      <NodeCard node={node} />
    </div>
  );
}

function Axis({ lengthMs }: { readonly lengthMs: number }) {
  const whole = Math.max(lengthMs, 1);
  return (
    <div class="flow-axis" aria-hidden="true">
      <span class="flow-marks">
        {marksOf(whole, MARKS).map((ms) => (
          <span key={ms} style={{ left: `${(ms / whole) * 100}%` }}>
            {ms / whole <= LABELLED_SHARE && <b>{ms === 0 ? '0' : duration(ms)}</b>}
          </span>
        ))}
      </span>
      <span class="flow-length">{duration(lengthMs)}</span>
    </div>
  );
}

/** The distance of two marks, in percent of the axis. */
function markShareOf(lengthMs: number): number {
  const whole = Math.max(lengthMs, 1);
  return ((marksOf(whole, MARKS)[1] ?? whole) / whole) * 100;
}

interface RowProps {
  readonly node: Node;
  readonly axis: TimeSpan;
  readonly isChosen: boolean;
  onPoint(node: Node, row: HTMLElement, x: number): void;
  onLeave(): void;
}

function Row({ node, axis, isChosen, onPoint, onLeave }: RowProps) {
  const [query] = usePageQuery();
  const { key, name, kind, state, spans, attempts, fromMs, toMs } = node;
  const failed = attempts.filter(({ outcome }) => outcome === 'failed').length;
  const endMs = spans.at(-1)?.toMs ?? fromMs;
  return (
    <a
      class={`flow-row ${state}`}
      href={queryText({ ...query, step: key })}
      aria-current={isChosen ? 'true' : undefined}
      onMouseMove={({ currentTarget, clientX }) => onPoint(node, currentTarget, clientX)}
      onFocus={({ currentTarget }) => {
        if (currentTarget.matches(':focus-visible')) onPoint(node, currentTarget, currentTarget.offsetLeft);
      }}
      onBlur={onLeave}
    >
      <span class="flow-row-name">
        <span class="cut" dir="auto">
          {name}
        </span>
        <span class="small muted nowrap">{kindWord(kind)}</span>
      </span>
      <span class="flow-track" aria-hidden="true">
        {spans.map((span) => (
          <Bar key={`${span.kind} ${span.fromMs}`} span={span} axis={axis} />
        ))}
        {attempts.map((attempt, at) => (
          <Tick key={`${at} ${attempt.fromMs}`} attempt={attempt} axis={axis} />
        ))}
      </span>
      <span class="flow-row-time small">
        {failed > 0 && <span class="flow-failed">{counted(attempts.length, 'attempt')}</span>}{' '}
        <span class="muted">
          {duration(endMs - fromMs)}
          {toMs === undefined ? ' so far' : ''}
        </span>
      </span>
      <span class="visually-hidden">
        {`${state.replace('STEP_', '').toLowerCase()}; ${spanTimes(spans)
          .map(([word, ms]) => `${word} ${duration(ms)}`)
          .join(', ')}; ${counted(attempts.length, 'attempt')}, ${failed} failed`}
      </span>
    </a>
  );
}

function shareOf(ms: number, { fromMs, toMs }: TimeSpan): string {
  return `${(Math.min(Math.max(ms - fromMs, 0), toMs - fromMs) / Math.max(toMs - fromMs, 1)) * 100}%`;
}

function Bar({ span, axis }: { readonly span: Span; readonly axis: TimeSpan }) {
  const { kind, outcome = '', fromMs, toMs } = span;
  const width = shareOf(axis.fromMs + (toMs - fromMs), axis);
  return <i class={`flow-span ${kind} ${outcome}`} style={{ left: shareOf(fromMs, axis), width }} />;
}

function Tick({ attempt, axis }: { readonly attempt: StepAttempt; readonly axis: TimeSpan }) {
  return <i class={`flow-tick ${attempt.outcome}`} style={{ left: shareOf(attempt.fromMs, axis) }} />;
}

const LEGEND = [
  ['queued', 'queued'],
  ['executing running', 'executing'],
  ['executing delivered', 'delivered'],
  ['executing failed', 'failed'],
  ['backoff', 'back-off'],
  ['idle', 'sleeping or waiting'],
] as const;

function Legend() {
  return (
    <p class="row small muted flow-legend">
      {LEGEND.map(([kind, word]) => (
        <span key={kind} class="row nowrap">
          <i class={`flow-span ${kind}`} />
          {word}
        </span>
      ))}
      <span class="row nowrap">
        <i class="flow-tick" />
        an attempt begins
      </span>
    </p>
  );
}
