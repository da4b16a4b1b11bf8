/** Messages by state, with counts, filters and a drawer for each; new ones appear automatically. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAsk } from '../../../api/ask.js';
import { queryText } from '../../../api/call.js';
import { useLive, useWhenHappened } from '../../../api/live.js';
import { usePageQuery } from '../../../api/query.js';
import { mayChangeQueues } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import type { Filter } from '../../../parts/filter-bar.js';
import { FilterChips } from '../../../parts/filter-chips.js';
import { short } from '../../../parts/format.js';
import { KeyHints, type PageKey, useKeys } from '../../../parts/keys.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Paging, type Selection, Table, useChosen } from '../../../parts/table.js';
import { useTab } from '../../../parts/tabs.js';
import { useLinks } from '../links.js';
import { NothingYet } from '../nothing-yet.js';
import type { TabProps } from '../tab.js';
import { CancelMessages } from './cancel-messages.js';
import { useMessageColumns } from './message-columns.js';
import { MessageDrawer } from './message-drawer.js';
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
  { name: 'flowControlKey', label: 'Flow-control key' },
  { name: 'priority', label: 'Priority', placeholder: 'high' },
  { name: 'topicName', label: 'URL group' },
  { name: 'scheduleId', label: 'Schedule' },
  { name: 'callerIp', label: 'Caller', placeholder: '127.0.0.1' },
  { name: 'fromDate', label: 'From', type: 'datetime-local' },
  { name: 'toDate', label: 'To', type: 'datetime-local' },
];
const OF_FAILED: Filter = { name: 'responseStatus', label: 'Status', type: 'number', placeholder: '500' };
/** Interval of counts from the log, which take longer than a list. */
const ENDED_EVERY_MS = 30_000;
const ENDED: ReadonlySet<StateId> = new Set(['delivered', 'failed', 'cancelled']);

export function MessagesTab({ account }: TabProps) {
  const [query, set] = usePageQuery();
  const state = useChosenState();
  const { cursor } = query;
  const { list, counts, key, reload } = useMessages(account, state);
  const chosen = useChosen(key);
  const happened = useWhenHappened(reload);
  const live = useLive(`/v2/admin/queues/${account}/logs`, { log: happened });
  const mayCancel = mayChangeQueues.value && !ENDED.has(state);
  return (
    <>
      <FilterChips
        list="messages"
        filters={state === 'failed' ? [OF_FAILED, ...FILTERS] : FILTERS}
        alsoSaved={['state']}
      >
        <StateChoice counts={counts} />
      </FilterChips>
      <div class="row between list-head">
        <span role="status">
          {cursor === undefined && <Badge tone={live === 'live' ? 'good' : 'warn'}>{LIVE[live]}</Badge>}
        </span>
        {mayCancel && (
          <CancelMessages {...{ account, state, selection: chosen }} filter={filterOf(query, state)} onDone={reload} />
        )}
      </div>
      <Shown asked={list} rows={10}>
        {(page) => <MessageTable {...{ account, page, state }} selection={mayCancel ? chosen : undefined} />}
      </Shown>
      <Paging
        text={list.data === undefined ? '' : pageText(list.data, cursor !== undefined)}
        onFirst={cursor === undefined ? undefined : () => set({ cursor: '' }, false)}
        onNext={list.data?.cursor === undefined ? undefined : () => set({ cursor: list.data?.cursor }, false)}
      />
    </>
  );
}

/** The page of messages and the counts of all states. Rows are loaded first: counts wait for them. */
function useMessages(account: string, state: StateId) {
  const [query] = usePageQuery();
  const { cursor } = query;
  const filter = filterOf(query, state);
  const ofAll = filterOf(query, 'all');
  // Counts of unfinished messages may be part of the answer with the rows.
  const listing = useRef<Promise<MessagePage | undefined>>(Promise.resolve(undefined));
  const key = JSON.stringify([account, state, filter, cursor]);
  const list = useAsk(key, (signal) => {
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
  const reload = () => {
    if (cursor === undefined) list.reload();
    else listing.current = Promise.resolve(undefined);
    counts.reload();
  };
  return { list, counts: { ...counts.data, ...ended.data }, key, reload };
}

const LIVE = { connecting: 'connecting', live: 'live', lost: 'connecting again' } as const;

function pageText({ rows, cursor }: MessagePage, isLater: boolean): string {
  if (rows.length === 0) return '';
  return `${rows.length} ${isLater ? 'more' : 'newest'}${cursor === undefined ? ', the last' : ''}`;
}

interface TableProps {
  readonly account: string;
  readonly page: MessagePage;
  readonly state: StateId;
  readonly selection: Selection<string> | undefined;
}

/** The open message is in the address. */
function MessageTable({ account, page, state, selection }: TableProps) {
  const [query, set] = usePageQuery();
  const { open } = query;
  const links = useLinks();
  const hrefOf = (id: string) => links.queue({ ...query, open: id });
  const columns = useMessageColumns(state, hrefOf);
  const reached = useSignal<string | undefined>(undefined);
  const current = open ?? reached.value;
  useEffect(() => {
    if (current !== undefined) document.querySelector('tr[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const step = (by: number) => () => {
    const at = page.rows.findIndex(({ id }) => id === current);
    const next = page.rows[at < 0 ? 0 : at + by]?.id;
    if (next === undefined) return;
    reached.value = next;
    if (open !== undefined) set({ open: next });
  };
  const steps: PageKey[] = [
    { key: 'j', label: 'next', run: step(1) },
    { key: 'k', label: 'previous', run: step(-1) },
  ];
  const keys: PageKey[] = [
    ...steps,
    { key: 'Enter', label: 'open', run: () => current !== undefined && set({ open: current }, false) },
  ];
  useKeys(keys);
  return (
    <>
      <Table
        label="Messages"
        columns={columns}
        rows={page.rows}
        idOf={({ id }) => id}
        {...{ selection, current }}
        empty={<NoMessages state={state} />}
      />
      {page.rows.length > 0 && <KeyHints keys={keys} />}
      {open !== undefined && (
        <MessageDrawer
          {...{ account, id: open, keys: steps, hrefOf }}
          onClose={() => {
            reached.value = open;
            set({ open: undefined });
          }}
        />
      )}
    </>
  );
}

function NoMessages({ state }: { readonly state: StateId }) {
  const [query] = usePageQuery();
  const links = useLinks();
  if ([OF_FAILED, ...FILTERS].some(({ name }) => query[name])) return <Empty title="No message meets these filters" />;
  if (state === 'failed')
    return <Empty title="No failed messages">Messages without retries left are listed here.</Empty>;
  if (state !== 'all') return <Empty title={`No message is ${state}`} />;
  return (
    <NothingYet title="There are no messages yet" call="/v2/publish/https://example.com -d hello">
      {mayChangeQueues.value && <a href={links.queue({ tab: 'publish' })}>Publish one</a>}
    </NothingYet>
  );
}

/** The state of the listed messages: one choice in the filter bar, with the number of messages in each state. */
interface StateChoiceProps {
  /** Numbers, or texts such as `12 in 1 h`. */
  readonly counts: Partial<Record<StateId, number | string | undefined>>;
}

function useChosenState(): StateId {
  return useTab(STATES, 'state') as StateId;
}

function StateChoice({ counts }: StateChoiceProps) {
  const { path, query } = useLocation();
  const current = useChosenState();
  return (
    <nav class="state-choice" aria-label="States of messages">
      {STATES.map(({ id, label }) => {
        const count = counts[id];
        const href =
          path + queryText({ ...query, cursor: undefined, open: undefined, state: id === 'all' ? undefined : id });
        return (
          <a key={id} href={href} aria-current={id === current ? 'page' : undefined}>
            {id !== 'all' && <i class={`dot of-${id}`} />}
            {label}
            {count !== undefined && count !== 0 && (
              <span class="count">{typeof count === 'number' ? short(count) : count}</span>
            )}
          </a>
        );
      })}
    </nav>
  );
}
