/** Dead letters: messages without retries left, to be viewed, retried or deleted. */
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { useLive, useWhenHappened } from '../../api/live.js';
import { usePageQuery } from '../../api/query.js';
import { useQueue } from '../../api/queues.js';
import { mayChangeQueues } from '../../api/session.js';
import { type Filter, FilterBar } from '../../parts/filter-bar.js';
import { counted } from '../../parts/format.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Shown } from '../../parts/states.js';
import { Paging, type Selection, Table, useChosen } from '../../parts/table.js';
import { QueueChoice } from '../queue/queue-choice.js';
import { useRunLinks } from '../workflows/links.js';
import { BulkButtons } from './bulk-buttons.js';
import { DeadLetterDialog } from './dead-letter-dialog.js';
import { countsOf, type DeadLetterPage, deadLetters, filterOf } from './dlq.js';
import { useEntryColumns } from './entry-columns.js';
import { StatusCounts } from './status-counts.js';

const FILTERS: readonly Filter[] = [
  { name: 'url', label: 'URL', placeholder: 'https://…' },
  { name: 'label', label: 'Label' },
  { name: 'responseStatus', label: 'Status', type: 'number', placeholder: '500' },
  { name: 'messageId', label: 'Message id', placeholder: 'msg_…', isRare: true },
  { name: 'queueName', label: 'Queue', isRare: true },
  { name: 'topicName', label: 'URL group', isRare: true },
  { name: 'scheduleId', label: 'Schedule', isRare: true },
  { name: 'flowControlKey', label: 'Flow-control key', isRare: true },
  { name: 'priority', label: 'Priority', placeholder: 'high', isRare: true },
  { name: 'callerIp', label: 'Caller', placeholder: '127.0.0.1', isRare: true },
  { name: 'fromDate', label: 'Failed from', type: 'datetime-local', isRare: true },
  { name: 'toDate', label: 'Failed to', type: 'datetime-local', isRare: true },
];

export default function DeadLetters() {
  const queue = useQueue();
  return (
    <>
      <PageHead title="Dead letters">{queue.data !== undefined && <QueueChoice {...queue.data} />}</PageHead>
      <Shown asked={queue} rows={10}>
        {({ shown }) => <OfAccount key={shown.id} account={shown.id} />}
      </Shown>
    </>
  );
}

function OfAccount({ account }: { readonly account: string }) {
  const [query, set] = usePageQuery();
  const runs = useRunLinks();
  const { cursor, entry } = query;
  const filter = filterOf(query);
  const listed = JSON.stringify([account, filter, cursor]);
  const list = useAsk(listed, (signal) => deadLetters(account, filter, cursor, signal));
  // Without the status filter, so that the counts of the other statuses stay visible.
  const ofAll = { ...filter, responseStatus: undefined };
  const counts = useAsk(JSON.stringify([account, ofAll]), () => countsOf(account, ofAll));
  const chosen = useChosen(listed);
  const reload = () => {
    chosen.set(new Set());
    list.reload();
    counts.reload();
  };
  const happened = useWhenHappened(() => {
    if (cursor === undefined) list.reload();
    counts.reload();
  });
  useLive(`/v2/admin/queues/${account}/logs`, {
    log: (event) => {
      if ((event as { readonly state: string }).state === 'FAILED') happened();
    },
  });
  const failedRuns = useAsk(`failed runs ${account}`, () => ofQueue(account, 'GET /v2/workflows/dlq/counts'));
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <StatusCounts asked={counts} />
      {failedRuns.data !== undefined && failedRuns.data.total > 0 && (
        <p class="small muted list-head">
          Messages of workflows are not listed here:{' '}
          <a href={runs.list({ tab: 'failed' })}>{counted(failedRuns.data.total, 'failed run')}</a>
        </p>
      )}
      <FilterBar filters={FILTERS} />
      {mayChangeQueues.value && <BulkButtons {...{ account, filter, selection: chosen }} onDone={reload} />}
      <Shown asked={list} rows={10}>
        {(page) => <Entries {...{ page, isNarrowed }} selection={mayChangeQueues.value ? chosen : undefined} />}
      </Shown>
      <Paging
        text={list.data === undefined ? '' : `${list.data.messages.length} ${cursor === undefined ? 'newest' : 'more'}`}
        onFirst={cursor === undefined ? undefined : () => set({ cursor: '' }, false)}
        onNext={list.data?.cursor === undefined ? undefined : () => set({ cursor: list.data?.cursor }, false)}
      />
      {entry !== undefined && (
        <DeadLetterDialog
          key={entry}
          {...{ account, id: entry }}
          onClose={() => set({ entry: undefined })}
          onDone={reload}
        />
      )}
    </>
  );
}

interface EntriesProps {
  readonly page: DeadLetterPage;
  readonly isNarrowed: boolean;
  readonly selection: Selection<string> | undefined;
}

function Entries({ page, isNarrowed, selection }: EntriesProps) {
  const columns = useEntryColumns();
  return (
    <Table
      label="Dead letters"
      columns={columns}
      rows={page.messages}
      idOf={({ dlqId }) => dlqId}
      selection={selection}
      empty={
        isNarrowed ? (
          <Empty title="No dead letter meets these filters" />
        ) : (
          <Empty title="There are no dead letters">Messages without retries left are listed here.</Empty>
        )
      }
    />
  );
}
