/** The parts of an OpenAPI 3.1 document that are used here. */

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

/** A reference to an answer that many operations share. */
export interface AnswerReference {
  readonly $ref: string;
}

export interface Answered {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  /** Schemas of server-sent events by event name: OpenAPI has no keyword for them. */
  readonly 'x-events'?: Readonly<Record<string, JsonSchema>>;
}

/** A call of an operation, as a program. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ApiParameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Answered | AnswerReference>>;
  /** The right that the caller needs: `read` is also of read-only tokens. */
  readonly 'x-permission': string;
  /** The path as it is called: two operations share a path whose parameter means two things. */
  readonly 'x-calledAt'?: string;
  readonly 'x-codeSamples': readonly CodeSample[];
}

/** The address of an endpoint. */
export interface ApiServer {
  readonly url: string;
  readonly description?: string;
  readonly variables?: Readonly<Record<string, { readonly default: string; readonly description?: string }>>;
}

type PathItem = Readonly<Record<string, ApiOperation | readonly ApiServer[]>>;
export type Paths = Record<string, PathItem>;

export const JSON_TYPE = 'application/json';
export const ERROR_SCHEMA: JsonSchema = { $ref: '#/components/schemas/Error' };

export const RETRY_AFTER = {
  headers: {
    'Retry-After': { description: 'Seconds after which trying again makes sense.', schema: { type: 'integer' } },
  },
} as const;

export function jsonAnswer(description: string, schema: JsonSchema, example?: unknown): Answered {
  return { description, content: { [JSON_TYPE]: { schema, ...(example !== undefined && { example }) } } };
}

export function pathParameter(name: string, description?: string, schema: JsonSchema = TEXT): ApiParameter {
  return { name, in: 'path', required: true, schema, ...(description !== undefined && { description }) };
}

/** `post /v2/kv/rename/{id}` → `post_v2_kv_rename_id`. */
export function operationIdOf(method: string, path: string): string {
  return `${method}_${path}`.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '');
}

/** OpenAPI has no keyword for a parameter that may contain slashes. */
const TAKES_ALL = 'As written, with slashes, or percent-encoded.';

/** @param pattern of a route: `:name` and `*name` */
export function parametersIn(pattern: string): ApiParameter[] {
  return [...pattern.matchAll(/([:*])(\w+)/g)].map(([, kind, name = '']) =>
    pathParameter(name, kind === '*' ? TAKES_ALL : undefined),
  );
}

export const TEXT: JsonSchema = { type: 'string' };
export const WHOLE: JsonSchema = { type: 'integer' };
export const NUMBER: JsonSchema = { type: 'number' };
export const TIME: JsonSchema = { ...TEXT, format: 'date-time' };
export const FLAG: JsonSchema = { type: 'boolean' };
export const OBJECT: JsonSchema = { type: 'object' };
export const INSTANT: JsonSchema = { ...WHOLE, description: 'Milliseconds since 1970.' };
/** Header names, each with its values. */
export const HEADERS: JsonSchema = { ...OBJECT, additionalProperties: listOf(TEXT) };

/** Headers in a request: a single value may stand without a list. */
export const HEADERS_GIVEN: JsonSchema = { ...OBJECT, additionalProperties: { oneOf: [TEXT, listOf(TEXT)] } };

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function wordOf(words: readonly string[]): JsonSchema {
  return { ...TEXT, enum: words };
}

export function queryParameter(name: string, description?: string, schema = TEXT): ApiParameter {
  const parameter = { name, in: 'query', required: false, schema } as const;
  return description === undefined ? parameter : { ...parameter, description };
}

export function headerParameter(name: string, description: string, schema = TEXT): ApiParameter {
  return { name, in: 'header', required: false, schema, description };
}

/** @param mayBeMissing default: all members are required */
export function record(
  properties: Readonly<Record<string, JsonSchema>>,
  mayBeMissing: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const required = Object.keys(properties);
  const all = { ...properties, ...mayBeMissing };
  return { type: 'object', properties: all, ...(required.length === 0 ? {} : { required }) };
}

export function schemaNamed(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
