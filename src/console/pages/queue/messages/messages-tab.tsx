/** Messages by state, with counts and filters; new ones appear automatically. */
import { useRef } from 'preact/hooks';
import { useAsk } from '../../../api/ask.js';
import { useLive, useWhenHappened } from '../../../api/live.js';
import { usePageQuery } from '../../../api/query.js';
import { mayChange } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { type Filter, FilterBar } from '../../../parts/filter-bar.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Paging, type Selection, Table, useChosen } from '../../../parts/table.js';
import { Tabs, useTab } from '../../../parts/tabs.js';
import { useLinks } from '../links.js';
import { NothingYet } from '../nothing-yet.js';
import type { TabProps } from '../tab.js';
import { CancelMessages } from './cancel-messages.js';
import { useMessageColumns } from './message-columns.js';
import {
  endedCounts,
  filterOf,
  type MessagePage,
  messageCounts,
  messagePage,
  STATES,
  type StateId,
} from './message-rows.js';

const FILTERS: readonly Filter[] = [
  { name: 'url', label: 'URL, /path or host', placeholder: 'https://…' },
  { name: 'label', label: 'Label' },
  { name: 'queueName', label: 'Queue' },
  { name: 'flowControlKey', label: 'Flow-control key', isRare: true },
  { name: 'topicName', label: 'URL group', isRare: true },
  { name: 'scheduleId', label: 'Schedule', isRare: true },
  { name: 'callerIp', label: 'Caller', placeholder: '127.0.0.1', isRare: true },
  { name: 'fromDate', label: 'From', type: 'datetime-local', isRare: true },
  { name: 'toDate', label: 'To', type: 'datetime-local', isRare: true },
];
const OF_FAILED: Filter = { name: 'responseStatus', label: 'Status', type: 'number', placeholder: '500' };
/** Interval of counts from the log, which take longer than a list. */
const ENDED_EVERY_MS = 30_000;
const KEPT = FILTERS.map(({ name }) => name);

export function MessagesTab({ account }: TabProps) {
  const [query, set] = usePageQuery();
  const state = useTab(STATES, 'state') as StateId;
  const filter = filterOf(query, state);
  const { cursor } = query;
  const ofAll = filterOf(query, 'all');
  // Rows are loaded first: counts wait for them, and may be part of their answer.
  const listing = useRef<Promise<MessagePage | undefined>>(Promise.resolve(undefined));
  const listed = JSON.stringify([account, state, filter, cursor]);
  const list = useAsk(listed, (signal) => {
    const page = messagePage(account, state, filter, cursor, signal);
    listing.current = page.catch(() => undefined);
    return page;
  });
  const counts = useAsk(JSON.stringify([account, ofAll]), async () =>
    messageCounts(account, ofAll, (await listing.current)?.counts),
  );
  const ended = useAsk(
    JSON.stringify([account, ofAll]),
    () => listing.current.then(() => endedCounts(account, ofAll)),
    ENDED_EVERY_MS,
  );
  const chosen = useChosen(listed);
  const reload = () => {
    if (cursor === undefined) list.reload();
    else listing.current = Promise.resolve(undefined);
    counts.reload();
  };
  const happened = useWhenHappened(reload);
  const live = useLive(`/v2/admin/queues/${account}/logs`, { log: happened });
  const tabs = STATES.map(({ id, label }) => ({ id, label, count: ended.data?.[id] ?? counts.data?.[id] }));
  const mayCancel = mayChange.value && !['delivered', 'failed', 'cancelled'].includes(state);
  return (
    <>
      <Tabs label="States of messages" name="state" tabs={tabs} keep={KEPT} />
      <FilterBar key={state} filters={state === 'failed' ? [OF_FAILED, ...FILTERS] : FILTERS} />
      <div class="row between list-head">
        <span role="status">
          {cursor === undefined && <Badge tone={live === 'live' ? 'good' : 'warn'}>{LIVE[live]}</Badge>}
        </span>
        {mayCancel && (
          <CancelMessages {...{ account, state, selection: chosen }} filter={filterOf(query, state)} onDone={reload} />
        )}
      </div>
      <Shown asked={list} rows={10}>
        {(page) => <MessageTable {...{ page, state }} selection={mayCancel ? chosen : undefined} />}
      </Shown>
      <Paging
        text={list.data === undefined ? '' : pageText(list.data, cursor !== undefined)}
        onFirst={cursor === undefined ? undefined : () => set({ cursor: '' }, false)}
        onNext={list.data?.cursor === undefined ? undefined : () => set({ cursor: list.data?.cursor }, false)}
      />
    </>
  );
}

const LIVE = { connecting: 'connecting', live: 'live', lost: 'connecting again' } as const;

function pageText({ rows, cursor }: MessagePage, isLater: boolean): string {
  if (rows.length === 0) return '';
  return `${rows.length} ${isLater ? 'more' : 'newest'}${cursor === undefined ? ', the last' : ''}`;
}

interface TableProps {
  readonly page: MessagePage;
  readonly state: StateId;
  readonly selection: Selection<string> | undefined;
}

function MessageTable({ page, state, selection }: TableProps) {
  const columns = useMessageColumns(state);
  return (
    <Table
      label="Messages"
      columns={columns}
      rows={page.rows}
      idOf={({ id }) => id}
      selection={selection}
      empty={<NoMessages state={state} />}
    />
  );
}

function NoMessages({ state }: { readonly state: StateId }) {
  const [query] = usePageQuery();
  const links = useLinks();
  if (KEPT.some((name) => query[name])) return <Empty title="No message meets these filters" />;
  if (state === 'failed')
    return <Empty title="No failed messages">Messages without retries left are listed here.</Empty>;
  if (state !== 'all') return <Empty title={`No message is ${state}`} />;
  return (
    <NothingYet title="There are no messages yet" call="/v2/publish/https://example.com -d hello">
      {mayChange.value && <a href={links.queue({ tab: 'publish' })}>Publish one</a>}
    </NothingYet>
  );
}
