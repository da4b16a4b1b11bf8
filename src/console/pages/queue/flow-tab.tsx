/** Flow-control keys: limits, running and waiting messages, pause and resume. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { whole } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { setter } from '../../parts/setter.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { FlowActions } from './flow-actions.js';
import { useLinks } from './links.js';
import { NothingYet } from './nothing-yet.js';
import { PinFlow } from './pin-flow.js';
import type { Flow, TabProps } from './tab.js';

const EVERY_MS = 5_000;
/** Keys shown; others are found by name. */
const MAX_DRAWN_KEYS = 500;

export function FlowTab({ account }: TabProps) {
  const [{ search }] = usePageQuery();
  const global = useAsk(`global ${account}`, () => ofQueue(account, 'GET /v2/globalParallelism'), EVERY_MS);
  const asked = useAsk(
    `${account} ${search ?? ''}`,
    () => ofQueue(account, 'GET /v2/flowControl', { query: { search } }),
    EVERY_MS,
  );
  const pinned = useSignal<Flow | 'new' | undefined>(undefined);
  const columns = useColumns(account, asked.reload, (flow) => {
    pinned.value = flow;
  });
  const reload = () => {
    pinned.value = undefined;
    asked.reload();
  };
  return (
    <>
      <Shown asked={global} rows={1}>
        {({ parallelismCount, parallelismMax }) => (
          <p class="list-head">
            <strong>{whole(parallelismCount)}</strong> of {whole(parallelismMax)} attempts of the whole account are
            under way.
          </p>
        )}
      </Shown>
      <FilterBar filters={[{ name: 'search', label: 'Key contains' }]}>
        {mayChangeQueues.value && (
          <Button onClick={setter(pinned, 'new')}>
            <Icon name="plus" />
            Set up a key
          </Button>
        )}
      </FilterBar>
      <Shown asked={asked}>{(flows) => <FlowTable flows={flows} columns={columns} />}</Shown>
      {pinned.value !== undefined && (
        <PinFlow account={account} flow={pinned.value === 'new' ? undefined : pinned.value} onClose={reload} />
      )}
    </>
  );
}

function FlowTable({ flows, columns }: { readonly flows: readonly Flow[]; readonly columns: readonly Column<Flow>[] }) {
  const left = flows.length - MAX_DRAWN_KEYS;
  return (
    <>
      <Table
        label="Flow-control keys"
        columns={columns}
        rows={flows.slice(0, MAX_DRAWN_KEYS)}
        idOf={({ flowControlKey }) => flowControlKey}
        empty={
          <NothingYet
            title="There is no such key"
            call="/v2/publish/https://example.com -H 'Svc-Flow-Control-Key: shop' -H 'Svc-Flow-Control-Value: parallelism=2' -d hello"
          >
            A key is there as soon as a message names it, and for an hour after the last one.
          </NothingYet>
        }
      />
      {left > 0 && <p class="table-foot">{whole(left)} more keys: narrow the list by their names.</p>}
    </>
  );
}

function useColumns(account: string, onDone: () => void, onPin: (flow: Flow) => void): readonly Column<Flow>[] {
  const links = useLinks();
  return [
    {
      title: 'Key',
      cell: ({ flowControlKey, isPaused, isPinnedParallelism, isPinnedRate }) => (
        <span class="row">
          <a class="wrap-anywhere" dir="auto" href={links.queue({ flowControlKey })}>
            {flowControlKey}
          </a>
          {isPaused && <Badge>paused</Badge>}
          {(isPinnedParallelism || isPinnedRate) && <Badge tone="accent">pinned</Badge>}
        </span>
      ),
    },
    { title: 'Waiting', isNumber: true, cell: ({ waitListSize }) => whole(waitListSize) },
    {
      title: 'Running',
      isNumber: true,
      cell: ({ parallelismCount, parallelismMax }) => ofLimit(parallelismCount, parallelismMax),
    },
    {
      title: 'Started',
      isNumber: true,
      isWideOnly: true,
      cell: ({ rateCount, rateMax, ratePeriod }) =>
        rateMax === 0 ? 'no limit' : `${ofLimit(rateCount, rateMax)} in ${ratePeriod} s`,
    },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            cell: (flow: Flow) => <FlowActions {...{ account, flow, onDone }} onPin={() => onPin(flow)} />,
          },
        ]
      : []),
  ];
}

/** A maximum of 0 means no limit. */
function ofLimit(count: number, max: number): string {
  return max === 0 ? whole(count) : `${whole(count)} of ${whole(max)}`;
}
