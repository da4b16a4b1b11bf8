/**
 * JSON schemas of event types (draft 7, with `$defs` as another name of `definitions`). Schemas come from users, so they
 * are interpreted: a compiled one of 900 properties stops the process for half a second. Each is judged first:
 *
 *  ESC1 references lead to a place in the same schema and never in a circle; the schema with its references resolved
 *       has at most `MAX_SCHEMA_PARTS` parts, and they are applied to a payload at most `MAX_APPLIED` times together
 *  ESC2 patterns are matched by RE2, which takes linear time
 *  ESC3 a keyword without effect here is refused, so that no payload passes that the author meant to refuse
 */
import { type CustomProperty, type Schema, Validator } from 'jsonschema';
import { RE2JS } from 're2js';
import { BoundedCache, getOrCreate } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';

/** Parts of a schema with its references resolved. */
const MAX_SCHEMA_PARTS = 2_000;
/** A part takes some microseconds, so a payload takes some tens of milliseconds at most. */
const MAX_APPLIED = 10_000;
/** Prepared schemas and patterns kept; above this number the oldest is dropped. */
const MAX_KEPT = 500;
/** Marks each part, so that its applications are counted. The name is refused in schemas of users. */
const COUNTED = '#counted';

type Judge = (value: unknown) => boolean;
const isText: Judge = (value) => typeof value === 'string';
const isNumber: Judge = (value) => typeof value === 'number';
const isSize: Judge = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isList: Judge = (value) => Array.isArray(value);
const areTexts: Judge = (value) => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const isType: Judge = (value) => [value].flat().every((one) => TYPES.has(one));
const isPattern: Judge = (value) => isText(value) && patternOf(value as string) !== undefined;

/** Keywords with their values; parts of schemas are in the two lists below. */
const VALUES: Readonly<Record<string, Judge>> = {
  type: isType,
  enum: isList,
  const: () => true,
  required: areTexts,
  pattern: isPattern,
  ...named(isNumber, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  ...named(isSize, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...named(isText, 'title', 'description', '$comment', 'format', 'contentMediaType'),
  ...named(isText, 'contentEncoding'),
  ...named(() => true, 'default', 'examples', 'readOnly', 'writeOnly', 'deprecated'),
};
/** Keywords with a part, or a list of parts. */
const PARTS = [
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const PART_LISTS = ['allOf', 'anyOf', 'oneOf'];
/** Keywords with parts by name. */
const NAMED_PARTS = ['properties', 'definitions', '$defs'];

const patterns = new BoundedCache<string, RE2JS>(MAX_KEPT);

export class EventSchemas {
  readonly #prepared = new BoundedCache<string, Schema>(MAX_KEPT);
  readonly #validator = new Validator();
  #left = 0;

  constructor() {
    const { attributes } = this.#validator;
    attributes[COUNTED] = () => {
      this.#left -= 1;
      if (this.#left < 0) throw invalid(`payload has too many values for its schema: more than ${MAX_APPLIED} checks`);
      return '';
    };
    attributes.pattern = matchesPattern;
    attributes.format = () => '';
  }

  /** @throws Refused 400 for a schema that is invalid, too large, or has keywords without effect */
  judge(text: string): void {
    if (text !== '') this.#prepare(text);
  }

  /** @throws Refused 400 with the place of the first problem */
  validate(text: string, payload: unknown): void {
    if (text === '') return;
    const schema = this.#prepare(text);
    this.#left = MAX_APPLIED;
    const [problem] = this.#validator.validate(payload, schema).errors;
    if (problem !== undefined) throw invalid(`payload${problem.property.replace(/^instance/, '')} ${problem.message}`);
  }

  #prepare(text: string): Schema {
    return getOrCreate(this.#prepared, text, () => {
      const root: unknown = JSON.parse(text);
      return prepared(root, { root, within: new Set(), budget: { left: MAX_SCHEMA_PARTS } }) as Schema;
    });
  }
}

/** ESC2 (patterns take linear time). */
const matchesPattern: CustomProperty = (instance, { pattern }) => {
  if (typeof instance !== 'string' || typeof pattern !== 'string') return '';
  return patternOf(pattern)?.matcher(instance).find() === true ? '' : `must match the pattern ${pattern}`;
};

/** Undefined: not a pattern of RE2. */
function patternOf(text: string): RE2JS | undefined {
  try {
    return getOrCreate(patterns, text, () => RE2JS.compile(text));
  } catch {
    return undefined;
  }
}

interface Judged {
  readonly root: unknown;
  /** References that lead here. */
  readonly within: ReadonlySet<string>;
  readonly budget: { left: number };
}

/** A part with its references resolved, so that the interpreter has none to follow. @throws Refused 400 */
function prepared(part: unknown, judged: Judged): unknown {
  if (typeof part === 'boolean') return part;
  if (!isObject(part)) throw invalid('schema: a part is neither an object nor a boolean');
  judged.budget.left -= 1;
  if (judged.budget.left < 0)
    throw invalid(`schema: has more than ${MAX_SCHEMA_PARTS} parts with its references resolved`);
  // Names of schemas have no effect, because references lead to places only.
  const { $ref, $id: _, $schema: __, ...own } = part;
  // In draft 7 the other keywords of a part with a reference have no effect, so they are refused as siblings.
  if ($ref !== undefined) {
    if (Object.keys(own).some((keyword) => !isAnnotation(keyword) && keyword !== 'definitions' && keyword !== '$defs'))
      throw invalid('schema: $ref has no other keywords next to it; use allOf');
    return referred($ref, judged);
  }
  const result: Record<string, unknown> = { [COUNTED]: true };
  for (const [keyword, value] of Object.entries(own)) {
    if (NAMED_PARTS.includes(keyword)) {
      if (!isObject(value)) throw invalid(`schema: ${keyword} must be an object`);
      // Definitions are resolved where they are referred to.
      if (keyword !== 'properties') continue;
      result[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, prepared(one, judged)]));
    } else if (PART_LISTS.includes(keyword) || (keyword === 'items' && Array.isArray(value))) {
      if (!Array.isArray(value) || value.length === 0) throw invalid(`schema: ${keyword} must be a list of schemas`);
      result[keyword] = value.map((one) => prepared(one, judged));
    } else if (PARTS.includes(keyword)) result[keyword] = prepared(value, judged);
    else result[keyword] = checkedValue(keyword, value);
  }
  return result;
}

/** ESC1 (no circles). @throws Refused 400 */
function referred(reference: unknown, judged: Judged): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/'))
    throw invalid('schema: a reference must begin with #/');
  if (judged.within.has(reference)) throw invalid(`schema: ${reference} leads to itself`);
  let place: unknown = judged.root;
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name))
      throw invalid(`schema: there is no ${reference}`);
    place = (place as Readonly<Record<string, unknown>>)[name];
  }
  return prepared(place, { ...judged, within: new Set([...judged.within, reference]) });
}

/** ESC3 (no keyword without effect). @throws Refused 400 */
function checkedValue(keyword: string, value: unknown): unknown {
  const judge = Object.hasOwn(VALUES, keyword) ? VALUES[keyword] : undefined;
  if (judge === undefined && !isAnnotation(keyword)) throw invalid(`schema: ${keyword} is not supported`);
  if (judge?.(value) === false) throw invalid(`schema: ${keyword} has a value that it cannot have`);
  return value;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default', 'examples']);

function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || keyword.startsWith('x-');
}

function named(judge: Judge, ...keywords: readonly string[]): Readonly<Record<string, Judge>> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, judge]));
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
