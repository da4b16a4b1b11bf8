/** The use of a month by database, queue account and index, with their labels, and as a table for spreadsheets. */
import type { Operations } from '#api';
import { useAsk } from '../../api/ask.js';
import { manage, queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import { bytes, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';

/** The present month and the 12 before it: the statistics keep days for 400 days. */
const MONTHS = 13;
/** An account may have thousands; the file has all. */
const MAX_DRAWN = 100;
const MONTH_NAME = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long', timeZone: 'UTC' });

type Use = Operations['GET /v2/usage']['rows'][number];

const COLUMNS: readonly Column<Use>[] = [
  {
    title: 'Name',
    cell: ({ kind, name }) => (
      <span class="wrap-anywhere" dir="auto">
        {name} <Badge>{kind}</Badge>
      </span>
    ),
  },
  {
    title: 'Labels',
    cell: ({ labels }) => (
      <span class="small muted wrap-anywhere" dir="auto">
        {Object.entries(labels)
          .map(([name, value]) => `${name}: ${String(value)}`)
          .join(', ')}
      </span>
    ),
  },
  { title: 'Requests', isNumber: true, cell: ({ requests }) => whole(requests) },
  {
    title: 'Messages',
    isNumber: true,
    isWideOnly: true,
    cell: ({ messages }) => messages !== undefined && whole(messages),
  },
  {
    title: 'Stored',
    isNumber: true,
    isWideOnly: true,
    cell: ({ stored_bytes: stored }) => stored !== undefined && bytes(stored),
  },
  { title: 'Traffic', isNumber: true, cell: ({ transferred_bytes: traffic }) => bytes(traffic) },
  {
    title: 'Of the daily quota',
    isNumber: true,
    isWideOnly: true,
    cell: ({ quota_used_percent: percent }) => percent !== undefined && `${percent} %`,
  },
];

export function UsageOfMonth() {
  const [query, set] = usePageQuery();
  const months = monthsUntil(new Date());
  const month = months.find((one) => one === query.month) ?? (months[0] as string);
  const asked = useAsk(`usage ${month}`, (signal) => manage('GET /v2/usage', { query: { month }, signal }));
  return (
    <section class="stack tight" aria-label="Use of a month">
      <div class="row between">
        <h2>By database, queue and index</h2>
        <span class="row team-month">
          <select
            aria-label="Month"
            value={month}
            onChange={({ currentTarget }) => set({ month: currentTarget.value })}
          >
            {months.map((one) => (
              <option key={one} value={one}>
                {MONTH_NAME.format(new Date(`${one}-01`))}
              </option>
            ))}
          </select>
          <a class="button" href={`/v2/usage${queryText({ month, format: 'csv' })}`} download={`usage-${month}.csv`}>
            Download CSV
          </a>
        </span>
      </div>
      <Shown asked={asked}>
        {({ rows }) => (
          <>
            <Table
              label="Objects with their use"
              columns={COLUMNS}
              rows={rows.slice(0, MAX_DRAWN)}
              idOf={({ kind, id }) => `${kind} ${id}`}
              empty={<Empty title="No database, queue or index" />}
            />
            {rows.length > MAX_DRAWN && (
              <p class="small muted">{`${MAX_DRAWN} of ${whole(rows.length)}; the CSV has all.`}</p>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

/** In UTC, the latest first, as `2026-11`. */
function monthsUntil(now: Date): readonly string[] {
  return Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}
