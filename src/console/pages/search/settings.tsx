/** Name, parts, limits and deletion of an index. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Asked } from '../../api/ask.js';
import { queryText } from '../../api/call.js';
import { DangerButton } from '../../parts/button.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { bytes, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { PartActions } from './part-actions.js';
import { bound, deleteIndex, type IndexContent, type IndexPlane, type IndexRecord, shownPart } from './plane.js';

export interface SettingsProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly content: Asked<IndexContent>;
  onChanged(): void;
}

export function IndexSettings({ plane, database, content, onChanged }: SettingsProps) {
  const { route } = useLocation();
  const remove = async () => {
    if (await deleteIndex(plane, database)) route(plane.href);
  };
  return (
    <div class="stack">
      <Rename plane={plane} database={database} onChanged={onChanged} />
      <PartList plane={plane} database={database} content={content} />
      <Limits plane={plane} database={database} />
      <section class="card row between">
        <div>
          <h2>Delete</h2>
          <p class="muted">With all its {plane.item}s. It cannot be taken back.</p>
        </div>
        <DangerButton onClick={remove}>Delete the {plane.name}</DangerButton>
      </section>
    </div>
  );
}

function PartList({ plane, database, content }: Omit<SettingsProps, 'onChanged'>) {
  const title = plane.part === 'index' ? 'Indexes' : 'Namespaces';
  return (
    <div class="stack tight">
      <h2>{title}</h2>
      <Shown asked={content}>
        {({ parts }) => (
          <Table
            label={title}
            rows={parts}
            idOf={({ name }) => name}
            empty={<Empty title={`No ${plane.part} yet`}>Its first {plane.item} makes one.</Empty>}
            columns={[
              {
                title: 'Name',
                cell: ({ name }) => (
                  <a class="wrap-anywhere search-name" dir="auto" href={queryText({ index: name })}>
                    {shownPart(name)}
                  </a>
                ),
              },
              {
                title: plane.item === 'vector' ? 'Vectors' : 'Documents',
                isNumber: true,
                cell: ({ items }) => whole(items),
              },
              {
                title: 'Actions',
                cell: ({ name }) => (
                  <PartActions plane={plane} database={database} part={name} onChanged={content.reload} />
                ),
              },
            ]}
          />
        )}
      </Shown>
    </div>
  );
}

function Rename({ plane, database, onChanged }: Omit<SettingsProps, 'content'>) {
  const name = useSignal(database.name);
  const save = async (event: Event) => {
    event.preventDefault();
    if (await doing(() => plane.rename(database.id, name.value.trim()), 'Renamed')) onChanged();
  };
  return (
    <form class="card stack" onSubmit={save}>
      <TextField label="Name" value={name} isRequired />
      <SubmitRow isDisabled={name.value.trim() === database.name}>Rename</SubmitRow>
    </form>
  );
}

function Limits({ plane, database: one }: Pick<SettingsProps, 'plane' | 'database'>) {
  const items = plane.item === 'vector' ? 'Vectors' : 'Documents';
  const limits: readonly (readonly [string, string])[] = [
    [items, bound(one.max_vector_count, whole)],
    ['Updates a day', bound(one.max_daily_updates, whole)],
    ['Queries a day', bound(one.max_daily_queries, whole)],
    ['Queries a second', bound(one.max_query_per_second, whole)],
    ['Writes a second', bound(one.max_writes_per_second, whole)],
    [`${items} of an upsert`, bound(one.max_writes_per_request, whole)],
    ['Results of a query', bound(one.max_reads_per_request, whole)],
    ...('max_monthly_reranks' in one ? [['Reranks a month', bound(one.max_monthly_reranks, whole)] as const] : []),
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
