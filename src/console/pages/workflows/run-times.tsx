/** The duration of each step, side by side. */
import { useSignal } from '@preact/signals';
import { queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { duration } from '../../parts/format.js';
import { type Span, Waterfall } from '../../parts/timeline.js';
import type { Run } from './records.js';
import type { Layer, Node } from './run-model.js';

const DRAWN_STEPS = 300;

export function RunTimes({ run, layers }: { readonly run: Run; readonly layers: readonly Layer[] }) {
  const [query] = usePageQuery();
  const drawn = useSignal(DRAWN_STEPS);
  const nodes = layers.flatMap((layer) => layer.nodes).filter(({ kind }) => kind !== 'Initial');
  const nowMs = run.workflowRunCompletedAt ?? Date.now();
  const whole: Span = {
    id: 'run',
    label: <strong>The whole run</strong>,
    fromMs: run.workflowRunCreatedAt,
    toMs: run.workflowRunCompletedAt,
    tone: 'muted',
  };
  const spans = nodes.slice(0, drawn.value).map(
    (node): Span => ({
      id: node.key,
      label: (
        <a href={queryText({ ...query, step: node.key })} dir="auto">
          {node.name}
        </a>
      ),
      fromMs: node.fromMs,
      toMs: node.toMs,
      tone: toneOf(node),
    }),
  );
  return (
    <div class="card">
      <Waterfall spans={[whole, ...spans]} nowMs={nowMs} />
      <p class="small muted" style={{ marginTop: 'var(--s3)' }}>
        {duration(nowMs - run.workflowRunCreatedAt)} from left to right. A step begins when the ones before it are done:
        waiting for its turn and attempts that failed are part of it. Grey sleeps or waits, blue is running, amber had
        attempts that failed.
      </p>
      {nodes.length > drawn.value && (
        <button
          type="button"
          class="button"
          onClick={() => {
            drawn.value += DRAWN_STEPS;
          }}
        >
          Show more: {nodes.length - drawn.value} are below
        </button>
      )}
    </div>
  );
}

function toneOf({ state, kind, attempts }: Node): Span['tone'] {
  if (state === 'STEP_FAILED') return 'bad';
  if (state === 'STEP_CANCELED') return 'muted';
  if (state === 'STEP_RETRY' || attempts.length > 0) return 'warn';
  if (/^(Sleep|Wait)/.test(kind)) return 'muted';
  return state === 'STEP_PROGRESS' ? 'info' : undefined;
}
