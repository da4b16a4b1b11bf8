/**
 * JSON schemas of event types (draft 2020-12). Schemas come from users, so each is judged before it is compiled:
 *
 *  ESC1 references lead to a place in the same schema and never in a circle; the schema with its references resolved
 *       has at most `MAX_SCHEMA_NODES` parts, which bounds the time to validate a payload
 *  ESC2 patterns are compiled by RE2, which takes linear time
 */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { BoundedCache } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';

/** Parts of a schema with its references resolved; each is applied to a value of the payload at most once. */
const MAX_SCHEMA_NODES = 2_000;
/** Compiled schemas kept; above this number the oldest is dropped. */
const MAX_COMPILED = 500;
/** Keywords that take quadratic time. */
const UNBOUNDED = ['uniqueItems', '$dynamicRef', '$recursiveRef'] as const;

export class EventSchemas {
  readonly #compiled = new BoundedCache<string, ValidateFunction>(MAX_COMPILED);

  /** @throws Refused 400 for a schema that is invalid or too large */
  async judge(text: string): Promise<void> {
    if (text !== '') await this.#compile(text);
  }

  /** @throws Refused 400 with the place of the first problem */
  async validate(text: string, payload: unknown): Promise<void> {
    if (text === '') return;
    const validate = await this.#compile(text);
    if (validate(payload)) return;
    const [problem] = validate.errors ?? [];
    throw invalid(`payload${problem?.instancePath ?? ''} ${problem?.message ?? 'does not match the schema'}`);
  }

  async #compile(text: string): Promise<ValidateFunction> {
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const schema = JSON.parse(text) as object;
    weigh(schema, schema, new Set(), { left: MAX_SCHEMA_NODES });
    const compiled = await compiledBy(schema);
    this.#compiled.set(text, compiled);
    return compiled;
  }
}

/** The validator is loaded with the first schema. @throws Refused 400 */
async function compiledBy(schema: object): Promise<ValidateFunction> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const regExp = Object.assign(compilePattern, { code: 'undefined' });
  try {
    return new Ajv2020({ strict: false, validateFormats: false, addUsedSchema: false, code: { regExp } }).compile(
      schema,
    );
  } catch (error) {
    throw invalid(`schema: ${error instanceof Error ? error.message : 'is not a JSON schema'}`);
  }
}

/** ESC2 (patterns take linear time). The validator tells patterns apart by their texts. */
function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(pattern);
  return { test: (text) => compiled.matcher(text).find(), toString: () => `/${pattern}/` };
}

/** ESC1 (no circles, a bounded number of parts). @throws Refused 400 */
function weigh(part: unknown, root: object, within: ReadonlySet<string>, budget: { left: number }): void {
  if (typeof part !== 'object' || part === null) return;
  budget.left -= 1;
  if (budget.left < 0) throw invalid(`schema: has more than ${MAX_SCHEMA_NODES} parts with its references resolved`);
  if (!Array.isArray(part)) {
    for (const keyword of UNBOUNDED) {
      const value = Object.hasOwn(part, keyword) && (part as Readonly<Record<string, unknown>>)[keyword];
      if (value === true || typeof value === 'string') throw invalid(`schema: ${keyword} is not supported`);
    }
    const reference = (part as { readonly $ref?: unknown }).$ref;
    if (typeof reference === 'string') {
      if (within.has(reference)) throw invalid(`schema: ${reference} leads to itself`);
      weigh(placeOf(root, reference), root, new Set([...within, reference]), budget);
    }
  }
  for (const child of Object.values(part)) weigh(child, root, within, budget);
}

/** @throws Refused 400 */
function placeOf(root: object, reference: string): unknown {
  let place: unknown = root;
  if (!reference.startsWith('#/')) throw invalid('schema: a reference must begin with #/');
  for (const step of reference.slice(2).split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof place === 'object' && place !== null && Object.hasOwn(place, name);
    if (!isThere) throw invalid(`schema: there is no ${reference}`);
    place = (place as Readonly<Record<string, unknown>>)[name];
  }
  return place;
}
