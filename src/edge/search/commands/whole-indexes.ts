/** Commands about whole indexes: info, listing, reset, deletion, renaming. */

import { IsBoolean } from 'class-validator';
import type { SearchIndex } from '../../../domain/control/index.js';
import type { KvGateway, SearchIndexInfo, SearchQueries } from '../../../ports/index.js';
import { namespaceNotFound } from '../../error-map.js';
import { json, TEXTS } from '../../http/answer-shape.js';
import { checked, membersOf } from '../../http/checked.js';
import { FLAG, queryParameter, record } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { type NameCount, searchDocuments } from '../document-store.js';
import { IsIndexName } from '../requests/rules.js';
import { DONE, HELD, RENAME_BODY } from '../schemas.js';
import type { SearchCall } from '../search-call.js';
import type { StoredTotals } from '../search-partition.js';
import { route } from '../search-route.js';
import { VectorStore } from '../vectors/vector-store.js';

/** The body of `rename-namespace`. */
class RenameIndexRequest {
  @IsIndexName()
  readonly namespace: string;

  @IsIndexName()
  readonly newNamespace: string;

  @IsBoolean()
  readonly deleteExisting: boolean;

  private constructor(members: ReadonlyMap<string, unknown>) {
    this.namespace = members.get('namespace') as string;
    this.newNamespace = members.get('newNamespace') as string;
    this.deleteExisting = (members.get('deleteExisting') ?? false) as boolean;
  }

  /** @throws Refused 400 */
  static from(body: unknown): RenameIndexRequest {
    return checked(new RenameIndexRequest(membersOf(body)));
  }
}

const SIMILARITY = 'COSINE';
const DENSE_MODEL = 'HASHED_NGRAMS';
const SPARSE_MODEL = 'BM25';

export const INFO = route('POST /search/:id/info', {
  alsoMethods: ['get'],
  summary: 'Describes the content of the indexes.',
  permission: 'read',
  answer: json(HELD),
  handle: async (call) => {
    const { endpoint, grant, store } = call;
    // Indexed documents are counted first, so that a document stored in between counts as pending, not as one too
    // many.
    const indexed = await endpoint.parts.queries.info(grant.index);
    const counts = await store.counts();
    const namespaces: [string, { vectorCount: number; pendingVectorCount: number }][] = [];
    let vectorCount = 0;
    let pendingVectorCount = 0;
    let indexSize = 0;
    for (const count of counts) {
      const pending = pendingOf(count, indexed);
      namespaces.push([count.name, { vectorCount: count.documents, pendingVectorCount: pending }]);
      vectorCount += count.documents;
      pendingVectorCount += pending;
      indexSize += count.bytes;
    }
    const { dimensions: dimension } = indexed;
    call.result({
      vectorCount,
      pendingVectorCount,
      indexSize,
      dimension,
      similarityFunction: SIMILARITY,
      indexType: 'HYBRID',
      denseIndex: { dimension, similarityFunction: SIMILARITY, embeddingModel: DENSE_MODEL },
      sparseIndex: { embeddingModel: SPARSE_MODEL },
      // Built from entries, because a name may be `__proto__`.
      namespaces: Object.fromEntries(namespaces),
    });
  },
});

export const LIST_NAMESPACES = route('POST /search/:id/list-namespaces', {
  alsoMethods: ['get'],
  summary: 'Lists the indexes.',
  permission: 'read',
  answer: TEXTS,
  handle: async (call) => call.result(await call.store.names()),
});

export const RESET_ROUTE = route('POST /search/:id/reset/*index', {
  alsoMethods: ['delete'],
  summary: 'Empties an index.',
  permission: 'write',
  answer: DONE,
  handle: async (call) => done(call, await call.store.reset(call.name)),
});

export const RESET_ALL_ROUTE = route('POST /search/:id/reset', {
  alsoMethods: ['delete'],
  summary: 'Empties every index.',
  permission: 'write',
  // Its presence is enough; the value is ignored.
  parameters: [{ ...queryParameter('all'), required: true }],
  answer: DONE,
  handle: async (call) => done(call, await call.store.resetAll()),
});

export const DELETE_NAMESPACE = route('POST /search/:id/delete-namespace/*index', {
  alsoMethods: ['delete'],
  summary: 'Deletes an index.',
  permission: 'write',
  answer: DONE,
  handle: async (call) => {
    const { endpoint, store, name, grant } = call;
    const totals = await store.deleteName(name);
    if (totals === undefined) throw new RefusedRequest(namespaceNotFound(name, endpoint.nameOf(grant.index)));
    done(call, totals);
  },
});

export const RENAME_NAMESPACE = route('POST /search/:id/rename-namespace', {
  summary: 'Gives an index another name.',
  permission: 'write',
  bodyShape: { of: RENAME_BODY },
  example: { namespace: 'news', newNamespace: 'archive' },
  answer: json(record({ renamed: FLAG })),
  handle: async (call) => {
    const { endpoint, store, grant } = call;
    const { namespace, newNamespace, deleteExisting } = RenameIndexRequest.from(call.json);
    const outcome = await store.rename(namespace, newNamespace, deleteExisting);
    if (outcome === 'missing') throw new RefusedRequest(namespaceNotFound(namespace, endpoint.nameOf(grant.index)));
    if (outcome === 'taken') throw invalid(`newNamespace: ${newNamespace} exists already`);
    call.result({ renamed: true });
  },
});

export function done(call: SearchCall, { documents, bytes }: StoredTotals): void {
  call.result('Success');
  call.endpoint.parts.meter.gaugeSearch(call.grant.index, documents, bytes);
}

/** @returns a function that throws the errors of the gateway and the projection */
export function pendingDocuments(gateway: KvGateway, queries: Pick<SearchQueries, 'info'>) {
  return async ({ id, vectors }: Pick<SearchIndex, 'id' | 'vectors'>): Promise<number> => {
    const stored = vectors === undefined ? searchDocuments(gateway, id) : new VectorStore(gateway, id);
    const [counts, indexed] = await Promise.all([stored.counts(), queries.info(id)]);
    return counts.reduce((sum, count) => sum + pendingOf(count, indexed), 0);
  };
}

/** Pending documents of one name. At least 0, because the projection may be ahead of the earlier count. */
export function pendingOf({ name, documents }: NameCount, { namespaces }: SearchIndexInfo): number {
  return Math.max(0, documents - (namespaces.get(name)?.documents ?? 0));
}
