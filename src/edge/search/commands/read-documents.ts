/** `search`, `fetch` and `range`. */

import { json } from '../../http/answer-shape.js';
import { record, TEXT } from '../../http/openapi/parts.js';
import { MAX_RANGE_LIMIT } from '../endpoint-limits.js';
import { FetchRequest } from '../requests/fetch-request.js';
import { cursorAfter, RangeRequest } from '../requests/range-request.js';
import { SearchRequest } from '../requests/search-request.js';
import { FETCH_BODY, RANGE_BODY, SEARCH_BODY, SHOWN_DOCUMENT } from '../schemas.js';
import { rerankUnitsOf } from '../search-allowance.js';
import type { SearchCall } from '../search-call.js';
import { route } from '../search-route.js';

export const SEARCH_ROUTE = route('POST /search/:id/search/*index', {
  summary: 'Finds documents, the best first.',
  permission: 'read',
  bodyShape: { of: SEARCH_BODY },
  example: { query: 'journals', topK: 3, includeData: true },
  answer: json({ type: 'array', items: SHOWN_DOCUMENT }),
  handle: async (call) => {
    const { endpoint, grant, name, body } = call;
    const { asked } = SearchRequest.from(call.json);
    endpoint.allowance.mayReadAtOnce(grant, asked.topK);
    endpoint.allowance.mayTransfer(grant);
    const reranks = asked.reranking ? rerankUnitsOf(asked.topK) : 0;
    await endpoint.allowance.takeQuery(grant, reranks);
    const hits = await endpoint.parts.queries.search(grant.index, name, asked);
    await call.results('', hits, (hit) => hit);
    endpoint.parts.meter.recordSearch(grant.index, {
      queries: 1,
      reranks,
      bytesIn: body.length,
      bytesOut: call.bytesOut,
      queryMs: call.elapsedMs,
    });
  },
});

export const FETCH = route('POST /search/:id/fetch/*index', {
  alsoMethods: ['get'],
  summary: 'Reads documents by ids, or by a prefix of ids.',
  permission: 'read',
  bodyShape: { of: FETCH_BODY },
  example: { ids: ['p1'], includeData: true },
  answer: json({ type: 'array', items: { oneOf: [SHOWN_DOCUMENT, { type: 'null' }] } }),
  handle: async (call) => {
    const { endpoint, grant, store, name } = call;
    const request = FetchRequest.from(call.json);
    endpoint.allowance.mayTransfer(grant);
    const { ids, prefix = '' } = request;
    if (ids !== undefined) endpoint.allowance.mayReadAtOnce(grant, ids.length);
    const found =
      ids === undefined
        ? (await store.page(name, prefix, undefined, MAX_RANGE_LIMIT)).documents
        : await store.fetch(name, ids);
    await call.results('', found, (document) => (document === undefined ? null : request.shown(document)));
    transferred(call);
  },
});

export const RANGE = route('POST /search/:id/range/*index', {
  alsoMethods: ['get'],
  summary: 'Reads documents page by page.',
  permission: 'read',
  bodyShape: { of: RANGE_BODY },
  example: { cursor: '0', limit: 10, includeData: true },
  answer: json(record({ nextCursor: TEXT, vectors: { type: 'array', items: SHOWN_DOCUMENT } })),
  handle: async (call) => {
    const { endpoint, grant, store, name } = call;
    const request = RangeRequest.from(call.json);
    endpoint.allowance.mayTransfer(grant);
    const { documents, last } = await store.page(name, request.prefix, request.after, request.limit);
    const before = `{"nextCursor":${JSON.stringify(cursorAfter(last))},"vectors":`;
    await call.results(before, documents, (document) => request.shown(document), '}');
    transferred(call);
  },
});

function transferred({ endpoint, grant, body, bytesOut }: SearchCall): void {
  endpoint.parts.meter.recordSearch(grant.index, { bytesIn: body.length, bytesOut });
}
