/** `fetch`, `range` and `random`. */
import { MAX_DOCUMENT_ID_CHARACTERS } from '../../../domain/search/index.js';
import { json } from '../../http/answer-shape.js';
import { record, TEXT } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { DEFAULT_RANGE_LIMIT, MAX_RANGE_LIMIT } from '../endpoint-limits.js';
import { shownVector } from './shown-vectors.js';
import { type IncludedParts, idsIn, includedPartsIn, membersIn, textIn, unfit, wholeIn } from './vector-bodies.js';
import { type VectorCall, vectorRoute } from './vector-call.js';
import { FOUND_VECTOR, FOUND_VECTORS, VECTOR_FETCH_BODY, VECTOR_RANGE_BODY } from './vector-schemas.js';
import type { FoundVector } from './vector-store.js';

const ALL_PARTS: IncludedParts = { vectors: true, metadata: false, data: false };
/** Vectors written in one slice. */
const SLICE_VECTORS = 5;
const CURSOR = /^\d{1,15}$/;

export const FETCH_VECTORS = vectorRoute('POST /vector/:id/fetch/*namespace', {
  alsoMethods: ['get'],
  summary: 'Reads vectors by ids, or by a prefix of ids.',
  permission: 'read',
  bodyShape: { of: VECTOR_FETCH_BODY },
  example: { ids: ['f1'], includeMetadata: true },
  answer: json({ type: 'array', items: { oneOf: [FOUND_VECTOR, { type: 'null' }] } }),
  handle: async (call) => {
    const { endpoint, grant, name, vectors } = call;
    const body = Array.isArray(call.json) ? { ids: call.json } : membersIn(call.json, 'the body');
    const ids = idsIn(body, grant.limits.maxReadsPerRequest);
    const prefix = textIn(body, 'prefix', MAX_DOCUMENT_ID_CHARACTERS) || undefined;
    if (ids !== undefined && prefix !== undefined) throw unfit('Only one of ids or prefix must be provided.');
    if (ids === undefined && prefix === undefined) throw unfit('ids or prefix must be provided.');
    const parts = includedPartsIn(body);
    endpoint.allowance.mayTransfer(grant);
    const found =
      ids === undefined
        ? (await vectors.page(name, prefix as string, undefined, MAX_RANGE_LIMIT)).documents
        : await vectors.fetch(name, ids);
    call.resultText(await listOf(call, found, parts));
    call.transferred();
  },
});

export const RANGE_VECTORS = vectorRoute('POST /vector/:id/range/*namespace', {
  alsoMethods: ['get'],
  summary: 'Reads vectors page by page, in the order in which they were first stored.',
  permission: 'read',
  bodyShape: { of: VECTOR_RANGE_BODY },
  example: { cursor: '0', limit: 10, includeMetadata: true },
  answer: json(record({ nextCursor: TEXT, vectors: FOUND_VECTORS })),
  handle: async (call) => {
    const { endpoint, grant, name } = call;
    const body = Array.isArray(call.json) && call.json.length === 0 ? {} : membersIn(call.json, 'the body');
    const limit = wholeIn(body, 'limit', 1, MAX_RANGE_LIMIT) ?? DEFAULT_RANGE_LIMIT;
    const prefix = textIn(body, 'prefix', MAX_DOCUMENT_ID_CHARACTERS) ?? '';
    const parts = includedPartsIn(body);
    endpoint.allowance.mayTransfer(grant);
    const { vectors, next } = await call.vectors.pageAfter(name, cursorIn(body), prefix, limit);
    const nextCursor = JSON.stringify(next === undefined ? '' : String(next));
    call.resultText(`{"nextCursor":${nextCursor},"vectors":${await listOf(call, vectors, parts)}}`);
    call.transferred();
  },
});

export const RANDOM_VECTOR = vectorRoute('GET /vector/:id/random/*namespace', {
  alsoMethods: ['post'],
  summary: 'Reads some vector.',
  permission: 'read',
  answer: json({ oneOf: [FOUND_VECTOR, { type: 'null' }] }),
  handle: async (call) => {
    call.endpoint.allowance.mayTransfer(call.grant);
    const found = await call.vectors.random(call.name);
    call.result(found === undefined ? null : shownVector(found, ALL_PARTS));
    call.transferred();
  },
});

function listOf(call: VectorCall, found: readonly (FoundVector | undefined)[], parts: IncludedParts): Promise<string> {
  return call.listText(found, (vector) => (vector === undefined ? null : shownVector(vector, parts)), SLICE_VECTORS);
}

/** The number after which a page begins. @throws Refused 400 */
function cursorIn(body: Readonly<Record<string, unknown>>): number {
  const cursor = body.cursor ?? '';
  if (cursor === '') return 0;
  const text = String(cursor);
  if (!CURSOR.test(text)) throw invalid('cursor is invalid: give 0, or the nextCursor of an earlier response');
  return Number(text);
}
