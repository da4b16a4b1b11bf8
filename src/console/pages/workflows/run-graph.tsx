/** The steps of a run from top to bottom, with parallel steps side by side. */
import { useSignal } from '@preact/signals';
import { queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { StateBadge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { counted, duration } from '../../parts/format.js';
import { Time } from '../../parts/time.js';
import { useRunLinks } from './links.js';
import type { Run } from './records.js';
import type { Layer, Node } from './run-model.js';
import { untilOf } from './run-now.js';

/** Layers rendered first: a run may have thousands of steps. */
const DRAWN_LAYERS = 200;

export interface RunGraphProps {
  readonly run: Run;
  readonly layers: readonly Layer[];
  readonly chosen: string | undefined;
}

export function RunGraph({ run, layers, chosen }: RunGraphProps) {
  const drawn = useSignal(DRAWN_LAYERS);
  const left = layers.length - drawn.value;
  return (
    <div class="flow-graph">
      <ol class="flow-layers" aria-label="Steps, the first on top">
        {layers.slice(0, drawn.value).map(({ key, isParallel, nodes }) => (
          <li key={key} class={`flow-layer ${isParallel ? 'parallel' : ''}`}>
            {isParallel && <span class="flow-together">{nodes.length} at once</span>}
            {nodes.map((node) => (
              <Step key={node.key} node={node} isChosen={node.key === chosen} />
            ))}
          </li>
        ))}
        {left <= 0 && run.workflowRunCompletedAt !== undefined && (
          <li class="flow-layer">
            <div class="flow-end">
              <StateBadge state={run.workflowState} />{' '}
              <span class="small muted">{duration(run.workflowRunCompletedAt - run.workflowRunCreatedAt)} in all</span>
            </div>
          </li>
        )}
      </ol>
      {left > 0 && (
        <Button
          onClick={() => {
            drawn.value += DRAWN_LAYERS;
          }}
        >
          Show more: {left} are below
        </Button>
      )}
    </div>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  Initial: 'payload',
  Run: 'step',
  SleepFor: 'sleep',
  SleepUntil: 'sleep',
  Call: 'call',
  Wait: 'wait',
  WaitForWebhook: 'webhook',
  CreateWebhook: 'webhook',
  Invoke: 'run',
  Notify: 'notify',
  Next: 'delivery',
};

export function kindWord(kind: string): string {
  return KINDS[kind] ?? kind;
}

interface StepProps {
  readonly node: Node;
  readonly isChosen: boolean;
}

function Step({ node, isChosen }: StepProps) {
  const [query] = usePageQuery();
  const links = useRunLinks();
  const { key, name, kind, state, fromMs, toMs, attempts, step } = node;
  const child = step?.invokedWorkflowRunId;
  const failed = attempts.filter(({ outcome }) => outcome === 'failed').length;
  const until = toMs === undefined && step !== undefined ? untilOf(step) : undefined;
  return (
    <div class={`flow-step ${state} ${isChosen ? 'is-chosen' : ''}`}>
      <a href={queryText({ ...query, step: key })} aria-current={isChosen ? 'true' : undefined} dir="auto">
        {name}
      </a>
      <div class="row small muted">
        <span>{kindWord(kind)}</span>
        <StateBadge state={state} />
        {toMs !== undefined && kind !== 'Initial' && <span>{duration(toMs - fromMs)}</span>}
      </div>
      {until !== undefined && (
        <div class="small muted">
          {kind.startsWith('Wait') ? 'gives up' : 'wakes'} <Time at={until} as="ago" />
        </div>
      )}
      {failed > 0 && <div class="small flow-failed">{counted(failed, 'failed attempt')}</div>}
      {child !== undefined && (
        <a class="small wrap-anywhere" href={links.run(child, step?.invokedWorkflowCreatedAt)}>
          {child}
        </a>
      )}
    </div>
  );
}
