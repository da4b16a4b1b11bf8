/** Commands about whole namespaces: info, listing, reset, deletion, renaming. */
import { hasDense, hasSparse } from '../../../domain/search/index.js';
import { namespaceNotFound } from '../../error-map.js';
import { json, TEXTS } from '../../http/answer-shape.js';
import { FLAG, queryParameter, record } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { done, pendingOf } from '../commands/whole-indexes.js';
import { DONE, HELD } from '../schemas.js';
import { nameProblem } from '../search-target.js';
import { membersIn } from './vector-bodies.js';
import { vectorRoute } from './vector-call.js';
import { VECTOR_RENAME_BODY } from './vector-schemas.js';

/** The namespace of calls that name none. It always exists. */
const DEFAULT_NAMESPACE = '';

export const VECTOR_INFO = vectorRoute('POST /vector/:id/info', {
  alsoMethods: ['get'],
  summary: 'Describes the content of the index.',
  permission: 'read',
  answer: json(HELD),
  handle: async (call) => {
    const { endpoint, grant, shape, vectors } = call;
    // Indexed vectors are counted first, so that a vector stored in between counts as pending, not as one too many.
    const indexed = await endpoint.parts.queries.info(grant.index);
    const counts = await vectors.counts();
    const namespaces = new Map([[DEFAULT_NAMESPACE, { vectorCount: 0, pendingVectorCount: 0 }]]);
    const total = { vectorCount: 0, pendingVectorCount: 0, indexSize: 0 };
    for (const count of counts) {
      const pendingVectorCount = pendingOf(count, indexed);
      namespaces.set(count.name, { vectorCount: count.documents, pendingVectorCount });
      total.vectorCount += count.documents;
      total.pendingVectorCount += pendingVectorCount;
      total.indexSize += count.bytes;
    }
    // A reset and as many new vectors leave the counts as they were.
    if ((indexed.writes ?? 0) < (await vectors.writes())) total.pendingVectorCount ||= 1;
    const { dimension, metric, denseModel, sparseModel, kind } = shape;
    const similarityFunction = hasDense(shape) ? metric : '';
    call.result({
      ...total,
      dimension,
      similarityFunction,
      indexType: kind,
      denseIndex: hasDense(shape)
        ? { dimension, similarityFunction, embeddingModel: denseModel || undefined }
        : undefined,
      sparseIndex: hasSparse(shape) ? { embeddingModel: sparseModel || undefined } : undefined,
      // Built from entries, because a name may be `__proto__`.
      namespaces: Object.fromEntries(namespaces),
    });
  },
});

export const LIST_VECTOR_NAMESPACES = vectorRoute('POST /vector/:id/list-namespaces', {
  alsoMethods: ['get'],
  summary: 'Lists the namespaces.',
  permission: 'read',
  answer: TEXTS,
  handle: async (call) => {
    const names = await call.vectors.names();
    call.result([DEFAULT_NAMESPACE, ...names.filter((name) => name !== DEFAULT_NAMESPACE)]);
  },
});

export const RESET_NAMESPACE = vectorRoute('POST /vector/:id/reset/*namespace', {
  alsoMethods: ['delete'],
  summary: 'Empties a namespace, or with `all` every namespace.',
  permission: 'write',
  // Its presence is enough; the value is ignored.
  parameters: [queryParameter('all')],
  answer: DONE,
  handle: async (call) => {
    const { vectors, target, name } = call;
    done(call, await (target.isAll ? vectors.resetAll() : vectors.reset(name)));
  },
});

export const DELETE_VECTOR_NAMESPACE = vectorRoute('POST /vector/:id/delete-namespace/*namespace', {
  alsoMethods: ['delete'],
  summary: 'Deletes a namespace.',
  permission: 'write',
  answer: DONE,
  handle: async (call) => {
    const { endpoint, vectors, name, grant } = call;
    if (name === DEFAULT_NAMESPACE) throw invalid('the default namespace cannot be deleted: reset empties it');
    const totals = await vectors.deleteName(name);
    if (totals === undefined) throw new RefusedRequest(namespaceNotFound(name, endpoint.nameOf(grant.index)));
    done(call, totals);
  },
});

export const RENAME_VECTOR_NAMESPACE = vectorRoute('POST /vector/:id/rename-namespace', {
  summary: 'Gives a namespace another name.',
  permission: 'write',
  bodyShape: { of: VECTOR_RENAME_BODY },
  example: { namespace: 'news', newNamespace: 'archive' },
  answer: json(record({ renamed: FLAG })),
  handle: async (call) => {
    const { endpoint, vectors, grant } = call;
    const body = membersIn(call.json, 'the body');
    const { deleteExisting = false } = body;
    if (typeof deleteExisting !== 'boolean') throw invalid('deleteExisting must be true or false');
    const [from, to] = [namespaceIn(body, 'namespace'), namespaceIn(body, 'newNamespace')];
    const outcome = await vectors.rename(from, to, deleteExisting);
    if (outcome === 'missing') throw new RefusedRequest(namespaceNotFound(from, endpoint.nameOf(grant.index)));
    if (outcome === 'taken') throw invalid(`newNamespace: ${to} exists already`);
    call.result({ renamed: true });
  },
});

/** The default namespace has no name and keeps its place. @throws Refused 400 */
function namespaceIn(body: Readonly<Record<string, unknown>>, member: string): string {
  const problem = nameProblem(member, body[member]);
  if (problem !== undefined) throw invalid(problem);
  return String(body[member]);
}
