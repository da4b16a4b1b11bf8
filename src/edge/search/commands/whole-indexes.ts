/** Commands about indexes as a whole: what there is, emptying, deleting, renaming. */
import { namespaceNotFound } from '../../error-map.js';
import { json, TEXTS } from '../../http/answer-shape.js';
import { FLAG, queryParameter, record } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { pendingOf } from '../pending-documents.js';
import { RenameIndexRequest } from '../requests/rename-request.js';
import { DONE, HELD, RENAME_BODY } from '../schemas.js';
import type { SearchCall } from '../search-call.js';
import type { StoredTotals } from '../search-partition.js';
import { route } from '../search-route.js';

const SIMILARITY = 'COSINE';
const DENSE_MODEL = 'HASHED_NGRAMS';
const SPARSE_MODEL = 'BM25';

export const INFO = route('POST /search/:id/info', {
  alsoMethods: ['get'],
  summary: 'Says what the indexes hold.',
  permission: 'read',
  answer: json(HELD),
  handle: async (call) => {
    const { face, grant, store } = call;
    // What is indexed is asked for first, so that a document that comes in between is pending and not one too many.
    const indexed = await face.parts.queries.info(grant.index);
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
      // They are made of entries, because a name may be `__proto__`.
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
  // Its value says nothing: that it is there is enough.
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
    const { face, store, name, grant } = call;
    const totals = await store.deleteName(name);
    if (totals === undefined) throw new RefusedRequest(namespaceNotFound(name, face.nameOf(grant.index)));
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
    const { face, store, grant } = call;
    const { namespace, newNamespace, deleteExisting } = RenameIndexRequest.from(call.json);
    const outcome = await store.rename(namespace, newNamespace, deleteExisting);
    if (outcome === 'missing') throw new RefusedRequest(namespaceNotFound(namespace, face.nameOf(grant.index)));
    if (outcome === 'taken') throw invalid(`newNamespace: ${newNamespace} exists already`);
    call.result({ renamed: true });
  },
});

function done(call: SearchCall, { documents, bytes }: StoredTotals): void {
  call.result('Success');
  call.face.parts.meter.gaugeSearch(call.grant.index, documents, bytes);
}
