/** The audit log: actor, action, object, key and address of each change; and its export. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { FilterBar } from '../../parts/filter-bar.js';
import { counted } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { AuditExport } from './audit-export.js';

const PAGE = 50;

const FILTERS = [
  { name: 'actor', label: 'Who', placeholder: 'ada@example.com' },
  { name: 'action', label: 'Did', placeholder: 'Run Commands' },
  { name: 'entity', label: 'To', placeholder: 'a part of a name' },
  { name: 'since', label: 'Since', type: 'datetime-local' },
  { name: 'until', label: 'Until', type: 'datetime-local' },
] as const;

interface Line {
  readonly log_id: string;
  readonly actor: string;
  readonly timestamp: number;
  readonly action_string: string;
  readonly source: string;
  readonly entity: string;
  readonly secondary_entity: string;
  readonly third_entity: string;
  readonly ip: string;
}

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp * 1_000} /> },
  { title: 'Who', cell: ({ actor }) => <span class="wrap-anywhere">{actor}</span> },
  { title: 'Did', cell: ({ action_string }) => action_string },
  {
    title: 'To',
    cell: ({ entity, secondary_entity, third_entity }) => (
      <span class="wrap-anywhere" dir="auto">
        {[entity, secondary_entity, third_entity].filter((name) => name !== '').join(' · ')}
      </span>
    ),
  },
  { title: 'With', cell: ({ source }) => source, isWideOnly: true },
  { title: 'From', cell: ({ ip }) => <code>{ip}</code>, isWideOnly: true },
];

export function AuditTab() {
  const [query, set] = usePageQuery();
  const { actor, action, entity, since, until, cursor } = query;
  const asked = useAsk(`audit ${JSON.stringify(query)}`, () =>
    manage('GET /v2/auditlogs', {
      query: { actor, action, entity, from: secondsOf(since), to: secondsOf(until), cursor, count: String(PAGE) },
    }),
  );
  return (
    <>
      <FilterBar filters={FILTERS} />
      <Shown asked={asked} rows={8}>
        {(lines) => (
          <>
            <Table
              label="Audit log"
              columns={COLUMNS}
              rows={lines}
              idOf={({ log_id }) => log_id}
              empty={<Empty title="No changes of that kind" />}
            />
            <Paging
              text={counted(lines.length, 'line')}
              onFirst={cursor === undefined ? undefined : () => set({ cursor: undefined })}
              onNext={lines.length < PAGE ? undefined : () => set({ cursor: lines.at(-1)?.log_id }, false)}
            />
          </>
        )}
      </Shown>
      <AuditExport />
    </>
  );
}

function secondsOf(local: string | undefined): string | undefined {
  return local ? String(Math.floor(new Date(local).getTime() / 1_000)) : undefined;
}
