/** Failed runs in the DLQ of workflows: viewing, resuming, restarting, deleting, one or many. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { ofQueue, type Query, queryText } from '../../api/call.js';
import { type PageQuery, usePageQuery } from '../../api/query.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { type Filter, FilterBar } from '../../parts/filter-bar.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { FailedBulk } from './failed-bulk.js';
import { FailedRunActions } from './failed-run-actions.js';
import { FailureFunctionBadge } from './failure-function.js';
import { type RunLinks, useRunLinks } from './links.js';
import { type FailedRun, functionOf, LISTED_BYTES, momentOf, useNews } from './records.js';
import { whyOf } from './run-error.js';

const EVERY_MS = 10_000;
const A_PAGE = 50;

const FILTERS: readonly Filter[] = [
  { name: 'id', label: 'Run id', placeholder: 'wfr_…' },
  { name: 'url', label: 'URL of the workflow', placeholder: 'https://…' },
  { name: 'label', label: 'Label' },
  { name: 'status', label: 'Status of the answer', type: 'number', isRare: true },
  {
    name: 'fn',
    label: 'Failure function',
    options: [
      ['', 'any'],
      ['CALLBACK_INPROGRESS', 'being called'],
      ['CALLBACK_SUCCESS', 'has answered'],
      ['CALLBACK_FAIL', 'failed'],
      ['CALLBACK_CANCELED', 'taken back'],
    ],
  },
  { name: 'from', label: 'Failed from', type: 'datetime-local', isRare: true },
  { name: 'to', label: 'Failed until', type: 'datetime-local', isRare: true },
];

export function FailedRuns({ account }: { readonly account: string }) {
  const [query, set] = usePageQuery();
  const links = useRunLinks();
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const filter = filterOf(query);
  const page = { ...filter, cursor: query.cursor, count: A_PAGE, order: 'latestFirst', trimBody: LISTED_BYTES };
  const asked = useAsk(
    `failed ${account} ${queryText(page)}`,
    (signal) => ofQueue(account, 'GET /v2/workflows/dlq', { query: page, signal }),
    EVERY_MS,
  );
  useNews(account, asked.reload);
  const choose = (next: ReadonlySet<string>) => {
    chosen.value = next;
  };
  const selection = mayChangeQueues.value ? { chosen: chosen.value, set: choose } : undefined;
  const done = () => {
    chosen.value = new Set();
    asked.reload();
  };
  return (
    <>
      <FilterBar filters={FILTERS} />
      {mayChangeQueues.value && (
        <FailedBulk account={account} chosen={[...chosen.value]} filter={filter} onDone={done} />
      )}
      <Shown asked={asked} rows={6}>
        {({ messages, cursor }) => (
          <>
            <Table
              label="Failed runs"
              columns={columnsWith(account, links, done)}
              rows={messages}
              idOf={({ dlqId }) => dlqId}
              selection={selection}
              empty={<NoneFailed isNarrowed={queryText(filter) !== ''} />}
            />
            <Paging
              text={`${messages.length} on this page, the last one first`}
              onFirst={query.cursor === undefined ? undefined : () => set({ cursor: undefined })}
              onNext={cursor === undefined ? undefined : () => set({ cursor }, false)}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** In the form that delete, resume and restart also accept. */
function filterOf({ id, url, label, status, fn, from, to }: PageQuery): Query {
  return {
    workflowRunId: id,
    workflowUrl: url,
    label,
    responseStatus: status,
    failureFunctionState: fn,
    fromDate: momentOf(from),
    toDate: momentOf(to),
  };
}

function columnsWith(account: string, links: RunLinks, onDone: () => void): readonly Column<FailedRun>[] {
  return [
    {
      title: 'Run',
      cell: ({ workflowRunId, workflowCreatedAt, workflowUrl, labels = [] }) => (
        <div class="wrap-anywhere flow-name" dir="auto">
          <a href={links.run(workflowRunId, workflowCreatedAt)}>{workflowRunId}</a>{' '}
          {labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          <div class="small muted" title={workflowUrl}>
            {functionOf(workflowUrl)}
          </div>
        </div>
      ),
    },
    {
      title: 'Why',
      isWideOnly: true,
      cell: (run) => (
        <div class="wrap-anywhere small" dir="auto">
          <Badge tone="bad">{run.responseStatus === 0 ? 'no answer' : run.responseStatus}</Badge> {whyOf(run)}
        </div>
      ),
    },
    {
      title: 'Failed',
      cell: ({ dlqId }) => (
        <span class="nowrap">
          <Time at={failedAtOf(dlqId)} as="past" />
        </span>
      ),
    },
    {
      title: 'Failure function',
      isWideOnly: true,
      cell: ({ failureFunctionState }) => <FailureFunctionBadge state={failureFunctionState} />,
    },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            isWideOnly: true,
            cell: (run: FailedRun) => (
              <FailedRunActions
                account={account}
                dlqId={run.dlqId}
                isSmall
                functionState={run.failureFunctionState}
                onDone={onDone}
              />
            ),
          },
        ]
      : []),
  ];
}

/** An entry's id begins with the time of its failure. */
function failedAtOf(dlqId: string): number | undefined {
  return Number(/^(\d+)-/.exec(dlqId)?.[1] ?? Number.NaN) || undefined;
}

function NoneFailed({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed) return <Empty title="No failed run is like that">Other words, or none, may find some.</Empty>;
  return (
    <Empty title="No failed runs">
      A run without retries left is listed here with the last response of its endpoint. It can be resumed at the failed
      step.
    </Empty>
  );
}
