/**
 * Both ends of questions to the search indexes, between threads and processes: `SearchClient` sends them as bytes,
 * `answerSearch` answers them where the indexes are.
 *
 * They are sent as JSON, because documents are JSON with arbitrary field names, `__proto__` among them.
 */
import { bufferOver, type DatabaseId, MillraceError, unreachable } from '../kernel/index.js';
import type {
  SearchHit,
  SearchIndexInfo,
  SearchNamespaceInfo,
  SearchQueries,
  SearchQuery,
  VectorHits,
  VectorQueries,
  VectorQuery,
} from '../ports/index.js';
import type { Ask } from './ask.js';

export type SearchQuestion =
  | { readonly kind: 'search'; readonly index: DatabaseId; readonly name: string; readonly query: SearchQuery }
  | { readonly kind: 'vectors'; readonly index: DatabaseId; readonly name: string; readonly query: VectorQuery }
  | { readonly kind: 'info'; readonly index: DatabaseId };

/** The version of this format; a process that does not know it refuses. */
const VERSION = 1;
const KINDS: ReadonlySet<unknown> = new Set<SearchQuestion['kind']>(['search', 'vectors', 'info']);

interface TravellingInfo {
  readonly namespaces: readonly (readonly [string, SearchNamespaceInfo])[];
  readonly dimensions: number;
  readonly writes?: number | undefined;
}

export class SearchClient implements SearchQueries, VectorQueries {
  constructor(private readonly ask: Ask) {}

  async search(index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]> {
    return this.#answerTo<readonly SearchHit[]>({ kind: 'search', index, name, query });
  }

  async queryVectors(index: DatabaseId, name: string, query: VectorQuery): Promise<VectorHits> {
    return this.#answerTo<VectorHits>({ kind: 'vectors', index, name, query });
  }

  async info(index: DatabaseId): Promise<SearchIndexInfo> {
    const { namespaces, ...rest } = await this.#answerTo<TravellingInfo>({ kind: 'info', index });
    return { namespaces: new Map(namespaces), ...rest };
  }

  async #answerTo<T>(question: SearchQuestion): Promise<T> {
    return opened(await this.ask(closed(question))) as T;
  }
}

/** @throws INVALID; errors of the indexes */
export async function answerSearch(indexes: SearchQueries & VectorQueries, bytes: Uint8Array): Promise<Uint8Array> {
  const question = opened(bytes) as SearchQuestion;
  if (!KINDS.has(question.kind)) throw unknownForm();
  switch (question.kind) {
    case 'search':
      return closed(await indexes.search(question.index, question.name, question.query));
    case 'vectors':
      return closed(await indexes.queryVectors(question.index, question.name, question.query));
    case 'info': {
      const { namespaces, ...rest } = await indexes.info(question.index);
      return closed({ namespaces: [...namespaces], ...rest } satisfies TravellingInfo);
    }
    default:
      return unreachable(question);
  }
}

function closed(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify([VERSION, value]), 'utf8');
}

function opened(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(bufferOver(bytes).toString('utf8'));
  } catch (cause) {
    throw new MillraceError('INVALID', 'a question to the search indexes, or its answer, cannot be read', {}, cause);
  }
  if (!Array.isArray(value) || value[0] !== VERSION || typeof value[1] !== 'object' || value[1] === null) {
    throw unknownForm();
  }
  return value[1];
}

function unknownForm(): MillraceError {
  return new MillraceError('INVALID', 'a question to the search indexes, or its answer, has a form that is not known');
}
