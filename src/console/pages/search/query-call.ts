/** A query from the address and its results, optionally with the parts of their scores. */
import { ofIndex } from '../../api/call.js';
import type { PageQuery } from '../../api/query.js';
import type { FoundRecord } from './plane.js';

export interface Asking {
  readonly query: string;
  readonly filter: string | undefined;
  readonly topK: number;
  /** 0: words only, 1: similarity only. */
  readonly semanticWeight: number;
  readonly reranking: boolean;
}

/** The two parts of a score, each from 0 to 1. Undefined: not among the best by that part alone. */
export interface Parts {
  readonly words: number | undefined;
  readonly likeness: number | undefined;
}

export interface QueryAnswer {
  readonly found: readonly FoundRecord[];
  readonly tookMs: number;
  /** By id; undefined: not requested. */
  readonly parts: ReadonlyMap<string, Parts> | undefined;
}

const DEFAULT_TOP_K = 10;
const DEFAULT_WEIGHT = 0.75;
/** Results by each part alone in which the parts of scores are looked up. */
const EXPLAINED_TOP_K = 100;

export function askingOf({ q = '', filter, k, w, rerank }: PageQuery): Asking {
  return {
    query: q,
    filter,
    topK: Number(k ?? DEFAULT_TOP_K) || DEFAULT_TOP_K,
    semanticWeight: w === undefined ? DEFAULT_WEIGHT : Number(w),
    reranking: rerank === '1',
  };
}

export interface QueryAsk {
  readonly id: string;
  readonly index: string;
  readonly asking: Asking;
  readonly isExplained: boolean;
}

export async function answerTo(
  { id, index, asking, isExplained }: QueryAsk,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const began = performance.now();
  const found = await search(id, index, { ...asking, includeData: true, includeMetadata: true }, signal);
  const tookMs = performance.now() - began;
  if (!isExplained) return { found, tookMs, parts: undefined };
  const alone = (semanticWeight: number) =>
    search(
      id,
      index,
      { ...asking, reranking: false, topK: Math.max(asking.topK, EXPLAINED_TOP_K), semanticWeight },
      signal,
    );
  const [byWords, byLikeness] = await Promise.all([alone(0), alone(1)]);
  const words = new Map(byWords.map((one) => [one.id, one.score]));
  const likeness = new Map(byLikeness.map((one) => [one.id, one.score]));
  const parts = new Map(found.map((one) => [one.id, { words: words.get(one.id), likeness: likeness.get(one.id) }]));
  return { found, tookMs, parts };
}

async function search(id: string, index: string, body: object, signal: AbortSignal): Promise<readonly FoundRecord[]> {
  const { result } = await ofIndex(id, 'POST /search/{id}/search/{index}', { path: { index }, body, signal });
  return result;
}
