/** The data plane of search indexes in the document: a row for each command. Source: docs/guide/search.md. */
import {
  ERROR_SCHEMA,
  JSON_TYPE,
  type JsonSchema,
  jsonAnswer,
  type Operation,
  operationIdOf,
  type Parameter,
  type Paths,
  parametersIn,
} from './parts.js';

const TEXT: JsonSchema = { type: 'string' };
const WHOLE: JsonSchema = { type: 'integer' };
const FLAG: JsonSchema = { type: 'boolean' };
const OBJECT: JsonSchema = { type: 'object' };
/** A number is as good as its text. */
const ID: JsonSchema = { type: ['string', 'number'] };
const VECTOR: JsonSchema = { type: 'array', items: { type: 'number' } };
const TEXTS: JsonSchema = { type: 'array', items: TEXT };
const IDS: JsonSchema = { type: 'array', items: ID };
const SHOWN = { includeData: FLAG, includeMetadata: FLAG };
const STORED = { ...SHOWN, includeVectors: FLAG };
const DONE: JsonSchema = { const: 'Success' };
const MEMBERS = { content: OBJECT, metadata: OBJECT, vector: VECTOR };
const DOCUMENT = record({ id: ID, ...MEMBERS }, 'id', 'content');
const SHOWN_DOCUMENT = record({ id: TEXT, ...MEMBERS, score: { type: 'number', minimum: 0, maximum: 1 } }, 'id');
const COUNTS = { vectorCount: WHOLE, pendingVectorCount: WHOLE };

interface Row {
  readonly command: string;
  /** `{index}` behind the command. */
  readonly isNamed: boolean;
  readonly alsoBy?: 'get' | 'delete';
  /** In the query, whatever its value. */
  readonly needs?: string;
  readonly summary: string;
  readonly body?: JsonSchema;
  readonly result: JsonSchema;
}

const ROWS: readonly Row[] = [
  {
    command: 'upsert-data',
    isNamed: true,
    summary: 'Stores documents.',
    body: { oneOf: [DOCUMENT, { type: 'array', items: DOCUMENT }] },
    result: DONE,
  },
  {
    command: 'search',
    isNamed: true,
    summary: 'Finds documents, the best first.',
    // A vector may stand in place of the text.
    body: record({
      query: TEXT,
      topK: WHOLE,
      ...SHOWN,
      filter: TEXT,
      reranking: FLAG,
      semanticWeight: { type: 'number', minimum: 0, maximum: 1 },
      inputEnrichment: FLAG,
      _appendOriginalInputToEnrichmentResult: FLAG,
      vector: VECTOR,
    }),
    result: { type: 'array', items: SHOWN_DOCUMENT },
  },
  {
    command: 'fetch',
    isNamed: true,
    alsoBy: 'get',
    summary: 'Reads documents by their ids, or by what ids begin with.',
    body: record({ ids: IDS, prefix: TEXT, ...STORED }),
    result: { type: 'array', items: { oneOf: [SHOWN_DOCUMENT, { type: 'null' }] } },
  },
  {
    command: 'delete',
    isNamed: true,
    alsoBy: 'delete',
    summary: 'Deletes documents: by ids, by what ids begin with, or by a filter.',
    body: { oneOf: [record({ ids: IDS, prefix: TEXT, filter: TEXT }), IDS] },
    result: record({ deleted: WHOLE }, 'deleted'),
  },
  {
    command: 'range',
    isNamed: true,
    alsoBy: 'get',
    summary: 'Reads documents page by page.',
    body: record({ cursor: TEXT, limit: WHOLE, prefix: TEXT, ...STORED }),
    result: record({ nextCursor: TEXT, vectors: { type: 'array', items: SHOWN_DOCUMENT } }, 'nextCursor', 'vectors'),
  },
  { command: 'reset', isNamed: true, alsoBy: 'delete', summary: 'Empties an index.', result: DONE },
  {
    command: 'reset',
    isNamed: false,
    needs: 'all',
    alsoBy: 'delete',
    summary: 'Empties every index.',
    result: DONE,
  },
  { command: 'delete-namespace', isNamed: true, alsoBy: 'delete', summary: 'Deletes an index.', result: DONE },
  {
    command: 'rename-namespace',
    isNamed: false,
    summary: 'Gives an index another name.',
    body: record({ namespace: TEXT, newNamespace: TEXT, deleteExisting: FLAG }, 'namespace', 'newNamespace'),
    result: record({ renamed: FLAG }, 'renamed'),
  },
  { command: 'list-namespaces', isNamed: false, alsoBy: 'get', summary: 'Lists the indexes.', result: TEXTS },
  {
    command: 'info',
    isNamed: false,
    alsoBy: 'get',
    summary: 'Says what the indexes hold.',
    result: record(
      {
        ...COUNTS,
        indexSize: WHOLE,
        dimension: WHOLE,
        similarityFunction: TEXT,
        indexType: TEXT,
        denseIndex: OBJECT,
        sparseIndex: OBJECT,
        // By name of the index.
        namespaces: { type: 'object', additionalProperties: record(COUNTS, 'vectorCount', 'pendingVectorCount') },
      },
      'vectorCount',
      'pendingVectorCount',
      'indexSize',
      'namespaces',
    ),
  },
];

export function searchPaths(): Paths {
  const paths: Paths = {};
  for (const row of ROWS) {
    const path = `/search/{id}/${row.command}${row.isNamed ? '/{index}' : ''}`;
    const methods = row.alsoBy === undefined ? ['post'] : ['post', row.alsoBy];
    paths[path] = Object.fromEntries(methods.map((method) => [method, operationOf(row, method, path)]));
  }
  return paths;
}

function operationOf({ needs, summary, body, result }: Row, method: string, path: string): Operation {
  return {
    operationId: operationIdOf(method, path),
    tags: ['search'],
    summary,
    security: [{ bearer: [] }],
    parameters: [...parametersIn(path), ...(needs === undefined ? [] : [mark(needs)])],
    ...(body === undefined ? {} : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: {
      200: jsonAnswer('Done.', record({ result }, 'result')),
      401: jsonAnswer('The token is wrong.', SEARCH_ERROR),
      403: jsonAnswer('The token may only look, or the index is full.', SEARCH_ERROR),
      default: jsonAnswer('Refused, or not possible right now.', SEARCH_ERROR),
    },
  };
}

const SEARCH_ERROR: JsonSchema = { allOf: [ERROR_SCHEMA], properties: { error: TEXT, status: WHOLE } };

function mark(name: string): Parameter {
  return { name, in: 'query', required: true, schema: TEXT };
}

function record(properties: Readonly<Record<string, JsonSchema>>, ...required: readonly string[]): JsonSchema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}
