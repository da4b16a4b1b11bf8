/** Name, limits and deletion of a search database. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Asked } from '../../api/ask.js';
import { manage, queryText } from '../../api/call.js';
import { TextField } from '../../parts/field.js';
import { bytes, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import type { Held } from './held.js';
import { IndexActions } from './index-actions.js';
import { bound, deleteDatabase, type SearchDatabase } from './search-databases.js';

export interface SettingsProps {
  readonly database: SearchDatabase;
  readonly held: Asked<Held>;
  onChanged(): void;
}

export function IndexSettings({ database, held, onChanged }: SettingsProps) {
  const { route } = useLocation();
  const remove = async () => {
    if (await deleteDatabase(database)) route('/console/search');
  };
  return (
    <div class="stack">
      <Rename database={database} onChanged={onChanged} />
      <Indexes database={database} held={held} />
      <Limits database={database} />
      <section class="card row between">
        <div>
          <h2>Delete</h2>
          <p class="muted">With all its indexes and documents. It cannot be taken back.</p>
        </div>
        <button type="button" class="button danger" onClick={remove}>
          Delete the search database
        </button>
      </section>
    </div>
  );
}

function Indexes({ database, held }: Omit<SettingsProps, 'onChanged'>) {
  return (
    <div class="stack tight">
      <h2>Indexes</h2>
      <Shown asked={held}>
        {({ indexes }) => (
          <Table
            label="Indexes"
            rows={indexes}
            idOf={({ name }) => name}
            empty={<Empty title="No index yet">Its first document makes one.</Empty>}
            columns={[
              {
                title: 'Name',
                cell: ({ name }) => (
                  <a class="wrap-anywhere search-name" dir="auto" href={queryText({ tab: 'documents', index: name })}>
                    {name}
                  </a>
                ),
              },
              { title: 'Documents', isNumber: true, cell: ({ documents }) => whole(documents) },
              {
                title: 'Actions',
                cell: ({ name }) => <IndexActions database={database} index={name} onChanged={held.reload} />,
              },
            ]}
          />
        )}
      </Shown>
    </div>
  );
}

function Rename({ database, onChanged }: Omit<SettingsProps, 'held'>) {
  const name = useSignal(database.name);
  const save = async (event: Event) => {
    event.preventDefault();
    const options = { path: { id: database.id }, body: { name: name.value.trim() } };
    if (await doing(() => manage('POST /v2/search/{id}/rename', options), 'Renamed')) onChanged();
  };
  return (
    <form class="card stack" onSubmit={save}>
      <TextField label="Name" value={name} isRequired />
      <div>
        <button type="submit" class="button primary" disabled={name.value.trim() === database.name}>
          Rename
        </button>
      </div>
    </form>
  );
}

function Limits({ database: one }: { readonly database: SearchDatabase }) {
  const limits: readonly (readonly [string, string])[] = [
    ['Documents', bound(one.max_vector_count, whole)],
    ['Updates a day', bound(one.max_daily_updates, whole)],
    ['Queries a day', bound(one.max_daily_queries, whole)],
    ['Queries a second', bound(one.max_query_per_second, whole)],
    ['Writes a second', bound(one.max_writes_per_second, whole)],
    ['Documents of an upsert', bound(one.max_writes_per_request, whole)],
    ['Results of a query', bound(one.max_reads_per_request, whole)],
    ['Reranks a month', bound(one.max_monthly_reranks, whole)],
    ['Traffic a month', bound(one.max_monthly_bandwidth, bytes)],
  ];
  return (
    <section class="card stack">
      <h2>Limits of the plan {one.type}</h2>
      <dl class="facts">
        {limits.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
        <dt>Made</dt>
        <dd>
          <Time at={one.creation_time * 1_000} as="past" />
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{one.id}</code>
        </dd>
      </dl>
    </section>
  );
}
