/**
 * The values of a JSON document. Strings are UTF-8 byte strings. Objects are Maps, so that no member name can collide
 * with a JavaScript property. Integers and floats are distinct, as `1` and `1.0` are.
 *
 * A whole `number` is an integer, another `number` a float. A float without a fraction is a `WholeFloat`; an integer
 * beyond 2^53 is a bigint.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { SlicePace } from '../../slices.js';
import type { Steps } from '../../steps.js';
import { SLICE_VALUES } from './json-limits.js';

/** A float without a fraction: `1.0`, `-0.0`, `1e30`. */
export class WholeFloat {
  constructor(readonly value: number) {}
}

export type JsonNumber = number | bigint | WholeFloat;
export type JsonArray = JsonValue[];
export type JsonMembers = Map<ByteString, JsonValue>;
export type JsonContainer = JsonArray | JsonMembers;
export type JsonValue = null | boolean | ByteString | JsonNumber | JsonContainer;

export type JsonTypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** The type name of JSON.TYPE: `integer` for integers, `number` for floats. */
export function typeOfJson(value: JsonValue): JsonTypeName {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
  }
  if (value === null) return 'null';
  if (value instanceof WholeFloat) return 'number';
  return Array.isArray(value) ? 'array' : 'object';
}

export function isContainer(value: JsonValue): value is JsonContainer {
  return Array.isArray(value) || value instanceof Map;
}

export function isJsonNumber(value: JsonValue): value is JsonNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof WholeFloat;
}

export function lengthOfJson(value: JsonContainer): number {
  return Array.isArray(value) ? value.length : value.size;
}

const SCALAR_BYTES = 8;
const STRING_BYTES = 16;
const CONTAINER_BYTES = 32;
/** The overhead of a member in addition to its name and value. */
const MEMBER_BYTES = 24;

export function memberBytes(name: ByteString): number {
  return MEMBER_BYTES + name.length;
}

/** The bytes of a value without its contents. */
export function ownBytes(value: JsonValue): number {
  if (typeof value === 'string') return STRING_BYTES + value.length;
  return isContainer(value) ? CONTAINER_BYTES : SCALAR_BYTES;
}

/** The pace for visiting values of a document. */
export class ValuePace extends SlicePace {
  constructor() {
    super(SLICE_VALUES);
  }
}

/** The approximate bytes of a value in memory; depends only on its contents. */
export function* measured(value: JsonValue): Steps<number> {
  if (!isContainer(value)) return ownBytes(value);
  let bytes = 0;
  const pace = new ValuePace();
  const open: JsonContainer[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    bytes += CONTAINER_BYTES;
    if (pace.isDue()) yield;
    for (const name of next instanceof Map ? next.keys() : []) {
      bytes += memberBytes(name);
      if (pace.isDue()) yield;
    }
    for (const child of next.values()) {
      if (isContainer(child)) open.push(child);
      else bytes += ownBytes(child);
      if (pace.isDue()) yield;
    }
  }
  return bytes;
}

export function* copied(value: JsonValue): Steps<JsonValue> {
  if (!isContainer(value)) return value;
  const pace = new ValuePace();
  const open: [JsonContainer, JsonContainer][] = [];
  const begin = (source: JsonValue): JsonValue => {
    if (!isContainer(source)) return source;
    const copy: JsonContainer = Array.isArray(source) ? [] : new Map();
    open.push([source, copy]);
    return copy;
  };
  const root = begin(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [source, copy] = next;
    if (Array.isArray(source)) {
      for (const child of source) {
        (copy as JsonArray).push(begin(child));
        if (pace.isDue()) yield;
      }
    } else {
      for (const [name, child] of source) {
        (copy as JsonMembers).set(name, begin(child));
        if (pace.isDue()) yield;
      }
    }
    if (pace.isDue()) yield;
  }
  return root;
}

/** Whether values and types are equal: an integer never equals a float. The order of members is ignored. */
export function areEqualJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a instanceof WholeFloat) return b instanceof WholeFloat && a.value === b.value;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => areEqualJson(item, b[index] as JsonValue));
  }
  if (!(a instanceof Map) || !(b instanceof Map) || a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !areEqualJson(value, other)) return false;
  }
  return true;
}
