/** All search databases of the account, with totals, and creating one. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChange, mayUseData } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { bytes, short } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { NewSearch } from './new-search.js';
import { bound, deleteDatabase, type SearchDatabase, searchHref } from './search-databases.js';

const EVERY_MS = 15_000;
const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/search -d '{"name":"papers","region":"eu-west-1","type":"payg"}'`;

export default function Indexes() {
  const isMaking = useSignal(false);
  const asked = useAsk('search', (signal) => manage('GET /v2/search', { signal }), EVERY_MS);
  const mayMake = mayChange.value && mayUseData.value;
  return (
    <>
      <PageHead title="Search">
        {mayMake && (
          <button
            type="button"
            class="button primary"
            onClick={() => {
              isMaking.value = true;
            }}
          >
            <Icon name="plus" />
            New search database
          </button>
        )}
      </PageHead>
      <Totals />
      <Shown asked={asked} rows={4}>
        {(databases) => (
          <Table
            label="Search databases"
            columns={columnsWith(mayMake, asked.reload)}
            rows={databases}
            idOf={({ id }) => id}
            empty={
              <Empty title="No search database yet" command={SAMPLE}>
                A search database holds named indexes of documents. The first document makes its index.
              </Empty>
            }
          />
        )}
      </Shown>
      {isMaking.value && (
        <NewSearch
          onClose={() => {
            isMaking.value = false;
          }}
        />
      )}
    </>
  );
}

/** Totals of all databases in this month. */
function Totals() {
  const asked = useAsk('search totals', (signal) => manage('GET /v2/search/stats', { signal }), EVERY_MS);
  const totals = asked.data;
  const figures: readonly (readonly [string, string | undefined])[] = [
    ['Documents', totals && short(totals.record_count)],
    ['Stored', totals && bytes(totals.storage)],
    ['Requests this month', totals && short(totals.request)],
    ['Traffic this month', totals && bytes(totals.bandwidth)],
  ];
  return (
    <div class="grid search-figures" style={{ marginBottom: 'var(--s4)' }}>
      {figures.map(([label, value = '–']) => (
        <div key={label} class="card">
          <div class="small muted">{label}</div>
          <div class="figure">{value}</div>
        </div>
      ))}
    </div>
  );
}

function columnsWith(mayDelete: boolean, onDone: () => void): readonly Column<SearchDatabase>[] {
  const remove = async (database: SearchDatabase) => {
    if (await deleteDatabase(database)) onDone();
  };
  return [
    {
      title: 'Name',
      cell: ({ id, name }) => (
        <a class="wrap-anywhere" dir="auto" href={searchHref(id)}>
          {name}
        </a>
      ),
    },
    { title: 'Plan', cell: ({ type }) => <Badge>{type}</Badge> },
    {
      title: 'Documents at most',
      isNumber: true,
      isWideOnly: true,
      cell: ({ max_vector_count }) => bound(max_vector_count, short),
    },
    { title: 'Region', isWideOnly: true, cell: ({ region }) => region },
    { title: 'Made', cell: ({ creation_time }) => <Time at={creation_time * 1_000} as="past" /> },
    ...(mayDelete
      ? [
          {
            title: 'Actions',
            isWideOnly: true,
            cell: (database: SearchDatabase) => (
              <button type="button" class="button small danger" onClick={() => remove(database)}>
                Delete
              </button>
            ),
          },
        ]
      : []),
  ];
}
