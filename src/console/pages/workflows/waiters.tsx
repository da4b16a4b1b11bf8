/** Waiting steps of all runs, the earliest deadline first; each can be notified here. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { useQueueUrl } from '../../api/queue-url.js';
import { mayChangeQueues } from '../../api/session.js';
import { SmallButton } from '../../parts/button.js';
import { whole } from '../../parts/format.js';
import { setter } from '../../parts/setter.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { type RunLinks, useRunLinks } from './links.js';
import { NotifyDialog } from './notify-dialog.js';
import { useNews, type WaitingStep } from './records.js';

const EVERY_MS = 10_000;
const A_PAGE = 100;

export function Waiters({ account }: { readonly account: string }) {
  const [query, set] = usePageQuery();
  const links = useRunLinks();
  const told = useSignal<WaitingStep | undefined>(undefined);
  const page = { count: A_PAGE, cursor: query.cursor };
  const asked = useAsk(
    `waiters ${account} ${query.cursor}`,
    (signal) => ofQueue(account, 'GET /v2/waiters', { query: page, signal }),
    EVERY_MS,
  );
  useNews(account, asked.reload);
  const sample = `curl -X POST ${useQueueUrl()}/v2/notify/<event> -H 'Authorization: Bearer <token>' -d '{}'`;
  return (
    <>
      <Shown asked={asked} rows={6}>
        {({ waiters, total, cursor }) => (
          <>
            <Table
              label="Steps that wait for events"
              columns={columnsWith(links, (step) => {
                told.value = step;
              })}
              rows={waiters}
              idOf={({ workflowRunId, stepId }) => `${workflowRunId} ${stepId}`}
              empty={
                <Empty title="No step waits for an event" command={sample}>
                  Steps that wait are listed here with their deadlines. A notification of an event resumes all runs that
                  wait for it.
                </Empty>
              }
            />
            <Paging
              text={`${whole(waiters.length)} of ${whole(total)}, the earliest deadline first`}
              onFirst={query.cursor === undefined ? undefined : () => set({ cursor: undefined })}
              onNext={cursor === undefined ? undefined : () => set({ cursor }, false)}
            />
          </>
        )}
      </Shown>
      {told.value !== undefined && (
        <NotifyDialog
          account={account}
          eventId={told.value.eventId}
          runId={told.value.workflowRunId}
          onClose={setter(told, undefined)}
          onDone={asked.reload}
        />
      )}
    </>
  );
}

function columnsWith(links: RunLinks, tell: (step: WaitingStep) => void): readonly Column<WaitingStep>[] {
  return [
    {
      title: 'Event',
      cell: ({ eventId }) => (
        <code class="wrap-anywhere" dir="auto">
          {eventId}
        </code>
      ),
    },
    {
      title: 'Run',
      cell: ({ workflowRunId, workflowCreatedAt }) => (
        <a class="wrap-anywhere" href={links.run(workflowRunId, workflowCreatedAt)}>
          {workflowRunId}
        </a>
      ),
    },
    {
      title: 'Step',
      isWideOnly: true,
      cell: ({ stepName, stepId }) => (
        <span class="wrap-anywhere" dir="auto">
          {stepName} <span class="muted small">#{stepId}</span>
        </span>
      ),
    },
    { title: 'Since', isWideOnly: true, cell: ({ addedAt }) => <Time at={addedAt} as="past" /> },
    {
      title: 'Gives up',
      cell: ({ deadline }) => (
        <span class="nowrap">
          <Time at={deadline} as="ago" />
        </span>
      ),
    },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            cell: (step: WaitingStep) => <SmallButton onClick={() => tell(step)}>Notify</SmallButton>,
          },
        ]
      : []),
  ];
}
