/** Words of an OpenAPI 3.1 document, as far as they are used here. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

export interface Answered {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ApiParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, Answered>>;
}

type PathItem = Readonly<Record<string, ApiOperation | readonly { readonly url: string }[]>>;
export type Paths = Record<string, PathItem>;

export const JSON_TYPE = 'application/json';
export const ERROR_SCHEMA: JsonSchema = { $ref: '#/components/schemas/Error' };

export function jsonAnswer(description: string, schema: JsonSchema): Answered {
  return { description, content: { [JSON_TYPE]: { schema } } };
}

function pathParameter(name: string): ApiParameter {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

/** `post /v2/kv/rename/{id}` → `post_v2_kv_rename_id`. */
export function operationIdOf(method: string, path: string): string {
  return `${method}_${path}`.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '');
}

/** Names between braces. */
export function parametersIn(path: string): ApiParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name));
}

export const TEXT: JsonSchema = { type: 'string' };
export const WHOLE: JsonSchema = { type: 'integer' };
export const FLAG: JsonSchema = { type: 'boolean' };
export const OBJECT: JsonSchema = { type: 'object' };
export const OBJECT_LIST: JsonSchema = { type: 'array', items: OBJECT };
/** Whatever JSON. */
export const ANYTHING: JsonSchema = {};

export function queryParameter(name: string, description?: string, schema = TEXT): ApiParameter {
  const parameter = { name, in: 'query', required: false, schema } as const;
  return description === undefined ? parameter : { ...parameter, description };
}

/** Each a text. */
export function textParameters(names: Iterable<string>): readonly ApiParameter[] {
  return [...names].map((name) => queryParameter(name));
}

export function headerParameter(name: string): ApiParameter {
  return { name, in: 'header', required: false, schema: TEXT };
}

/** @param mayBeMissing left out: all are there */
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
