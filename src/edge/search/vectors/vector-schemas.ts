/** Schemas of the data plane of vectors, for the OpenAPI document. Source: docs/guide/vectors.md. */
import { FUSIONS } from '../../../domain/search/index.js';
import { FLAG, type JsonSchema, OBJECT, record, TEXT, WHOLE } from '../../http/openapi/parts.js';

/** A number becomes its text. */
const ID: JsonSchema = { type: ['string', 'number'] };
const IDS: JsonSchema = { type: 'array', items: ID };
const NUMBERS: JsonSchema = { type: 'array', items: { type: 'number' } };
const SPARSE = record({ indices: { type: 'array', items: WHOLE }, values: NUMBERS });
const SHOWN = { includeVectors: FLAG, includeMetadata: FLAG, includeData: FLAG };
const VECTORS = { vector: NUMBERS, sparseVector: SPARSE };
const QUERY = {
  topK: WHOLE,
  ...SHOWN,
  filter: TEXT,
  weightingStrategy: { const: 'IDF' },
  fusionAlgorithm: { enum: [...FUSIONS] },
};
const QUERY_MODE = { enum: ['HYBRID', 'DENSE', 'SPARSE'] };

function oneOrMany(one: JsonSchema): JsonSchema {
  return { oneOf: [one, { type: 'array', items: one }] };
}

export const FOUND_VECTOR = record(
  { id: TEXT },
  { score: { type: 'number' }, ...VECTORS, metadata: OBJECT, data: TEXT },
);
export const FOUND_VECTORS: JsonSchema = { type: 'array', items: FOUND_VECTOR };

export const VECTOR_UPSERT_BODY = oneOrMany(record({ id: ID }, { ...VECTORS, metadata: OBJECT, data: TEXT }));
export const UPSERT_DATA_BODY = oneOrMany(record({ id: ID, data: TEXT }, { metadata: OBJECT }));
export const UPDATE_BODY = record(
  { id: ID },
  { ...VECTORS, data: TEXT, metadata: OBJECT, metadataUpdateMode: { enum: ['OVERWRITE', 'PATCH'] } },
);
export const QUERY_BODY = oneOrMany(record({}, { ...VECTORS, ...QUERY }));
export const QUERY_DATA_BODY = oneOrMany(record({ data: TEXT }, { ...QUERY, queryMode: QUERY_MODE }));
export const RESUMABLE_BODY = record({}, { ...VECTORS, ...QUERY, maxIdle: WHOLE });
export const RESUMABLE_DATA_BODY = record({ data: TEXT }, { ...QUERY, queryMode: QUERY_MODE, maxIdle: WHOLE });
export const NEXT_BODY = record({ uuid: TEXT, additionalK: WHOLE });
export const END_BODY = record({ uuid: TEXT });
export const VECTOR_FETCH_BODY = record({}, { ids: IDS, prefix: TEXT, ...SHOWN });
export const VECTOR_RANGE_BODY = record(
  {},
  { cursor: { type: ['string', 'number'] }, limit: WHOLE, prefix: TEXT, ...SHOWN },
);
export const VECTOR_DELETE_BODY: JsonSchema = { oneOf: [record({}, { ids: IDS, prefix: TEXT, filter: TEXT }), IDS] };
export const VECTOR_RENAME_BODY = record({ namespace: TEXT, newNamespace: TEXT }, { deleteExisting: FLAG });
