/** The list of all databases, with plan, size and usage. */
import { useSignal } from '@preact/signals';
import type { Operations } from '#api';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayChangeDatabases, mayUseData } from '../../api/session.js';
import { StateBadge } from '../../parts/badge.js';
import { PrimaryButton } from '../../parts/button.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { bytes, short, whole } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { setter } from '../../parts/setter.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { NewDatabaseDialog } from './new-database.js';

const REFRESH_MS = 15_000;

type DatabaseView = Operations['GET /v2/kv/databases'][number];
type Use = Operations['GET /v2/kv/stats']['databases'][number];
type Row = DatabaseView & { readonly use: Use | undefined };

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Name',
    cell: ({ database_id, database_name }) => (
      <a class="wrap-anywhere" href={`/console/databases/${database_id}`}>
        {database_name}
      </a>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Keys', isNumber: true, cell: ({ use }) => (use === undefined ? '–' : whole(use.current_keys)) },
  { title: 'Size', isNumber: true, cell: ({ use }) => (use === undefined ? '–' : bytes(use.current_storage)) },
  {
    title: 'Requests this month',
    isNumber: true,
    isWideOnly: true,
    cell: ({ use }) => (use === undefined ? '–' : whole(use.total_monthly_requests)),
  },
  {
    title: 'Connections',
    isNumber: true,
    isWideOnly: true,
    cell: ({ use }) => (use === undefined ? '–' : short(use.current_connections)),
  },
  { title: 'Plan', isWideOnly: true, cell: ({ database_type }) => database_type },
  { title: 'Region', isWideOnly: true, cell: ({ primary_region, region }) => primary_region || region },
  { title: 'Made', isWideOnly: true, cell: ({ creation_time }) => <Time at={creation_time * 1_000} as="past" /> },
];

export default function Databases() {
  const isMaking = useSignal(false);
  const rows = useAsk('databases', rowsOf, REFRESH_MS);
  const [query] = usePageQuery();
  const isAllowed = mayChangeDatabases.value && mayUseData.value;
  const make = () => {
    isMaking.value = true;
  };
  return (
    <>
      <PageHead title="Databases">
        {isAllowed && (
          <PrimaryButton onClick={make}>
            <Icon name="plus" />
            New database
          </PrimaryButton>
        )}
      </PageHead>
      <FilterBar
        filters={[
          { name: 'find', label: 'Name or id' },
          {
            name: 'state',
            label: 'State',
            options: [
              ['', 'any'],
              ['active', 'active'],
              ['suspended', 'suspended'],
            ],
          },
        ]}
      />
      <Shown asked={rows}>
        {(all) => (
          <Table
            label="Databases"
            columns={COLUMNS}
            rows={all.filter((row) => isMet(row, query.find, query.state))}
            idOf={({ database_id }) => database_id}
            empty={<NoDatabase isAny={all.length > 0} />}
          />
        )}
      </Shown>
      {isMaking.value && <NewDatabaseDialog onClose={setter(isMaking, false)} />}
    </>
  );
}

function NoDatabase({ isAny }: { readonly isAny: boolean }) {
  if (isAny) return <Empty title="No database is like that">Take the filter away to see all of them.</Empty>;
  return <Empty title="There is no database yet" command="millrace db create --name shop" />;
}

async function rowsOf(signal: AbortSignal): Promise<readonly Row[]> {
  const [databases, { databases: uses }] = await Promise.all([
    manage('GET /v2/kv/databases', { signal }),
    manage('GET /v2/kv/stats', { signal, query: { period: '1h' } }),
  ]);
  const byId = new Map(uses.map((use) => [use.database_id, use]));
  return databases.map((database) => ({ ...database, use: byId.get(database.database_id) }));
}

function isMet({ database_name, database_id, state }: Row, find = '', wanted = ''): boolean {
  const letters = find.toLowerCase();
  return (
    (wanted === '' || state === wanted) &&
    (database_name.toLowerCase().includes(letters) || database_id.includes(letters))
  );
}
