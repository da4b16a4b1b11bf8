/** The tree of a facet: how many documents are below each child of a path. */
import { ordinalOf } from '../search/index.js';
import { type AggregationResult, type FacetTree, NamedResults } from './aggregation.js';
import { SLICE_POSTINGS, SLICE_TERMS } from './limits.js';
import type { IndexTerm } from './text-field.js';

type Steps<T> = Generator<void, T>;

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
  const deepest = levelOf(tree.path) + tree.depth;
  let looked = 0;
  for (const term of tree.field.terms()) {
    looked += 1;
    if (looked % SLICE_TERMS === 0) yield;
    const { text } = term;
    if (!text.startsWith(`${tree.path}/`) || levelOf(text) > deepest) continue;
    counts.set(text, yield* countOf(term, wanted));
  }
  return counts;
}

/** @param count is told the buckets of each level; it throws above the bound */
export function facetResult(
  tree: FacetTree,
  counts: ReadonlyMap<string, number>,
  count: (buckets: number) => void,
): NamedResults {
  const childrenByParent = new Map<string, Child[]>();
  for (const [path, documents] of counts) {
    if (documents < tree.least) continue;
    const parent = path.slice(0, path.lastIndexOf('/'));
    const siblings = childrenByParent.get(parent);
    if (siblings === undefined) childrenByParent.set(parent, [{ path, documents }]);
    else siblings.push({ path, documents });
  }
  const { left, children } = childrenOf(tree, tree.path, childrenByParent, count);
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

function childrenOf(
  tree: FacetTree,
  parent: string,
  childrenByParent: ReadonlyMap<string, readonly Child[]>,
  count: (buckets: number) => void,
): { readonly left: number; readonly children: readonly AggregationResult[] } {
  const { by, isDescending } = tree.order;
  const all = [...(childrenByParent.get(parent) ?? [])].sort((a, b) => {
    const byPath = a.path < b.path ? -1 : 1;
    const compared = by === 'count' ? a.documents - b.documents || -byPath * (isDescending ? 1 : -1) : byPath;
    return isDescending ? -compared : compared;
  });
  const shown = all.slice(0, tree.size);
  count(shown.length);
  const children = shown.map(({ path, documents }) => {
    const below = childrenOf(tree, path, childrenByParent, count);
    const pairs: [string, AggregationResult][] = [
      ['path', path],
      ['docCount', documents],
      ['sumOtherDocCount', below.left],
    ];
    if (below.children.length > 0) pairs.push(['children', below.children]);
    return new NamedResults(pairs);
  });
  return { left: all.slice(tree.size).reduce((sum, { documents }) => sum + documents, 0), children };
}

function levelOf(path: string): number {
  return path === '' ? 0 : path.split('/').length - 1;
}
