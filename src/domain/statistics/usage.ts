/**
 * The use of an account in a month, by database, queue and index, as it is shown, and its form as CSV (RFC 4180).
 *
 *  UDC1 a text that a spreadsheet would take for a formula begins with an apostrophe
 */

/** One database, queue or search index. Undefined numbers do not exist for its kind. */
export interface MonthlyUse {
  readonly kind: 'database' | 'queue' | 'index';
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Commands; charged requests of a queue; queries and updates of an index. */
  readonly requests: number;
  /** Accepted by a queue. */
  readonly messages: number | undefined;
  /** At the end of the month, or now. */
  readonly storedBytes: number | undefined;
  readonly transferredBytes: number;
  /** Requests, messages or queries that are possible on a day; undefined: no limit. */
  readonly dailyQuota: number | undefined;
  /** On the day with the most. */
  readonly busiestDay: number;
}

export interface UsageDocument {
  /** Months since 1970. */
  readonly month: number;
  readonly rows: readonly MonthlyUse[];
}

const MONTHS = 12;
const FIRST_YEAR = 1970;
const COLUMNS = [
  'month',
  'kind',
  'id',
  'name',
  'requests',
  'messages',
  'stored_bytes',
  'transferred_bytes',
  'daily_quota',
  'busiest_day',
  'quota_used_percent',
] as const;
const FORMULA = /^[=+\-@\t\r]/;

/** The UTC month of an instant. */
export function monthOfInstant(atMs: number): number {
  const date = new Date(atMs);
  return (date.getUTCFullYear() - FIRST_YEAR) * MONTHS + date.getUTCMonth();
}

/** The first instant of the month. */
export function startOfMonth(month: number): number {
  return Date.UTC(FIRST_YEAR + Math.floor(month / MONTHS), month % MONTHS, 1);
}

/** `2026-11`; undefined for another text. */
export function monthIn(text: string): number | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || Number(year) < FIRST_YEAR) return undefined;
  return (Number(year) - FIRST_YEAR) * MONTHS + Number(month) - 1;
}

export function monthText(month: number): string {
  return new Date(startOfMonth(month)).toISOString().slice(0, 7);
}

/** Whole percent; undefined without a quota. */
function quotaPercent({ dailyQuota, busiestDay }: MonthlyUse): number | undefined {
  return dailyQuota === undefined ? undefined : Math.floor((100 * busiestDay) / dailyQuota);
}

/** The document in the field names of the API. */
export function usageFields({ month, rows }: UsageDocument) {
  return {
    month: monthText(month),
    rows: rows.map((row) => ({
      kind: row.kind,
      id: row.id,
      name: row.name,
      labels: row.labels,
      requests: row.requests,
      messages: row.messages,
      stored_bytes: row.storedBytes,
      transferred_bytes: row.transferredBytes,
      daily_quota: row.dailyQuota,
      busiest_day: row.busiestDay,
      quota_used_percent: quotaPercent(row),
    })),
  };
}

/** A line for each row, with a column for each label that any row has. */
export function usageCsv(document: UsageDocument): string {
  const { month, rows } = usageFields(document);
  const names = [...new Set(rows.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const lines = rows.map((row) => {
    const values = { ...row, month };
    return [...COLUMNS.map((column) => values[column]), ...names.map((name) => row.labels[name])];
  });
  const heads = [...COLUMNS, ...names.map((name) => `label:${name}`)];
  return [heads, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** UDC1. */
function cellOf(value: string | number | undefined): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
