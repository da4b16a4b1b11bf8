/** Checks a value against a JSON schema, for the subset of the language that the OpenAPI document uses. */
type Schema = Readonly<Record<string, unknown>>;
type Combining = 'allOf' | 'anyOf' | 'oneOf';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const KNOWN_WORDS = new Set([
  ...[
    'type',
    'properties',
    'required',
    'items',
    'enum',
    'const',
    'allOf',
    'anyOf',
    'oneOf',
    '$ref',
    'description',
    'format',
  ],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'uniqueItems', 'additionalProperties'],
]);

/** @param definitions by the last part of their reference. @returns one line for each violation, with its path */
export function misfits(
  value: unknown,
  schema: Schema,
  definitions: Readonly<Record<string, Schema>>,
  at = '$',
): string[] {
  const strange = Object.keys(schema).filter((word) => !KNOWN_WORDS.has(word));
  if (strange.length > 0) return [`${at}: the schema has keywords that are not checked here: ${strange}`];
  const { $ref, allOf, anyOf, oneOf } = schema as { $ref?: string } & Partial<Record<Combining, Schema[]>>;
  if ($ref !== undefined) {
    const found = definitions[$ref.split('/').at(-1) as string];
    return found === undefined ? [`${at}: ${$ref} is not defined`] : misfits(value, found, definitions, at);
  }
  if (oneOf !== undefined) {
    const fitting = oneOf.filter((each) => misfits(value, each, definitions, at).length === 0);
    return fitting.length === 1 ? [] : [`${at}: fits ${fitting.length} of the kinds that it may be`];
  }
  if (anyOf !== undefined) {
    const all = anyOf.map((each) => misfits(value, each, definitions, at));
    return all.some((each) => each.length === 0) ? [] : [`${at}: fits none of the kinds that it may be`, ...all.flat()];
  }
  return [
    ...(allOf ?? []).flatMap((each) => misfits(value, each, definitions, at)),
    ...ofType(value, schema, at),
    ...ofBounds(value, schema, at),
    ...ofMembers(value, schema, definitions, at),
    ...ofItems(value, schema, definitions, at),
  ];
}

function ofType(value: unknown, schema: Schema, at: string): string[] {
  const wanted = [schema.type ?? []].flat() as string[];
  const isOne = wanted.length === 0 || wanted.some((type) => TYPES[type]?.(value) === true);
  if (!isOne) return [`${at}: ${JSON.stringify(value)} is not ${wanted.join(' or ')}`];
  if ('const' in schema && value !== schema.const) return [`${at}: is not ${JSON.stringify(schema.const)}`];
  const choices = schema.enum as readonly unknown[] | undefined;
  return choices === undefined || choices.includes(value)
    ? []
    : [`${at}: ${JSON.stringify(value)} is none of ${choices}`];
}

function ofBounds(value: unknown, schema: Schema, at: string): string[] {
  const size = typeof value === 'number' ? value : Array.isArray(value) || typeof value === 'string' ? value.length : 0;
  const { minimum, minLength, minItems, maximum, maxLength, maxItems } = schema as Record<string, number | undefined>;
  const low = minimum ?? minLength ?? minItems ?? Number.NEGATIVE_INFINITY;
  const high = maximum ?? maxLength ?? maxItems ?? Number.POSITIVE_INFINITY;
  return size < low || size > high ? [`${at}: ${size} is not from ${low} to ${high}`] : [];
}

/** Members without a schema are violations: a document that leaves out a part of an answer is wrong too. */
function ofMembers(
  value: unknown,
  {
    properties,
    required = [],
    additionalProperties,
  }: {
    properties?: Record<string, Schema>;
    required?: readonly string[];
    additionalProperties?: Schema;
  } & Schema,
  definitions: Readonly<Record<string, Schema>>,
  at: string,
): string[] {
  const others = additionalProperties;
  if ((properties ?? others) === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
    return [];
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name}: is missing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const schema = properties?.[name] ?? others;
    return schema === undefined
      ? [`${at}.${name}: is not in the document`]
      : misfits(member, schema, definitions, `${at}.${name}`);
  });
  return [...missing, ...wrong];
}

function ofItems(
  value: unknown,
  { items }: { items?: Schema } & Schema,
  definitions: Readonly<Record<string, Schema>>,
  at: string,
): string[] {
  if (items === undefined || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => misfits(item, items, definitions, `${at}[${index}]`));
}
