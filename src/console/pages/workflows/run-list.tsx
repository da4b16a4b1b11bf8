/** Runs by state and filters, all in the address. */
import { useAsk } from '../../api/ask.js';
import { ofQueue, type Query, queryText } from '../../api/call.js';
import { type PageQuery, usePageQuery } from '../../api/query.js';
import { useQueueUrl } from '../../api/queue-url.js';
import { Badge, StateBadge } from '../../parts/badge.js';
import { SmallButton } from '../../parts/button.js';
import { type Filter, FilterBar } from '../../parts/filter-bar.js';
import { counted, duration, short } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { TOKEN_VARIABLE, URL_VARIABLE } from '../queue/publish/curl.js';
import { type RunLinks, useRunLinks } from './links.js';
import {
  durationOf,
  functionOf,
  LISTED_BYTES,
  momentOf,
  RUN_STATES,
  RUNS_A_PAGE,
  type Run,
  STATE_WORDS,
  useNews,
} from './records.js';
import { errorOf } from './run-error.js';
import { summaryOf } from './run-names.js';
import { Standing } from './standing.js';

const EVERY_MS = 10_000;

const FILTERS: readonly Filter[] = [
  { name: 'id', label: 'Run id', placeholder: 'wfr_…' },
  { name: 'path', label: 'Function (path)', placeholder: '/order' },
  { name: 'url', label: 'URL, the whole of it', placeholder: 'https://…', isRare: true },
  { name: 'label', label: 'Label' },
  { name: 'from', label: 'Begun from', type: 'datetime-local', isRare: true },
  { name: 'to', label: 'Begun until', type: 'datetime-local', isRare: true },
];

export interface RunListProps {
  readonly account: string;
  readonly planTimeoutMs: number;
}

export function RunList({ account, planTimeoutMs }: RunListProps) {
  const [query, set] = usePageQuery();
  const links = useRunLinks();
  const filter = filterOf(query);
  const key = `${account} ${queryText(filter)}`;
  const page = { ...filter, state: query.state, cursor: query.cursor, count: RUNS_A_PAGE, trimBody: LISTED_BYTES };
  const runs = useAsk(
    `runs ${account} ${queryText(page)}`,
    (signal) => ofQueue(account, 'GET /v2/workflows/logs', { query: page, signal }),
    EVERY_MS,
  );
  // Rows are loaded before counts.
  const counts = useAsk(
    runs.data && `counts ${key}`,
    (signal) => ofQueue(account, 'GET /v2/workflows/counts', { query: filter, signal }),
    EVERY_MS,
  );
  useNews(account, () => {
    counts.reload();
    runs.reload();
  });
  const isNarrowed = queryText({ ...filter, state: query.state }) !== '';
  return (
    <>
      <States counts={counts.data?.counts} total={counts.data?.total} state={query.state} onChoose={set} />
      <FilterBar filters={FILTERS} />
      <Shown asked={runs} rows={6}>
        {({ runs: rows, cursor }) => (
          <>
            <Table
              label="Runs"
              columns={columnsWith(links, planTimeoutMs)}
              rows={rows}
              idOf={({ workflowRunId, workflowRunCreatedAt }) => `${workflowRunId}@${workflowRunCreatedAt}`}
              empty={<NoRuns isNarrowed={isNarrowed} />}
            />
            <Paging
              text={`${counted(rows.length, 'run')} on this page, the newest first`}
              onFirst={query.cursor === undefined ? undefined : () => set({ cursor: undefined })}
              onNext={cursor === undefined ? undefined : () => set({ cursor }, false)}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function filterOf({ id, path, url, label, from, to }: PageQuery): Query {
  return {
    workflowRunId: id,
    path,
    workflowUrl: url,
    label,
    fromDate: momentOf(from),
    toDate: momentOf(to),
  };
}

interface StatesProps {
  readonly counts: Readonly<Record<string, number>> | undefined;
  readonly total: number | undefined;
  readonly state: string | undefined;
  onChoose(words: PageQuery): void;
}

/** Counts of the matching runs by state; selecting a state filters the list. */
function States({ counts, total, state, onChoose }: StatesProps) {
  const choices = [
    ['', 'All', total] as const,
    ...RUN_STATES.map((one) => [one, STATE_WORDS[one], counts === undefined ? undefined : (counts[one] ?? 0)] as const),
  ];
  return (
    <fieldset class="choices flow-states" aria-label="State">
      {choices.map(([value, label, count]) => (
        <SmallButton
          key={value}
          aria-pressed={(state ?? '') === value}
          onClick={() => onChoose({ state: value, cursor: undefined })}
        >
          {label} <strong>{count === undefined ? '…' : short(count)}</strong>
        </SmallButton>
      ))}
    </fieldset>
  );
}

const columnsWith = (links: RunLinks, planTimeoutMs: number): readonly Column<Run>[] => [
  { title: 'State', cell: ({ workflowState }) => <StateBadge state={workflowState} /> },
  {
    title: 'Run',
    cell: (run) => {
      const { workflowRunId, workflowRunCreatedAt, workflowUrl, labels = [] } = run;
      const summary = summaryOf(run);
      return (
        <div class="wrap-anywhere flow-name">
          <a href={links.run(workflowRunId, workflowRunCreatedAt)} title={workflowUrl} dir="auto">
            {functionOf(workflowUrl)}
            {summary !== undefined && ` · ${summary}`}
          </a>{' '}
          {labels.slice(1).map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          <div class="small muted" dir="auto">
            {workflowRunId}
          </div>
        </div>
      );
    },
  },
  { title: 'Stands at', cell: (run) => <Standing run={run} planTimeoutMs={planTimeoutMs} /> },
  { title: 'Error', cell: (run) => <ErrorLine run={run} /> },
  {
    title: 'Begun',
    cell: ({ workflowRunCreatedAt }) => (
      <span class="nowrap">
        <Time at={workflowRunCreatedAt} as="past" />
      </span>
    ),
  },
  {
    title: 'Duration',
    isNumber: true,
    cell: (run) => <span class="nowrap">{duration(durationOf(run, Date.now()))}</span>,
  },
];

function ErrorLine({ run }: { readonly run: Run }) {
  const error = errorOf(run);
  if (error === undefined) return <span class="muted">–</span>;
  return (
    <div class="small flow-error" dir="auto" title={error.text}>
      <Badge tone={run.workflowState === 'RUN_FAILED' ? 'bad' : 'warn'}>
        {error.status === 0 ? 'no answer' : error.status}
      </Badge>{' '}
      {error.text}
    </div>
  );
}

function NoRuns({ isNarrowed }: { readonly isNarrowed: boolean }) {
  const url = useQueueUrl() ?? URL_VARIABLE;
  if (isNarrowed) return <Empty title="No run is like that">Other words, or none, may find some.</Empty>;
  return (
    <Empty
      title="No runs yet"
      command={`curl -X POST -H "Authorization: Bearer ${TOKEN_VARIABLE}" ${url}/v2/trigger/https://your.app/order`}
    >
      A workflow is a function at a URL that runs in steps. The first run is shown here when it has started.
    </Empty>
  );
}
