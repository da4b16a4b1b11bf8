/** All indexes of a plane in the account, with their totals of this month. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type Asked, useAsk } from '../../api/ask.js';
import { mayChangeIndexes, mayUseData } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { SmallDangerButton } from '../../parts/button.js';
import { bytes, short } from '../../parts/format.js';
import { NewButton } from '../../parts/icon.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { bound, deleteIndex, type IndexPlane, type IndexRecord } from './plane.js';

export const LIST_EVERY_MS = 15_000;

export interface IndexListProps<Row extends IndexRecord> {
  readonly plane: IndexPlane;
  readonly asked: Asked<readonly Row[]>;
  readonly columns?: readonly Column<Row>[];
  /** A call that makes one, and a sentence about it. */
  readonly sample: string;
  readonly about: string;
  /** The form for a new one. */
  form(onClose: () => void): ComponentChildren;
}

export function IndexList<Row extends IndexRecord>(props: IndexListProps<Row>) {
  const { plane, asked, columns = [], sample, about, form } = props;
  const isMaking = useSignal(false);
  const mayMake = mayChangeIndexes.value && mayUseData.value;
  return (
    <>
      <PageHead title={plane.title}>{mayMake && <NewButton isMaking={isMaking}>New {plane.name}</NewButton>}</PageHead>
      <Totals plane={plane} />
      <Shown asked={asked} rows={4}>
        {(databases) => (
          <Table
            label={`${plane.title}: all`}
            columns={columnsWith(plane, columns, mayMake ? asked.reload : undefined)}
            rows={databases}
            idOf={({ id }) => id}
            empty={
              <Empty title={`No ${plane.name} yet`} command={sample}>
                {about}
              </Empty>
            }
          />
        )}
      </Shown>
      {isMaking.value &&
        form(() => {
          isMaking.value = false;
        })}
    </>
  );
}

function Totals({ plane }: { readonly plane: IndexPlane }) {
  const asked = useAsk(`totals ${plane.href}`, (signal) => plane.totals(signal), LIST_EVERY_MS);
  const totals = asked.data;
  const figures: readonly (readonly [string, string | undefined])[] = [
    [plane.item === 'vector' ? 'Vectors' : 'Documents', totals && short(totals.record_count)],
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

/** @param onDeleted undefined: no button for deletion */
function columnsWith<Row extends IndexRecord>(
  plane: IndexPlane,
  more: readonly Column<Row>[],
  onDeleted: (() => void) | undefined,
): readonly Column<Row>[] {
  return [
    {
      title: 'Name',
      cell: ({ id, name }) => (
        <a class="wrap-anywhere" dir="auto" href={`${plane.href}/${id}`}>
          {name}
        </a>
      ),
    },
    ...more,
    { title: 'Plan', cell: ({ type }) => <Badge>{type}</Badge> },
    {
      title: `${plane.item === 'vector' ? 'Vectors' : 'Documents'} at most`,
      isNumber: true,
      isWideOnly: true,
      cell: ({ max_vector_count }) => bound(max_vector_count, short),
    },
    { title: 'Region', isWideOnly: true, cell: ({ region }) => region },
    { title: 'Made', cell: ({ creation_time }) => <Time at={creation_time * 1_000} as="past" /> },
    ...(onDeleted === undefined ? [] : [deletion<Row>(plane, onDeleted)]),
  ];
}

function deletion<Row extends IndexRecord>(plane: IndexPlane, onDeleted: () => void): Column<Row> {
  const remove = async (row: Row) => {
    if (await deleteIndex(plane, row)) onDeleted();
  };
  return {
    title: 'Actions',
    isWideOnly: true,
    cell: (row) => <SmallDangerButton onClick={() => remove(row)}>Delete</SmallDangerButton>,
  };
}
