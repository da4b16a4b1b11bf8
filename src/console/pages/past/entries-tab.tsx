/** The journal entries of a database in order, or those of one key. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { counted, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import type { Entry, OneDatabase } from './moments.js';
import { lineOf } from './value-shapes.js';

const PAGE = 50;
const MAX_EFFECTS = 5;
const MAX_LINE = 500;

const FILTERS = [
  { name: 'key', label: 'Key', placeholder: 'user:1' },
  { name: 'since', label: 'Since', type: 'datetime-local' },
  { name: 'until', label: 'Until', type: 'datetime-local' },
] as const;

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'Time', cell: ({ time }) => <Time at={time} /> },
  {
    title: 'Entry',
    cell: ({ shard, position }) => (
      <>
        <code>{shard}</code> {whole(position)}
      </>
    ),
  },
  { title: 'Changes', cell: ({ effects }) => <Effects effects={effects} /> },
  { title: 'Hash', cell: ({ hash }) => <code title={hash}>{hash.slice(0, 12)}</code>, isWideOnly: true },
];

export function EntriesTab({ database }: { readonly database: OneDatabase }) {
  const [query, set] = usePageQuery();
  const { key, since, until, cursor } = query;
  const asked = useAsk(`entries ${database.database_id} ${JSON.stringify([key, since, until, cursor])}`, async () => {
    const from = cursor ?? (since ? new Date(since).toISOString() : undefined);
    const words = { key, from, to: until ? new Date(until).toISOString() : undefined, limit: String(PAGE) };
    const path = { id: database.database_id };
    return manage('GET /v2/admin/databases/{id}/timeline', { path, query: words });
  });
  return (
    <>
      <FilterBar filters={FILTERS} />
      <Shown asked={asked} rows={8}>
        {({ entries, more }) => (
          <>
            <Table
              label="Entries"
              columns={COLUMNS}
              rows={entries}
              idOf={({ shard, position }) => `${shard} ${position}`}
              empty={<Empty title="No entry of that kind is in the journal" />}
            />
            <Paging
              text={counted(entries.length, 'entry', 'entries')}
              onFirst={cursor === undefined ? undefined : () => set({ cursor: undefined })}
              onNext={more ? () => set({ cursor: nextOf(entries) }, false) : undefined}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** The first effects of a large entry. */
function Effects({ effects }: { readonly effects: readonly unknown[] }) {
  return (
    <div class="stack tight">
      {effects.slice(0, MAX_EFFECTS).map((effect, at) => (
        <code key={at} class="wrap-anywhere" dir="auto">
          {Array.isArray(effect) ? lineOf(effect).slice(0, MAX_LINE) : JSON.stringify(effect).slice(0, MAX_LINE)}
        </code>
      ))}
      {effects.length > MAX_EFFECTS && <span class="small muted">and {effects.length - MAX_EFFECTS} more</span>}
    </div>
  );
}

/** Entries of one journal continue by position; those of several, by time. */
function nextOf(entries: readonly Entry[]): string | undefined {
  const last = entries.at(-1);
  const isOne = entries.every(({ shard }) => shard === last?.shard);
  return last && (isOne ? String(last.position + 1) : new Date(Date.parse(last.time) + 1).toISOString());
}
