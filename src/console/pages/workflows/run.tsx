/** One run: facts, graph of steps, times, events, and the selected step. */
import { useSignal } from '@preact/signals';
import { LEAST_REFRESH_MS, useAsk } from '../../api/ask.js';
import { CallError, ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { useQueue } from '../../api/queues.js';
import { StateBadge } from '../../parts/badge.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { Tabs, useTab } from '../../parts/tabs.js';
import { AboutRun } from './about-run.js';
import { useRunLinks } from './links.js';
import { type Run, type RunEvent, useNews } from './records.js';
import { RunActions } from './run-actions.js';
import { RunEvents } from './run-events.js';
import { RunFailure } from './run-failure.js';
import { RunGraph } from './run-graph.js';
import { layersOf } from './run-model.js';
import { RunTimes } from './run-times.js';
import { StepDetails } from './step-details.js';

/** Bytes of each body until the whole bodies are requested. */
const TRIMMED_BYTES = 20_000;
const MAX_EVENTS = 1_000;

const TABS = [
  { id: 'graph', label: 'Graph' },
  { id: 'times', label: 'Times' },
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
  const showAll = () => {
    isWhole.value = true;
  };
  return (
    <>
      <PageHead
        title={id}
        crumbs={[[links.list(), 'Workflows']]}
        badge={run !== undefined && <StateBadge state={run.workflowState} />}
      >
        {run !== undefined && <RunActions account={account as string} run={run} onDone={asked.reload} />}
      </PageHead>
      <Shown asked={asked} rows={8}>
        {(looked) => (
          <Looked
            account={account as string}
            looked={looked}
            isWhole={isWhole.value}
            onWhole={showAll}
            onDone={asked.reload}
          />
        )}
      </Shown>
    </>
  );
}

interface LookedProps {
  readonly account: string;
  readonly looked: Looked;
  readonly isWhole: boolean;
  onWhole(): void;
  onDone(): void;
}

function Looked({ account, looked, isWhole, onWhole, onDone }: LookedProps) {
  const [query] = usePageQuery();
  const tab = useTab(TABS);
  const { run, events, areMoreEvents } = looked;
  const layers = layersOf(run, events);
  const nodes = layers.flatMap((layer) => layer.nodes);
  const chosen = nodes.find(({ key }) => key === query.step) ?? nodes.at(-1);
  return (
    <div class="stack">
      <AboutRun run={run} />
      {run.workflowState === 'RUN_FAILED' && <RunFailure run={run} />}
      <div class="flow-run">
        <div>
          <Tabs label="Views of the run" tabs={TABS} keep={['created', 'step']} />
          {tab === 'graph' && <RunGraph run={run} layers={layers} chosen={chosen?.key} />}
          {tab === 'times' && <RunTimes run={run} layers={layers} />}
          {tab === 'events' && <RunEvents events={events} areMore={areMoreEvents} />}
        </div>
        {chosen !== undefined && (
          <StepDetails
            key={chosen.key}
            account={account}
            run={run}
            node={chosen}
            cutAt={isWhole ? undefined : TRIMMED_BYTES}
            onWhole={onWhole}
            onDone={onDone}
          />
        )}
      </div>
    </div>
  );
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
