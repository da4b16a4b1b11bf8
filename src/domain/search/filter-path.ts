/** Parses a path such as `a.b[0][#-1]` or `@metadata.a`. */
import { filterProblem } from './filter-tokens.js';
import type { FilterPath } from './filter-tree.js';
import { MAX_FILTER_PATH_STEPS } from './limits.js';

const METADATA = '@metadata.';
/** A name first, then any number of `.name` and `[element]`. */
const STEP = /\.?([\p{L}_][\p{L}\p{M}\p{Nd}_#-]*|\p{Nd}[\p{L}\p{M}\p{Nd}_#-]*)|\[(\d{1,9})\]|\[#-(\d{1,9})\]/uy;

/** @throws INVALID */
export function filterPath(text: string, at: number): FilterPath {
  const isMetadata = text.startsWith(METADATA);
  const from = isMetadata ? METADATA.length : 0;
  const steps: (string | number)[] = [];
  let next = from;
  while (next < text.length) {
    STEP.lastIndex = next;
    const match = STEP.exec(text);
    const [whole = '', name, element, fromEnd] = match ?? [];
    // Every name except the first follows a dot; `a[0]b` is invalid.
    const isApart = name === undefined || whole.startsWith('.') === next > from;
    if (match === null || !isApart || fromEnd === '0') throw filterProblem(at + next, 'invalid path to a field');
    if (steps.length >= MAX_FILTER_PATH_STEPS) {
      throw filterProblem(at + next, `a path has at most ${MAX_FILTER_PATH_STEPS} steps`);
    }
    steps.push(name ?? (element === undefined ? -Number(fromEnd) : Number(element)));
    next = STEP.lastIndex;
  }
  return { root: isMetadata ? 'metadata' : 'content', steps };
}
