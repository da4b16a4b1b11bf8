/**
 * Operations of the installation's OpenAPI document that a program may call as tools. Left out: answers without an end or
 * of bytes, areas with credentials of their own, further spellings of the same operation, and keys that sign.
 */

/** A JSON object. */
export type Json = Record<string, PlainJson>;
export type PlainJson = string | number | boolean | null | PlainJson[] | { [name: string]: PlainJson };

/** The parts of an OpenAPI 3.1 document that are read here. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

interface PathItem {
  readonly servers?: readonly { readonly url: string }[];
  readonly get?: DescribedOperation;
  readonly post?: DescribedOperation;
  readonly put?: DescribedOperation;
  readonly patch?: DescribedOperation;
  readonly delete?: DescribedOperation;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { schema: Json }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>;
  readonly 'x-permission': string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
  readonly description?: string;
}

const AREAS = ['kv', 'queue', 'search', 'vector', 'management', 'operators'] as const;
export type Area = (typeof AREAS)[number];

export interface Operation {
  readonly name: string;
  readonly area: Area;
  readonly method: string;
  /** The port of the area. */
  readonly base: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly about: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: string; readonly schema: Json; readonly isRequired: boolean } | undefined;
  readonly isReadOnly: boolean;
  /** Removes or replaces data or credentials. */
  readonly isDestructive: boolean;
}

/** The routes of the store take any command; one of them is enough for a program. */
const KV_OPERATIONS: ReadonlySet<string> = new Set(['kv_post', 'kv_post_pipeline', 'kv_post_multi_exec']);
/** A session would outlive the program; signing keys let their reader forge deliveries; the document is known. */
const LEFT_OUT = /^(?:\w+_v2_admin_sessions?|\w+_v2_sessions(?:_id)?|get_v2_keys|get_openapi_json)$/;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const DESTRUCTIVE_PATH = /reset|rotate|restore|delete|disable|transfer|move|merge|undo|partitions/;
const READABLE = /^application\/json/;

/** @param base the URL from which the document was read */
export function operationsOf({ paths }: ApiDocument, base: string): Operation[] {
  const seen = new Set<string>();
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = item[method];
      if (described === undefined || !isUsable(described)) return [];
      const same = `${described.tags[0]} ${described.summary} ${described.requestBody === undefined}`;
      if (seen.has(same)) return [];
      seen.add(same);
      return [operationOf(described, method, { base: item.servers?.[0]?.url ?? base, path })];
    }),
  );
}

function isUsable({ operationId, tags: [area], responses }: DescribedOperation): boolean {
  if (!isArea(area) || LEFT_OUT.test(operationId)) return false;
  if (area === 'kv' && !KV_OPERATIONS.has(operationId)) return false;
  const types = Object.keys(Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {});
  return types.length === 0 || types.some((type) => READABLE.test(type));
}

function operationOf(
  described: DescribedOperation,
  method: string,
  { base, path }: Pick<Operation, 'base' | 'path'>,
): Operation {
  const { operationId: name, tags, summary, description, parameters, requestBody } = described;
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const area = tags[0] as Area;
  // A query may need a body. A read-only token of a database may run any command that reads.
  const isQuery = described['x-permission'] === 'read' && (area === 'search' || area === 'vector');
  const isReadOnly = method === 'get' || isQuery || name === 'kv_post';
  return {
    name,
    area,
    method: method.toUpperCase(),
    base,
    path,
    about: `${summary} ${description}`.trim(),
    parameters,
    body:
      type === undefined || media === undefined
        ? undefined
        : { type, schema: media.schema, isRequired: requestBody?.required === true },
    isReadOnly,
    isDestructive: !isReadOnly && (method === 'delete' || DESTRUCTIVE_PATH.test(path)),
  };
}

export function isArea(name: string): name is Area {
  return (AREAS as readonly string[]).includes(name);
}
