/** The tree of a facet: how many documents are below each child of a path. */
import { ordinalOf } from '../search/index.js';
import { type AggregationResult, type FacetTree, NamedResults } from './aggregation.js';
import { firstOf } from './first-places.js';
import { SLICE_POSTINGS, SLICE_TERMS } from './limits.js';
import type { IndexTerm } from './text-field.js';

type Steps<T> = Generator<void, T>;

/** A term takes as long as so many postings. */
const TERM_WORK = SLICE_POSTINGS / SLICE_TERMS;

interface Child {
  readonly path: string;
  readonly documents: number;
}

/** How many of the documents each path below that of the tree has. */
export function* facetCounts(tree: FacetTree, ordinals: ArrayLike<number>): Steps<ReadonlyMap<string, number>> {
  const wanted = new Set<number>();
  for (let at = 0; at < ordinals.length; at += 1) {
    wanted.add(ordinals[at] as number);
    if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
  }
  const counts = new Map<string, number>();
  const below = `${tree.path}/`;
  const deepest = levelOf(tree.path) + tree.depth;
  let looked = 0;
  for (const term of tree.field.terms()) {
    const { text, postings } = term;
    const isBelow = text.startsWith(below) && levelOf(text) <= deepest;
    if (isBelow) counts.set(text, yield* countOf(term, wanted));
    looked += TERM_WORK + (isBelow ? postings.length % SLICE_POSTINGS : 0);
    if (looked < SLICE_POSTINGS) continue;
    looked = 0;
    yield;
  }
  return counts;
}

/** @param count is told the buckets of each level; it throws above the bound */
export function* facetResult(
  tree: FacetTree,
  counts: ReadonlyMap<string, number>,
  count: (buckets: number) => void,
): Steps<NamedResults> {
  const childrenByParent = new Map<string, Child[]>();
  let looked = 0;
  for (const [path, documents] of counts) {
    looked += 1;
    if (looked % SLICE_TERMS === 0) yield;
    if (documents < tree.least) continue;
    const parent = path.slice(0, path.lastIndexOf('/'));
    const siblings = childrenByParent.get(parent);
    if (siblings === undefined) childrenByParent.set(parent, [{ path, documents }]);
    else siblings.push({ path, documents });
  }
  const { left, children } = yield* childrenOf(tree, tree.path, childrenByParent, count);
  return new NamedResults([
    ['path', tree.path === '' ? '/' : tree.path],
    ['sumOtherDocCount', left],
    ['children', children],
  ]);
}

function* countOf({ postings }: IndexTerm, wanted: ReadonlySet<number>): Steps<number> {
  let documents = 0;
  const { items, length } = postings;
  for (let at = 0; at < length; at += 1) {
    if (wanted.has(ordinalOf(items[at] as number))) documents += 1;
    if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
  }
  return documents;
}

function* childrenOf(
  tree: FacetTree,
  parent: string,
  childrenByParent: ReadonlyMap<string, readonly Child[]>,
  count: (buckets: number) => void,
): Steps<{ readonly left: number; readonly children: readonly AggregationResult[] }> {
  const { by, isDescending } = tree.order;
  const all = childrenByParent.get(parent) ?? [];
  const places = yield* firstOf(all.length, tree.size, (one, other) => {
    const [a, b] = [all[one] as Child, all[other] as Child];
    const byPath = a.path < b.path ? -1 : 1;
    const compared = by === 'count' ? a.documents - b.documents || -byPath * (isDescending ? 1 : -1) : byPath;
    return isDescending ? -compared : compared;
  });
  count(places.length);
  let left = all.reduce((sum, { documents }) => sum + documents, 0);
  const children: AggregationResult[] = [];
  for (const place of places) {
    const { path, documents } = all[place] as Child;
    left -= documents;
    const below = yield* childrenOf(tree, path, childrenByParent, count);
    const pairs: [string, AggregationResult][] = [
      ['path', path],
      ['docCount', documents],
      ['sumOtherDocCount', below.left],
    ];
    if (below.children.length > 0) pairs.push(['children', below.children]);
    children.push(new NamedResults(pairs));
    yield;
  }
  return { left, children };
}

function levelOf(path: string): number {
  return path === '' ? 0 : path.split('/').length - 1;
}
