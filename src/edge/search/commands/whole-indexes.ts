/** Commands about indexes as a whole: what there is, emptying, deleting, renaming. */
import { namespaceNotFound } from '../../error-map.js';
import { invalid, Refused } from '../../http/refused.js';
import { jsonOf } from '../json-of.js';
import { RenameRequest } from '../requests/rename-request.js';
import type { SearchCall } from '../search-call.js';
import type { StoredTotals } from '../search-partition.js';
import type { SearchCommand } from './search-command.js';

const SIMILARITY = 'COSINE';
const DENSE_MODEL = 'HASHED_NGRAMS';
const SPARSE_MODEL = 'BM25';

export const INFO: SearchCommand = {
  alsoBy: 'GET',
  isRead: true,
  scope: 'unnamed',
  run: async (call) => {
    const { face, grant, store } = call;
    // What is indexed is asked first: a document that comes in between is then pending, never more than there are.
    const indexed = await face.parts.queries.info(grant.index);
    const counts = await store.counts();
    const namespaces: [string, { vectorCount: number; pendingVectorCount: number }][] = [];
    let vectorCount = 0;
    let pendingVectorCount = 0;
    let indexSize = 0;
    for (const { name, documents, bytes } of counts) {
      const pending = Math.max(0, documents - (indexed.namespaces.get(name)?.documents ?? 0));
      namespaces.push([name, { vectorCount: documents, pendingVectorCount: pending }]);
      vectorCount += documents;
      pendingVectorCount += pending;
      indexSize += bytes;
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
      // Entries, because a name may be `__proto__`.
      namespaces: Object.fromEntries(namespaces),
    });
  },
};

export const LIST_NAMESPACES: SearchCommand = {
  alsoBy: 'GET',
  isRead: true,
  scope: 'unnamed',
  run: async (call) => call.result(await call.store.names()),
};

export const RESET: SearchCommand = {
  alsoBy: 'DELETE',
  isRead: false,
  scope: 'either',
  run: async (call) => {
    const { store, target, name } = call;
    const totals = target.name === undefined ? await store.resetAll() : await store.reset(name);
    done(call, totals);
  },
};

export const DELETE_NAMESPACE: SearchCommand = {
  alsoBy: 'DELETE',
  isRead: false,
  scope: 'named',
  run: async (call) => {
    const { face, store, name, grant } = call;
    const totals = await store.deleteName(name);
    if (totals === undefined) throw new Refused(namespaceNotFound(name, face.nameOf(grant.index)));
    done(call, totals);
  },
};

export const RENAME_NAMESPACE: SearchCommand = {
  isRead: false,
  scope: 'unnamed',
  run: async (call) => {
    const { face, store, grant, body } = call;
    const { namespace, newNamespace, deleteExisting } = RenameRequest.from(jsonOf(body));
    const outcome = await store.rename(namespace, newNamespace, deleteExisting);
    if (outcome === 'missing') throw new Refused(namespaceNotFound(namespace, face.nameOf(grant.index)));
    if (outcome === 'taken') throw invalid(`newNamespace: ${newNamespace} exists already`);
    call.result({ renamed: true });
  },
};

function done(call: SearchCall, { documents, bytes }: StoredTotals): void {
  call.result('Success');
  call.face.parts.meter.gaugeSearch(call.grant.index, documents, bytes);
}
