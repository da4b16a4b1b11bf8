/** One run: its steps over time, their graph, all events, and the selected step. */
import { useSignal } from '@preact/signals';
import { LEAST_REFRESH_MS, useAsk } from '../../api/ask.js';
import { CallError, ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { useQueue } from '../../api/queues.js';
import { mayChangeQueues } from '../../api/session.js';
import { StateBadge } from '../../parts/badge.js';
import { DangerButton } from '../../parts/button.js';
import { asked as confirmed } from '../../parts/dialog.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { useNow } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { AboutRun, RunLine } from './about-run.js';
import { FailedRunActions } from './failed-run-actions.js';
import { useRunLinks } from './links.js';
import { type Run, type RunEvent, useNews } from './records.js';
import { RunEvents } from './run-events.js';
import { RunFailure } from './run-failure.js';
import { RunGraph } from './run-graph.js';
import { type Layer, layersOf, type Node } from './run-model.js';
import { titleOf } from './run-names.js';
import type { Cut } from './step-bodies.js';
import { StepDetails } from './step-details.js';
import { Waterfall } from './waterfall.js';

/** Bytes of each body until the whole bodies are requested. */
const TRIMMED_BYTES = 20_000;
const MAX_EVENTS = 1_000;

const TABS = [
  { id: 'timeline', label: 'Timeline' },
  { id: 'graph', label: 'Graph' },
  { id: 'events', label: 'Events' },
];

interface Looked {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly areMoreEvents: boolean;
}

export default function RunPage({ id }: { readonly id: string }) {
  const queue = useQueue();
  const [query] = usePageQuery();
  const links = useRunLinks();
  const account = queue.data?.shown.id;
  const isWhole = useSignal(false);
  const isOver = useSignal(false);
  const asked = useAsk(
    account === undefined ? undefined : `run ${account} ${id} ${query.created} ${isWhole.value}`,
    async (signal) => {
      const looked = await look(account as string, { id, createdAt: query.created, isWhole: isWhole.value }, signal);
      isOver.value = looked.run.workflowState !== 'RUN_STARTED';
      return looked;
    },
    isOver.value ? undefined : LEAST_REFRESH_MS,
  );
  useNews(account, asked.reload);
  const run = asked.data?.run;
  const cut: Cut = {
    atBytes: isWhole.value ? undefined : TRIMMED_BYTES,
    onWhole: () => {
      isWhole.value = true;
    },
  };
  return (
    <>
      <PageHead
        title={run === undefined ? id : titleOf(run)}
        crumbs={[[links.list(), 'Workflows']]}
        badge={run !== undefined && <StateBadge state={run.workflowState} />}
      >
        {run !== undefined && <RunActions account={account as string} run={run} onDone={asked.reload} />}
      </PageHead>
      <Shown asked={asked} rows={8}>
        {(looked) => (
          <Looked
            account={account as string}
            planTimeoutMs={(queue.data?.shown.timeout ?? 0) * 1_000}
            looked={looked}
            cut={cut}
            onDone={asked.reload}
          />
        )}
      </Shown>
    </>
  );
}

interface RunActionsProps {
  readonly account: string;
  readonly run: Run;
  onDone(): void;
}

/** Actions on the whole run: cancel, resume, restart. */
function RunActions({ account, run, onDone }: RunActionsProps) {
  const links = useRunLinks();
  if (!mayChangeQueues.value) return null;
  const { workflowRunId, workflowUrl, workflowState, dlqId, failureFunction } = run;
  const cancel = async () => {
    const text = 'Its open steps are dropped, its failure function is not called, and it cannot be resumed.';
    if (!(await confirmed({ title: 'Cancel this run?', text, action: 'Cancel the run', isDangerous: true }))) return;
    const work = () => ofQueue(account, 'DELETE /v2/workflows/runs/{id}', { path: { id: workflowRunId } });
    if (await doing(work, 'Cancelled')) onDone();
  };
  return (
    <>
      {workflowState === 'RUN_STARTED' && <DangerButton onClick={cancel}>Cancel the run</DangerButton>}
      {workflowState === 'RUN_FAILED' && dlqId !== undefined && (
        <FailedRunActions account={account} dlqId={dlqId} functionState={failureFunction?.state} onDone={onDone} />
      )}
      <a class="button" href={links.list({ tab: 'start', url: workflowUrl })}>
        Start another
      </a>
    </>
  );
}

interface LookedProps {
  readonly account: string;
  readonly planTimeoutMs: number;
  readonly looked: Looked;
  readonly cut: Cut;
  onDone(): void;
}

function Looked({ account, planTimeoutMs, looked, cut, onDone }: LookedProps) {
  const [query] = usePageQuery();
  const tab = useTab(TABS);
  const { run, events, areMoreEvents } = looked;
  const nowMs = Math.max(useNow(run.workflowState === 'RUN_STARTED'), events.at(-1)?.time ?? 0);
  const layers = layersOf(run, events, nowMs);
  const nodes = layers.flatMap((layer) => layer.nodes);
  const chosen = query.step === undefined ? currentOf(nodes) : nodes.find(({ key }) => key === query.step);
  return (
    <div class="stack">
      <div>
        <RunLine run={run} planTimeoutMs={planTimeoutMs} />
        <Tabs label="Views of the run" tabs={TABS} keep={['created', 'step']} />
        {tab === 'timeline' && <Waterfall run={run} layers={layers} nowMs={nowMs} chosen={chosen?.key} />}
        {tab === 'graph' && <RunGraph run={run} layers={layers} chosen={chosen?.key} />}
        {tab === 'events' && <RunEvents events={events} areMore={areMoreEvents} />}
      </div>
      {chosen !== undefined && (
        <StepDetails
          key={chosen.key}
          account={account}
          run={run}
          node={chosen}
          before={beforeOf(layers, chosen)}
          planTimeoutMs={planTimeoutMs}
          cut={cut}
          onDone={onDone}
        />
      )}
      {run.workflowState === 'RUN_FAILED' && <RunFailure run={run} />}
      <AboutRun run={run} />
    </div>
  );
}

/** The step that is shown until one is selected: the failed or open one. */
function currentOf(nodes: readonly Node[]): Node | undefined {
  return nodes.findLast(({ state }) => state !== 'STEP_SUCCESS' && state !== 'STEP_CANCELED');
}

function beforeOf(layers: readonly Layer[], { key }: Node): readonly Node[] {
  const at = layers.findIndex(({ nodes }) => nodes.some((node) => node.key === key));
  return layers[at - 1]?.nodes ?? [];
}

interface Asking {
  readonly id: string;
  /** Undefined: the newest run with that id. */
  readonly createdAt: string | undefined;
  readonly isWhole: boolean;
}

async function look(account: string, { id, createdAt, isWhole }: Asking, signal: AbortSignal): Promise<Looked> {
  const trimBody = isWhole ? undefined : TRIMMED_BYTES;
  const named = { workflowRunId: id, workflowCreatedAt: createdAt };
  const newest = { ...named, count: 1, trimBody };
  const { runs } = await ofQueue(account, 'GET /v2/workflows/logs', { query: newest, signal });
  const [run] = runs;
  if (run === undefined) throw new CallError(404, 'There is no such run here, or its log is over.');
  const query = {
    workflowRunId: id,
    workflowCreatedAt: run.workflowRunCreatedAt,
    order: 'earliestFirst',
    count: MAX_EVENTS,
    trimBody: TRIMMED_BYTES,
  };
  const page = await ofQueue(account, 'GET /v2/workflows/events', { query, signal });
  return { run, events: 'events' in page ? page.events : [], areMoreEvents: page.cursor !== undefined };
}
