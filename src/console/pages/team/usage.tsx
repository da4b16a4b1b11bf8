/** Usage and costs of this month: the queue by day, databases and search in total; and the use of any month by object. */
import { useMemo } from 'preact/hooks';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { timesOf, valuesOf } from '../../api/points.js';
import { useQueue } from '../../api/queues.js';
import { maySeeAccount } from '../../api/session.js';
import { Chart } from '../../parts/chart.js';
import { bytes, short, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { UsageOfMonth } from './usage-of-month.js';

const EVERY_MS = 30_000;
/** The busiest databases are shown: an account may have thousands. */
const MAX_DRAWN = 100;

export function Usage() {
  const queue = useQueue();
  return (
    <div class="stack">
      <Shown asked={queue}>{({ shown }) => <OfQueue id={shown.id} />}</Shown>
      <OfDatabases />
      <OfSearch />
      {maySeeAccount.value && <UsageOfMonth />}
    </div>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
}

function Figures({ figures }: { readonly figures: readonly FigureProps[] }) {
  return (
    <div class="grid team-figures">
      {figures.map(({ label, value }) => (
        <div key={label} class="card">
          <div class="small muted">{label}</div>
          <div class="figure">{value}</div>
        </div>
      ))}
    </div>
  );
}

function OfQueue({ id }: { readonly id: string }) {
  const asked = useAsk(
    `queue month ${id}`,
    (signal) => manage('GET /v2/msgq/stats/{id}', { path: { id }, query: { period: '30d' }, signal }),
    EVERY_MS,
  );
  const days = asked.data?.daily_requests;
  const chart = useMemo(() => {
    // Future days are zeros.
    const past = (days ?? []).filter(({ x }) => timesOf([{ x, y: 0 }]).every((ms) => ms <= Date.now()));
    return {
      times: timesOf(past),
      series: [
        { label: 'requests', values: valuesOf(past) },
        { label: 'of workflows', values: past.map((day) => day.workflow_message) },
      ],
    };
  }, [days]);
  return (
    <div class="stack tight">
      <h2>Queue and workflows</h2>
      <Shown asked={asked}>
        {(month) => (
          <>
            <Figures
              figures={[
                { label: 'Messages', value: short(month.daily_requests.reduce((sum, { y }) => sum + y, 0)) },
                {
                  label: 'Runs of workflows',
                  value: short(month.daily_requests.reduce((sum, day) => sum + day.workflow_run, 0)),
                },
                { label: 'Traffic', value: bytes(valuesOf(month.daily_bandwidths).reduce((sum, one) => sum + one, 0)) },
                { label: 'Comes to', value: dollars(month.total_monthly_billing) },
              ]}
            />
            <div class="card">
              <Chart title="Requests a day" {...chart} />
            </div>
          </>
        )}
      </Shown>
    </div>
  );
}

interface UseOfDatabase {
  readonly id: string;
  readonly name: string;
  readonly commands: number;
  readonly traffic: number;
  readonly stored: number;
  readonly keys: number;
}

const COLUMNS: readonly Column<UseOfDatabase>[] = [
  {
    title: 'Database',
    cell: ({ id, name }) => (
      <a class="wrap-anywhere" dir="auto" href={`/console/databases/${id}`}>
        {name}
      </a>
    ),
  },
  { title: 'Commands', isNumber: true, cell: ({ commands }) => whole(commands) },
  { title: 'Traffic', isNumber: true, cell: ({ traffic }) => bytes(traffic) },
  { title: 'Stored', isNumber: true, isWideOnly: true, cell: ({ stored }) => bytes(stored) },
  { title: 'Keys', isNumber: true, isWideOnly: true, cell: ({ keys }) => whole(keys) },
];

function OfDatabases() {
  const asked = useAsk('databases month', databasesOfMonth, EVERY_MS);
  return (
    <div class="stack tight">
      <h2>Databases</h2>
      <Shown asked={asked}>
        {(rows) => (
          <>
            <Table
              label="Databases"
              columns={COLUMNS}
              rows={rows.slice(0, MAX_DRAWN)}
              idOf={({ id }) => id}
              empty={<Empty title="No database yet" />}
            />
            {rows.length > MAX_DRAWN && (
              <p class="small muted">{`The busiest ${MAX_DRAWN} of ${whole(rows.length)}.`}</p>
            )}
          </>
        )}
      </Shown>
    </div>
  );
}

/** The busiest first. */
async function databasesOfMonth(signal: AbortSignal): Promise<readonly UseOfDatabase[]> {
  const [databases, { databases: uses }] = await Promise.all([
    manage('GET /v2/kv/databases', { signal }),
    manage('GET /v2/kv/stats', { signal }),
  ]);
  const byId = new Map(uses.map((use) => [use.database_id, use]));
  return databases
    .map(({ database_id: id, database_name: name }) => {
      const use = byId.get(id);
      return {
        id,
        name,
        commands: use?.total_monthly_requests ?? 0,
        traffic: use?.total_monthly_bandwidth ?? 0,
        stored: use?.current_storage ?? 0,
        keys: use?.current_keys ?? 0,
      };
    })
    .sort((a, b) => b.commands - a.commands);
}

function OfSearch() {
  const asked = useAsk('search month', (signal) => manage('GET /v2/search/stats', { signal }), EVERY_MS);
  return (
    <div class="stack tight">
      <h2>Search</h2>
      <Shown asked={asked}>
        {(month) => (
          <Figures
            figures={[
              { label: 'Requests', value: short(month.request) },
              { label: 'Documents', value: short(month.record_count) },
              { label: 'Traffic', value: bytes(month.bandwidth) },
              { label: 'Comes to', value: dollars(month.billing) },
            ]}
          />
        )}
      </Shown>
    </div>
  );
}

function dollars(value: number): string {
  return `$${value.toFixed(2)}`;
}
