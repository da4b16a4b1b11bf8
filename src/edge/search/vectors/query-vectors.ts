/** `query`, `query-data`, and the queries that are resumed. */
import { MAX_TOP_K, type StoredVector } from '../../../domain/search/index.js';
import type { Random, RankedPlace, VectorHits, VectorQuery } from '../../../ports/index.js';
import { json } from '../../http/answer-shape.js';
import { record, TEXT } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { DONE } from '../schemas.js';
import { shownHit } from './shown-vectors.js';
import {
  type IncludedParts,
  idleIn,
  membersIn,
  queryModeIn,
  queryOptionsIn,
  queryTextIn,
  textIn,
  unfit,
  type VectorParts,
  vectorsIn,
  wholeIn,
} from './vector-bodies.js';
import { type VectorCall, vectorRoute } from './vector-call.js';
import { MAX_BATCH_QUERIES, MAX_RESUMABLE_QUERIES } from './vector-limits.js';
import {
  END_BODY,
  FOUND_VECTORS,
  NEXT_BODY,
  QUERY_BODY,
  QUERY_DATA_BODY,
  RESUMABLE_BODY,
  RESUMABLE_DATA_BODY,
} from './vector-schemas.js';

/** A query, with the parts of its results. */
interface QueryWithParts {
  readonly query: VectorQuery;
  readonly shown: IncludedParts;
}

type Members = Readonly<Record<string, unknown>>;
type Read = (call: VectorCall, members: Members) => QueryWithParts | Promise<QueryWithParts>;

const ANSWER = json({ oneOf: [FOUND_VECTORS, { type: 'array', items: FOUND_VECTORS }] });
const RESUMABLE_ANSWER = json(record({ uuid: TEXT, scores: FOUND_VECTORS }));
/** Characters of the id of a resumable query. */
const UUID_CHARACTERS = 64;
/** Results written in one slice: those with vectors are long. */
const SLICE_HITS = 100;
const SLICE_VECTORS = 5;

export const QUERY_VECTORS = vectorRoute('POST /vector/:id/query/*namespace', {
  summary: 'Finds the nearest vectors, for one query or several.',
  permission: 'read',
  bodyShape: { of: QUERY_BODY },
  example: { vector: [0.1, 0.2], topK: 3, includeMetadata: true },
  answer: ANSWER,
  handle: (call) => answered(call, vectorQueryIn),
});

export const QUERY_TEXTS = vectorRoute('POST /vector/:id/query-data/*namespace', {
  summary: 'Finds the vectors nearest to a text, for one text or several.',
  permission: 'read',
  bodyShape: { of: QUERY_DATA_BODY },
  example: { data: 'a city of the future', topK: 3, includeData: true },
  answer: ANSWER,
  handle: (call) => answered(call, textQueryIn),
});

export const RESUMABLE_QUERY = vectorRoute('POST /vector/:id/resumable-query/*namespace', {
  summary: 'Begins a query whose results are read in parts.',
  permission: 'read',
  bodyShape: { of: RESUMABLE_BODY },
  example: { vector: [0.1, 0.2], topK: 100, maxIdle: 60 },
  answer: RESUMABLE_ANSWER,
  handle: (call) => begun(call, vectorQueryIn),
});

export const RESUMABLE_QUERY_DATA = vectorRoute('POST /vector/:id/resumable-query-data/*namespace', {
  summary: 'Begins a query by text whose results are read in parts.',
  permission: 'read',
  bodyShape: { of: RESUMABLE_DATA_BODY },
  example: { data: 'a city of the future', topK: 100 },
  answer: RESUMABLE_ANSWER,
  handle: (call) => begun(call, textQueryIn),
});

export const RESUMABLE_QUERY_NEXT = vectorRoute('POST /vector/:id/resumable-query-next', {
  summary: 'Reads the next results of a query.',
  permission: 'read',
  bodyShape: { of: NEXT_BODY },
  example: { uuid: '8f2e3d0c-5a4b-4c1d-9e8f-7a6b5c4d3e2f', additionalK: 100 },
  answer: json(FOUND_VECTORS),
  handle: async (call) => {
    const members = membersIn(call.json, 'the body');
    const uuid = uuidIn(members);
    const topK = wholeIn(members, 'additionalK', 1, mostResultsOf(call));
    if (topK === undefined) throw unfit('additionalK is required');
    const text = await call.vectors.resumable(uuid);
    if (text === undefined) throw unknownQuery(uuid);
    const state = decodeResumable(text);
    await charge(call, 1);
    const query = { ...state.query, topK };
    const found = await call.endpoint.parts.queries.queryVectors(call.grant.index, state.name, query);
    await keep(call, uuid, { ...state, query: resumedAfter(query, found) });
    call.resultText(await shownHits(call, state.name, found.hits, state.shown));
    measured(call, 1);
  },
});

export const RESUMABLE_QUERY_END = vectorRoute('POST /vector/:id/resumable-query-end', {
  summary: 'Ends a query whose results are read in parts.',
  permission: 'read',
  bodyShape: { of: END_BODY },
  example: { uuid: '8f2e3d0c-5a4b-4c1d-9e8f-7a6b5c4d3e2f' },
  answer: DONE,
  handle: async (call) => {
    const uuid = uuidIn(membersIn(call.json, 'the body'));
    if (!(await call.vectors.endResumable(uuid))) throw unknownQuery(uuid);
    call.result('Success');
    call.transferred();
  },
});

/** One query has a list of results; several have a list of such lists. */
async function answered(call: VectorCall, read: Read): Promise<void> {
  const bodies = Array.isArray(call.json) ? call.json : [call.json];
  if (bodies.length > MAX_BATCH_QUERIES) throw invalid(`at most ${MAX_BATCH_QUERIES} queries in one request`);
  if (bodies.length === 0) throw invalid('at least one query is needed');
  const asked: QueryWithParts[] = [];
  for (const body of bodies) asked.push(await read(call, membersIn(body, 'a query')));
  await charge(call, asked.length);
  const lists: string[] = [];
  for (const { query, shown } of asked) {
    const { hits } = await call.endpoint.parts.queries.queryVectors(call.grant.index, call.name, query);
    lists.push(await shownHits(call, call.name, hits, shown));
  }
  call.resultText(lists.length === 1 ? (lists[0] as string) : `[${lists.join(',')}]`);
  measured(call, asked.length);
}

async function begun(call: VectorCall, read: Read): Promise<void> {
  const members = membersIn(call.json, 'the body');
  const { query, shown } = await read(call, members);
  const idleMs = idleIn(members);
  await charge(call, 1);
  if ((await call.vectors.resumableCount()) >= MAX_RESUMABLE_QUERIES) {
    const text = `an index has at most ${MAX_RESUMABLE_QUERIES} open resumable queries: end some, or wait for their maxIdle`;
    throw new RefusedRequest({ status: 429, text });
  }
  const { name, endpoint, grant } = call;
  const found = await endpoint.parts.queries.queryVectors(grant.index, name, query);
  const uuid = newResumableId(endpoint.parts.random);
  await keep(call, uuid, { name, query: resumedAfter(query, found), shown, idleMs });
  const scores = await shownHits(call, name, found.hits, shown);
  call.resultText(`{"uuid":${JSON.stringify(uuid)},"scores":${scores}}`);
  measured(call, 1);
}

function keep(call: VectorCall, uuid: string, state: ResumableState): Promise<void> {
  return call.vectors.keepResumable(uuid, encodeResumable(state), state.idleMs);
}

/** A part without further results stays at its end. */
function resumedAfter(query: VectorQuery, { denseLast, sparseLast }: VectorHits): VectorQuery {
  return { ...query, denseAfter: denseLast ?? query.denseAfter, sparseAfter: sparseLast ?? query.sparseAfter };
}

async function charge(call: VectorCall, queries: number): Promise<void> {
  const { allowance } = call.endpoint;
  allowance.mayTransfer(call.grant);
  for (let taken = 0; taken < queries; taken += 1) await allowance.takeQuery(call.grant, 0);
}

function measured(call: VectorCall, queries: number): void {
  const { endpoint, grant, body, bytesOut, elapsedMs } = call;
  endpoint.parts.meter.recordSearch(grant.index, { queries, bytesIn: body.length, bytesOut, queryMs: elapsedMs });
}

function mostResultsOf({ grant }: VectorCall): number {
  return Math.min(MAX_TOP_K, grant.limits.maxReadsPerRequest);
}

function vectorQueryIn(call: VectorCall, members: Members): QueryWithParts {
  const parts = vectorsIn(members, call.shape, '');
  if (parts.dense === undefined && parts.sparse === undefined) {
    throw unfit(call.shape.kind === 'SPARSE' ? 'sparseVector is required' : 'vector is required');
  }
  return queryWithPartsIn(call, members, parts);
}

async function textQueryIn(call: VectorCall, members: Members): Promise<QueryWithParts> {
  const parts = await call.texts.ofQuery(call.shape, queryTextIn(members), queryModeIn(members));
  return queryWithPartsIn(call, members, parts);
}

function queryWithPartsIn(call: VectorCall, members: Members, { dense, sparse }: VectorParts): QueryWithParts {
  const { shown, ...options } = queryOptionsIn(members, mostResultsOf(call));
  const query = {
    ...options,
    dense: dense === undefined ? undefined : [...dense],
    sparse: sparse === undefined ? undefined : { indices: [...sparse.indices], values: [...sparse.values] },
  };
  return { query, shown };
}

/** The stored parts are read after the query, so a vector deleted in between is no result. */
async function shownHits(
  call: VectorCall,
  name: string,
  hits: readonly RankedPlace[],
  parts: IncludedParts,
): Promise<string> {
  const needsStored = parts.vectors || parts.metadata || parts.data;
  if (!needsStored) return call.listText(hits, (hit) => shownHit(hit, undefined, parts), SLICE_HITS);
  const ids = hits.map(({ id }) => id);
  const stored = await call.vectors.fetch(name, ids);
  const found: { hit: RankedPlace; vector: StoredVector }[] = [];
  hits.forEach((hit, at) => {
    const vector = stored[at];
    if (vector !== undefined) found.push({ hit, vector });
  });
  const perSlice = parts.vectors ? SLICE_VECTORS : SLICE_HITS;
  return call.listText(found, ({ hit, vector }) => shownHit(hit, vector, parts), perSlice);
}

/** @throws Refused 422 */
function uuidIn(members: Members): string {
  const uuid = textIn(members, 'uuid', UUID_CHARACTERS);
  if (uuid === undefined || uuid === '') throw unfit('uuid is required: the id of a resumable query');
  return uuid;
}

function unknownQuery(uuid: string): RefusedRequest {
  return new RefusedRequest({
    status: 404,
    text: `there is no resumable query ${uuid}: it has ended, or was idle too long`,
  });
}

/** The stored state of a resumable query: the query, and where its results ended. */
interface ResumableState {
  readonly name: string;
  readonly query: VectorQuery;
  readonly shown: IncludedParts;
  readonly idleMs: number;
}

function encodeResumable(state: ResumableState): string {
  return JSON.stringify(state);
}

/** @param text as `encodeResumable` made it */
function decodeResumable(text: string): ResumableState {
  return JSON.parse(text) as ResumableState;
}

/** A random UUID, version 4. */
function newResumableId(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
