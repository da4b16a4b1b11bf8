/**
 * What a JSON document is made of. Strings are byte strings of UTF-8; objects are maps, so that no name of a
 * member means anything to the language; integers and floats are told apart, as `1` and `1.0` are.
 *
 * A number that is whole is an integer, one that is not is a float. Whole floats are `WholeFloat`, integers
 * beyond 2^53 are bigints.
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

/** The word JSON.TYPE has for it: whole numbers are `integer`, floats `number`. */
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

/** How many items or members the container has. */
export function lengthOfJson(value: JsonContainer): number {
  return Array.isArray(value) ? value.length : value.size;
}

const SCALAR_BYTES = 8;
const STRING_BYTES = 16;
const CONTAINER_BYTES = 32;
/** What a member of an object costs beside its name and value. */
const MEMBER_BYTES = 24;

export function memberBytes(name: ByteString): number {
  return MEMBER_BYTES + name.length;
}

/** Bytes of a value without what is in it. */
export function ownBytes(value: JsonValue): number {
  if (typeof value === 'string') return STRING_BYTES + value.length;
  return isContainer(value) ? CONTAINER_BYTES : SCALAR_BYTES;
}

/** A step over the values of a document. */
export class ValuePace extends SlicePace {
  constructor() {
    super(SLICE_VALUES);
  }
}

/** About how many bytes a value takes in memory: a function of what it holds alone. */
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

/** A copy that shares no container. */
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

/** Equal values of equal types: an integer equals no float. Members may come in any order. */
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
