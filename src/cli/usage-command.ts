/** `millrace usage` and `millrace labels`: calls of the management API of the running installation. */
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';
import { table } from './table.js';

export interface UsageCommandDeps {
  readonly mgmt: Api;
  write(text: string): void;
}

interface RowView {
  readonly kind: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly requests: number;
  readonly messages?: number;
  readonly stored_bytes?: number;
  readonly transferred_bytes: number;
  readonly quota_used_percent?: number;
}

interface LabelsView {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

const COLUMNS = ['KIND', 'NAME', 'REQUESTS', 'MESSAGES', 'STORED', 'TRANSFERRED', 'QUOTA', 'LABELS'];

/** @returns the exit code. @throws RefusedAnswer */
export async function usageCommand(asked: ParsedArguments, { mgmt, write }: UsageCommandDeps): Promise<0> {
  const { month } = asked.options;
  const isCsv = asked.flags.has('csv');
  const query = new URLSearchParams({ ...(month !== undefined && { month }), format: isCsv ? 'csv' : 'json' });
  const text = await mgmt.text('GET', `/v2/usage?${query}`);
  if (isCsv) {
    write(text);
    return 0;
  }
  const usage = JSON.parse(text) as { readonly rows: readonly RowView[] };
  const rows = usage.rows.map((row) => [
    row.kind,
    row.name,
    String(row.requests),
    String(row.messages ?? ''),
    String(row.stored_bytes ?? ''),
    String(row.transferred_bytes),
    row.quota_used_percent === undefined ? '' : `${row.quota_used_percent} %`,
    wordsOf(row.labels),
  ]);
  write(shown(asked, usage, () => table(COLUMNS, rows)));
  return 0;
}

/** @returns the exit code. @throws UsageError, RefusedAnswer */
export async function labelsCommand(asked: ParsedArguments, { mgmt, write }: UsageCommandDeps): Promise<0> {
  const [kind, id, ...given] = asked.words;
  if (kind === undefined) {
    const all = (await mgmt.ask('GET', '/v2/labels')) as readonly LabelsView[];
    const rows = all.map((one) => [one.id, wordsOf(one.labels)]);
    write(shown(asked, all, () => table(['ID', 'LABELS'], rows)));
    return 0;
  }
  if (id === undefined || given.length === 0) throw new UsageError('labels takes a kind, an id, and NAME=VALUE words');
  const labels = given.map(labelIn);
  const path = `/v2/labels/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
  const changed = (await mgmt.ask('PATCH', path, { labels })) as LabelsView;
  write(shown(asked, changed, () => `${wordsOf(changed.labels)}\n`));
  return 0;
}

function labelIn(word: string): { readonly name: string; readonly value: string } {
  const at = word.indexOf('=');
  if (at < 1) throw new UsageError(`a label is written as NAME=VALUE, not ${word}`);
  return { name: word.slice(0, at), value: word.slice(at + 1) };
}

function wordsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
