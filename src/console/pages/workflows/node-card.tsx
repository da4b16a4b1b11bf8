/** A step in short, next to the pointer: its state, the parts of its time, and its attempts. */
import { Badge, StateBadge } from '../../parts/badge.js';
import { counted, duration } from '../../parts/format.js';
import { Time } from '../../parts/time.js';
import { kindWord } from './run-graph.js';
import type { Span, SpanKind } from './run-life.js';
import type { Node } from './run-model.js';

const SPAN_WORDS: Readonly<Record<SpanKind, string>> = {
  queued: 'queued',
  executing: 'executing',
  backoff: 'back-off',
  idle: 'sleeping or waiting',
};

/** The total of each kind of time, in the order of their first span. */
export function spanTimes(spans: readonly Span[]): readonly (readonly [word: string, ms: number, kind: SpanKind])[] {
  const totals = new Map<SpanKind, number>();
  for (const { kind, fromMs, toMs } of spans) totals.set(kind, (totals.get(kind) ?? 0) + toMs - fromMs);
  return [...totals].map(([kind, ms]) => [SPAN_WORDS[kind], ms, kind]);
}

export function NodeCard({ node }: { readonly node: Node }) {
  const { name, kind, state, spans, attempts, fromMs, toMs } = node;
  const error = attempts.findLast(({ outcome }) => outcome === 'failed');
  const failed = attempts.filter(({ outcome }) => outcome === 'failed').length;
  return (
    <>
      <div class="row between nowrap">
        <strong class="cut" dir="auto">
          {name}
        </strong>
        <StateBadge state={state} />
      </div>
      <dl class="facts small">
        <dt>Kind</dt>
        <dd>{kindWord(kind)}</dd>
        <dt>Begun</dt>
        <dd>
          <Time at={fromMs} as="clock" />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={toMs} as="clock" />
        </dd>
        {spanTimes(spans).map(([word, ms, span]) => [
          <dt key={`${span} name`}>
            <i class={`flow-span ${span}`} /> {word}
          </dt>,
          <dd key={span}>{duration(ms)}</dd>,
        ])}
        <dt>Attempts</dt>
        <dd>
          {attempts.length}
          {failed > 0 && ` (${counted(failed, 'failure')})`}
        </dd>
      </dl>
      {error !== undefined && (
        <p class="small flow-card-error" dir="auto">
          <Badge tone="bad">{error.status === 0 ? 'no answer' : error.status}</Badge> {error.error}
        </p>
      )}
    </>
  );
}
