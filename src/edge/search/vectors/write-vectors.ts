/** `upsert`, `upsert-data`, `update` and `delete`. */
import {
  encodeVector,
  hasDense,
  hasSparse,
  MAX_DOCUMENT_ID_CHARACTERS,
  MAX_FILTER_CHARACTERS,
  type StoredVector,
} from '../../../domain/search/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { SEARCH_REFUSALS, SHARED_REFUSALS } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { record, WHOLE } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { counted, documentItems, refusedFor, removedFrom } from '../commands/write-documents.js';
import { MAX_DOCUMENT_IDS } from '../endpoint-limits.js';
import { DONE } from '../schemas.js';
import {
  allVectorsIn,
  dataIn,
  idIn,
  idsIn,
  membersIn,
  metadataIn,
  textIn,
  unfit,
  updatedMetadata,
  type VectorParts,
  vectorsIn,
} from './vector-bodies.js';
import { type VectorCall, vectorRoute } from './vector-call.js';
import { MAX_STORED_UPSERT_BYTES } from './vector-limits.js';
import { UPDATE_BODY, UPSERT_DATA_BODY, VECTOR_DELETE_BODY, VECTOR_UPSERT_BODY } from './vector-schemas.js';

/** A vector that changes between its read and its replacement is read again, at most this many times. */
const MAX_TRIES = 5;

export const UPSERT_VECTORS = vectorRoute('POST /vector/:id/upsert/*namespace', {
  summary: 'Stores vectors.',
  permission: 'write',
  bodyBound: 'upsert',
  bodyShape: { of: VECTOR_UPSERT_BODY },
  example: [{ id: 'f1', vector: [0.1, 0.2], metadata: { year: 1927 } }],
  answer: DONE,
  handle: async (call) => {
    const { shape } = call;
    const items = await itemsIn(call);
    const vectors = new Map<string, StoredVector>();
    for (const [at, item] of items.entries()) {
      const prefix = `vector ${at}: `;
      const members = membersIn(item, `vector ${at}`);
      const parts = allVectorsIn(members, shape, prefix);
      vectors.set(idIn(members, prefix), {
        ...parts,
        metadata: metadataIn(members, prefix),
        data: dataIn(members, prefix),
      });
      if (at % SLICE_VECTORS === SLICE_VECTORS - 1) await call.endpoint.yieldToEventLoop();
    }
    await stored(call, vectors, items.length);
  },
});

export const UPSERT_TEXTS = vectorRoute('POST /vector/:id/upsert-data/*namespace', {
  summary: 'Embeds texts and stores their vectors.',
  permission: 'write',
  bodyBound: 'upsert',
  bodyShape: { of: UPSERT_DATA_BODY },
  example: [{ id: 'f1', data: 'A film about a city of the future.' }],
  answer: DONE,
  handle: async (call) => {
    const { shape, texts } = call;
    texts.mustEmbed(shape);
    const items = (await itemsIn(call)).map((item, at) => textItem(item, `document ${at}`));
    const parts = await texts.ofDocuments(
      shape,
      items.map(({ data }) => data),
    );
    const vectors = new Map<string, StoredVector>();
    items.forEach(({ id, data, metadata }, at) => {
      vectors.set(id, { ...parts[at], data, metadata });
    });
    await stored(call, vectors, items.length);
  },
});

export const UPDATE_VECTOR = vectorRoute('POST /vector/:id/update/*namespace', {
  summary: 'Changes parts of a vector; the others stay.',
  permission: 'write',
  bodyShape: { of: UPDATE_BODY },
  example: { id: 'f1', metadata: { seen: true }, metadataUpdateMode: 'PATCH' },
  answer: json(record({ updated: WHOLE })),
  handle: async (call) => {
    const { endpoint, grant, name, vectors } = call;
    const members = membersIn(call.json, 'the body');
    const id = idIn(members, '');
    const change = await changeIn(call, members);
    endpoint.allowance.mayTransfer(grant);
    await endpoint.allowance.takeWrites(grant, 1);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const before = await vectors.one(name, id);
      if (before === undefined) {
        call.result({ updated: 0 });
        call.transferred();
        return;
      }
      const after = { ...before.vector, ...change, metadata: updatedMetadata(members, before.vector) };
      const outcome = await vectors.replace(name, id, before.text, after);
      if (outcome.kind === 'bytes') throw refusedFor({ ...outcome, kind: 'bytes', added: 0 }, 0);
      if (outcome.kind === 'changed') continue;
      call.result({ updated: 1 });
      counted(call, outcome, 1);
      return;
    }
    throw new RefusedRequest(SHARED_REFUSALS.overloaded);
  },
});

export const DELETE_VECTORS = vectorRoute('POST /vector/:id/delete/*namespace', {
  alsoMethods: ['delete'],
  summary: 'Deletes vectors: by ids, by a prefix of ids, or by a filter.',
  permission: 'write',
  bodyShape: { of: VECTOR_DELETE_BODY },
  example: { ids: ['f1'] },
  answer: json(record({ deleted: WHOLE })),
  handle: async (call) => {
    const body = Array.isArray(call.json) ? { ids: call.json } : membersIn(call.json, 'the body');
    const ids = idsIn(body, MAX_DOCUMENT_IDS);
    const prefix = textIn(body, 'prefix', MAX_DOCUMENT_ID_CHARACTERS) || undefined;
    const filter = textIn(body, 'filter', MAX_FILTER_CHARACTERS) || undefined;
    if ([ids, prefix, filter].filter((part) => part !== undefined).length !== 1) {
      throw unfit('Only and only one of the ids, prefix, or filter must be provided.');
    }
    const removal = await removedFrom(call, call.vectors, { ids, prefix, filter });
    if (!removal.isCutShort) call.result({ deleted: removal.removed });
    counted(call, removal, removal.removed);
    if (removal.isCutShort) throw new RefusedRequest(SEARCH_REFUSALS.cutShort);
  },
});

/** Vectors checked and encoded in one slice: a few milliseconds with long ones. */
const SLICE_VECTORS = 50;

/** The items of a body, of which there may be one without an array. @throws Refused 400 */
async function itemsIn({ endpoint, grant, body }: VectorCall): Promise<unknown[]> {
  endpoint.allowance.mayTransfer(grant);
  const items: unknown[] = [];
  for (const step of documentItems(body)) {
    if (step === undefined) {
      await endpoint.yieldToEventLoop();
      continue;
    }
    items.push(step.item);
    endpoint.allowance.mayWriteAtOnce(grant, items.length);
  }
  return items;
}

/** @throws Refused 422 */
function textItem(item: unknown, subject: string) {
  const members = membersIn(item, subject);
  if (members.vector !== undefined || members.sparseVector !== undefined) {
    throw unfit(`${subject} has a vector: send texts with upsert-data and vectors with upsert`);
  }
  const data = dataIn(members, `${subject}: `);
  if (data === undefined || data === '') throw unfit(`${subject}: data is required: the text to embed`);
  return { id: idIn(members, `${subject}: `), data, metadata: metadataIn(members, `${subject}: `) };
}

/** Of several vectors with one id the last one counts, as in separate calls. */
async function stored(call: VectorCall, vectors: ReadonlyMap<string, StoredVector>, count: number): Promise<void> {
  const { endpoint, grant, name } = call;
  const texts = new Map<string, ByteString>();
  let bytes = 0;
  for (const [id, vector] of vectors) {
    const text = encodeVector(vector);
    bytes += text.length;
    if (bytes > MAX_STORED_UPSERT_BYTES) {
      throw invalid(`the vectors have more than ${MAX_STORED_UPSERT_BYTES} bytes: send them in several requests`);
    }
    texts.set(id, text);
    if (texts.size % SLICE_VECTORS === 0) await endpoint.yieldToEventLoop();
  }
  await endpoint.allowance.takeWrites(grant, count);
  const { maxVectorCount } = grant.limits;
  const most = maxVectorCount < 0 ? Number.MAX_SAFE_INTEGER : maxVectorCount;
  const outcome = texts.size === 0 ? undefined : await call.vectors.upsert(name, texts, most);
  if (outcome !== undefined && outcome.kind !== 'done') throw refusedFor(outcome, most);
  call.result('Success');
  if (outcome !== undefined) counted(call, outcome, count);
}

/** The changed vectors and data of an update. A text of an index with models is embedded again. @throws Refused */
async function changeIn(call: VectorCall, members: Readonly<Record<string, unknown>>): Promise<StoredVector> {
  const { shape, texts } = call;
  const data = dataIn(members, '');
  const given = vectorsIn(members, shape, '');
  const isHybrid = hasDense(shape) && hasSparse(shape);
  if (isHybrid && (given.dense === undefined) !== (given.sparse === undefined)) {
    throw unfit('a hybrid index needs both vector and sparseVector, or neither');
  }
  const hasModels = (!hasDense(shape) || shape.denseModel !== '') && (!hasSparse(shape) || shape.sparseModel !== '');
  const isEmbedded = data !== undefined && data !== '' && given.dense === undefined && given.sparse === undefined;
  const parts: VectorParts =
    isEmbedded && hasModels ? ((await texts.ofDocuments(shape, [data]))[0] as VectorParts) : given;
  return {
    ...(parts.dense === undefined ? {} : { dense: parts.dense }),
    ...(parts.sparse === undefined ? {} : { sparse: parts.sparse }),
    ...(data === undefined ? {} : { data }),
  };
}
