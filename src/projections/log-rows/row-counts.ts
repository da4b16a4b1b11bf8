/** Counts the rows of a search, in steps of a few milliseconds, until the time limit. */
import type { Counts, SqlRow } from '../../ports/index.js';
import type { SearchStep } from './row-search.js';

/** Rows per step. */
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
