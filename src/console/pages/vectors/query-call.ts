/** A query from the address and its results. */
import { ofIndex } from '../../api/call.js';
import type { PageQuery } from '../../api/query.js';
import { type Item, VECTORS, type VectorIndex } from '../search/plane.js';

export type By = 'text' | 'vector' | 'like';

export interface VectorAsking {
  readonly by: By;
  /** The text, the numbers of the vector, or the id of a stored vector. */
  readonly given: string;
  readonly filter: string | undefined;
  readonly topK: number;
  /** Of a hybrid index: the merging of its two lists. */
  readonly fusion: string;
}

export interface FoundVector extends Item {
  readonly score?: number;
}

export interface VectorAnswer {
  readonly found: readonly FoundVector[];
  readonly tookMs: number;
}

const DEFAULT_TOP_K = 10;

export function vectorAskingOf(
  { by, q = '', filter, k, fusion = 'RRF' }: PageQuery,
  takesTexts: boolean,
): VectorAsking {
  const usual = takesTexts ? 'text' : 'vector';
  return {
    by: by === 'text' || by === 'vector' || by === 'like' ? by : usual,
    given: q,
    filter,
    topK: Number(k ?? DEFAULT_TOP_K) || DEFAULT_TOP_K,
    fusion,
  };
}

/** @throws Error for numbers that are none, or an id that is not stored; CallError */
export async function vectorAnswer(
  { id, index_type: kind }: VectorIndex,
  namespace: string,
  asking: VectorAsking,
  signal: AbortSignal,
): Promise<VectorAnswer> {
  const { by, given, filter, topK, fusion } = asking;
  const shared = {
    topK: by === 'like' ? topK + 1 : topK,
    filter,
    includeMetadata: true,
    includeData: true,
    ...(kind === 'HYBRID' && { fusionAlgorithm: fusion }),
  };
  const began = performance.now();
  if (by === 'text') {
    const body = { ...shared, data: given };
    const { result } = await ofIndex(id, 'POST /vector/{id}/query-data/{namespace}', {
      path: { namespace },
      body,
      signal,
    });
    return { found: result as readonly FoundVector[], tookMs: performance.now() - began };
  }
  const wanted = by === 'vector' ? numbersIn(given, kind) : await storedVector(id, namespace, given, signal);
  const body = { ...shared, ...wanted };
  const { result } = await ofIndex(id, 'POST /vector/{id}/query/{namespace}', { path: { namespace }, body, signal });
  const found = (result as readonly FoundVector[]).filter((one) => by !== 'like' || one.id !== given);
  return { found: found.slice(0, topK), tookMs: performance.now() - began };
}

/** `0.1, 0.2` or JSON: an array, or an object with `vector` and `sparseVector`. */
function numbersIn(text: string, kind: string): object {
  const json = /^\s*[[{]/.test(text) ? text : `[${text}]`;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('Enter numbers separated by commas, or JSON');
  }
  if (Array.isArray(value)) return { vector: value };
  const { vector, sparseVector, indices } = value as Record<string, unknown>;
  if (vector !== undefined || sparseVector !== undefined) return { vector, sparseVector };
  if (indices !== undefined) return { sparseVector: value };
  throw new Error(kind === 'DENSE' ? 'Enter numbers separated by commas' : 'Enter {"indices": […], "values": […]}');
}

async function storedVector(id: string, namespace: string, itemId: string, signal: AbortSignal): Promise<object> {
  const stored = await VECTORS.fetch(id, namespace, itemId, signal);
  if (stored == null) throw new Error(`There is no vector ${itemId} in this namespace`);
  return { vector: stored.vector, sparseVector: stored.sparseVector };
}
