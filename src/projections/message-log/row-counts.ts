/** Counts rows that a search finds, in steps of a few milliseconds, until time is over. */
import type { Counts, SqlRow } from '../../ports/index.js';
import type { SearchStep } from './row-search.js';

/** Rows that are counted in one step. */
const STEP_ROWS = 2000;

export function* counted(
  found: Iterable<SearchStep>,
  isLate: () => boolean,
  groupOf: (row: SqlRow) => string,
): Generator<void, Counts> {
  const counts = new Map<string, number>();
  let rows = 0;
  for (const { row } of found) {
    if (row !== undefined) {
      const group = groupOf(row);
      counts.set(group, (counts.get(group) ?? 0) + 1);
      rows += 1;
      if (rows % STEP_ROWS !== 0) continue;
    }
    if (isLate()) return { counts: Object.fromEntries(counts), isWhole: false };
    yield;
  }
  return { counts: Object.fromEntries(counts), isWhole: true };
}
