/**
 * Schemas of the data plane's requests and answers, for the OpenAPI document. Source: docs/guide/search.md.
 *
 * They are not derived from the rules in requests/, because those validate converted bodies, in which numbers are
 * texts, lists are ids, and missing members have their defaults.
 */
import { json } from '../http/answer-shape.js';
import { FLAG, type JsonSchema, OBJECT, record, TEXT, WHOLE } from '../http/openapi/parts.js';

/** A number becomes its text. */
const ID: JsonSchema = { type: ['string', 'number'] };
const IDS: JsonSchema = { type: 'array', items: ID };
const VECTOR: JsonSchema = { type: 'array', items: { type: 'number' } };
const SHARE: JsonSchema = { type: 'number', minimum: 0, maximum: 1 };
const SHOWN = { includeData: FLAG, includeMetadata: FLAG };
const STORED = { ...SHOWN, includeVectors: FLAG };
const DOCUMENT = record({ id: ID, content: OBJECT }, { metadata: OBJECT, vector: VECTOR });
const COUNTS = { vectorCount: WHOLE, pendingVectorCount: WHOLE };

export const DONE = json({ const: 'Success' });
export const SHOWN_DOCUMENT = record({ id: TEXT }, { content: OBJECT, metadata: OBJECT, vector: VECTOR, score: SHARE });

export const UPSERT_BODY: JsonSchema = { oneOf: [DOCUMENT, { type: 'array', items: DOCUMENT }] };
export const FETCH_BODY = record({}, { ids: IDS, prefix: TEXT, ...STORED });
export const RANGE_BODY = record({}, { cursor: TEXT, limit: WHOLE, prefix: TEXT, ...STORED });
export const DELETE_BODY: JsonSchema = { oneOf: [record({}, { ids: IDS, prefix: TEXT, filter: TEXT }), IDS] };
export const RENAME_BODY = record({ namespace: TEXT, newNamespace: TEXT }, { deleteExisting: FLAG });

/** A vector may replace the text. */
export const SEARCH_BODY = record(
  {},
  {
    query: TEXT,
    topK: WHOLE,
    ...SHOWN,
    filter: TEXT,
    reranking: FLAG,
    semanticWeight: SHARE,
    inputEnrichment: FLAG,
    _appendOriginalInputToEnrichmentResult: FLAG,
    vector: VECTOR,
  },
);

/** The namespaces, by the name of the index. */
export const HELD = record(
  { ...COUNTS, indexSize: WHOLE, namespaces: { type: 'object', additionalProperties: record(COUNTS) } },
  { dimension: WHOLE, similarityFunction: TEXT, indexType: TEXT, denseIndex: OBJECT, sparseIndex: OBJECT },
);
