/** Documents of indexes: the values of an index's fields in the values of keys, and these values for answers. */
import { type ByteString, bytesOfText, getOrCreate, textOfBytes } from '../../kernel/index.js';
import type { FilterJson, IndexDefinition, IndexField, Scalar } from '../full-text/index.js';
import { MAX_FIELD_CHARACTERS, MAX_FIELD_VALUES } from '../full-text/index.js';
import { ErrorReply } from './reply.js';
import { SlicePace } from './slices.js';
import type { Steps } from './steps.js';
import { HashValue } from './types/hash-value.js';
import { JsonDocument, type JsonValue, readJson, WholeFloat } from './types/json/index.js';
import type { StreamEntry } from './types/stream-rebuild.js';
import type { Value } from './value.js';

const MAX_TEXT_BYTES = 4 * MAX_FIELD_CHARACTERS;

export type FieldValues = readonly (readonly Scalar[])[];

/** The fields' values in the value of a key; undefined: the value is no document of this index. In slices. */
export function* valuesIn(value: Value, definition: IndexDefinition, nowMs: number): Steps<FieldValues | undefined> {
  const root = yield* rootOf(value, definition.source);
  if (root === undefined) return undefined;
  const values: (readonly Scalar[])[] = [];
  const sources = sourcesOf(definition);
  for (let place = 0; place < sources.length; place += 1) {
    const { name, steps, same } = sources[place] as FieldSource;
    const known = values[same];
    if (known !== undefined) values.push(known);
    else if (root instanceof HashValue) values.push(scalarsOf(root.get(name, nowMs)));
    else values.push(yield* scalarsAt(root.json, steps));
  }
  return values;
}

/** Where the values of a field are in a document. */
interface FieldSource {
  readonly name: ByteString;
  readonly steps: readonly ByteString[];
  /** The place of the first field with this source: both have the same list, so that a long text is decoded once. */
  readonly same: number;
}

const knownSources = new WeakMap<readonly IndexField[], readonly FieldSource[]>();

function sourcesOf({ source, fields }: IndexDefinition): readonly FieldSource[] {
  return getOrCreate(knownSources, fields, () => {
    // `$.a` and `a` are the same member of a document, and different fields of a hash.
    const paths = fields.map((field) => (source === 'HASH' ? sourceOf(field) : stepsOf(field).join('.')));
    return fields.map((field, place) => ({
      name: sourceOf(field),
      steps: stepsOf(field),
      same: paths.indexOf(paths[place] as ByteString),
    }));
  });
}

type Root = HashValue | { readonly json: JsonValue } | undefined;

/** The value as a document of that source; undefined if it is none. */
export function* rootOf(value: Value, source: IndexDefinition['source']): Steps<Root> {
  if (source === 'HASH') return value instanceof HashValue ? value : undefined;
  if (source === 'JSON') return value instanceof JsonDocument ? { json: value.root } : undefined;
  if (source !== 'STRING' || typeof value !== 'string') return undefined;
  try {
    const { value: json } = yield* readJson(value);
    return { json };
  } catch (refusal) {
    if (refusal instanceof ErrorReply) return undefined;
    throw refusal;
  }
}

/** As `valuesIn`, of an entry of a stream. */
export function valuesInEntry({ names, values }: StreamEntry, { fields }: IndexDefinition): FieldValues {
  const valuesByName = new Map(names.map((name, at) => [name, values[at] as ByteString]));
  const bySource = new Map<ByteString, readonly Scalar[]>();
  return fields.map((field) => {
    const source = sourceOf(field);
    return getOrCreate(bySource, source, () => scalarsOf(valuesByName.get(source)));
  });
}

/** The name of the field in the document. */
function sourceOf({ path, from }: IndexField): ByteString {
  return bytesOfText(from ?? path);
}

export function stepsOf(field: IndexField): ByteString[] {
  const path = sourceOf(field);
  return (path.startsWith('$.') ? path.slice(2) : path).split('.');
}

const NO_SCALARS: readonly Scalar[] = [];

function scalarsOf(value: ByteString | undefined): readonly Scalar[] {
  return value === undefined ? NO_SCALARS : [searchedText(value)];
}

/** The part of a long text that may be searched, so that the rest is not decoded. A character has at most four bytes. */
function searchedText(bytes: ByteString): string {
  return textOfBytes(bytes.length > MAX_TEXT_BYTES ? bytes.slice(0, MAX_TEXT_BYTES) : bytes);
}

/** The scalars at a path; arrays stand for all of their items. */
function* scalarsAt(root: JsonValue, steps: readonly ByteString[]): Steps<readonly Scalar[]> {
  const only = valueWithoutArrays(root, steps);
  if (only === undefined) return NO_SCALARS;
  const found: Scalar[] = [];
  if (!Array.isArray(only)) {
    const scalar = scalarOf(only);
    if (scalar !== undefined) found.push(scalar);
    return found;
  }
  const pace = new SlicePace();
  function* visit(value: JsonValue, depth: number): Steps<void> {
    if (pace.isDue()) yield;
    if (Array.isArray(value)) {
      for (const item of value) {
        if (found.length >= MAX_FIELD_VALUES) return;
        yield* visit(item, depth);
      }
    } else if (depth < steps.length) {
      const member = value instanceof Map ? value.get(steps[depth] as ByteString) : undefined;
      if (member !== undefined) yield* visit(member, depth + 1);
    } else {
      const scalar = scalarOf(value);
      if (scalar !== undefined) found.push(scalar);
    }
  }
  yield* visit(root, 0);
  return found;
}

/** The value at a path, or the first array on it; undefined: there is none. */
function valueWithoutArrays(root: JsonValue, steps: readonly ByteString[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of steps) {
    if (Array.isArray(value)) return value;
    value = value instanceof Map ? value.get(step) : undefined;
  }
  return value;
}

/** The value at a path for an answer; undefined if there is none. An array before the last step gives an array. */
export function valueAt(root: JsonValue, steps: readonly ByteString[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const [depth, step] of steps.entries()) {
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (const item of value) {
        const found = valueAt(item, steps.slice(depth));
        if (found !== undefined) items.push(found);
      }
      return items.length === 0 ? undefined : items;
    }
    value = value instanceof Map ? value.get(step) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function scalarOf(value: JsonValue): Scalar | undefined {
  if (value === null || typeof value === 'object') return value instanceof WholeFloat ? value.value : undefined;
  return typeof value === 'string' ? searchedText(value) : value;
}

/** A document's JSON as that of a filter: texts are decoded. */
export function filterJsonOf(value: JsonValue): FilterJson {
  if (value === null) return null;
  if (value instanceof WholeFloat) return value.value;
  if (Array.isArray(value)) return value.map(filterJsonOf);
  if (value instanceof Map) {
    return new Map([...value].map(([name, member]) => [textOfBytes(name), filterJsonOf(member)]));
  }
  return typeof value === 'string' ? textOfBytes(value) : value;
}
