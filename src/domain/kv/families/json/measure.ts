/**
 * Sizes and contents of values: JSON.STRLEN, JSON.ARRLEN, JSON.OBJLEN, JSON.OBJKEYS, JSON.DEBUG MEMORY, JSON.ARRINDEX.
 */
import type { CommandContext } from '../../command-spec.js';
import { type ErrorReply, type Reply, wrongArity } from '../../reply.js';
import { mapped } from '../../slices.js';
import {
  areEqualJson,
  type JsonArray,
  JsonDocument,
  type JsonPath,
  type JsonPlace,
  type JsonValue,
  measured,
  readJson,
  SLICE_VALUES,
  type Steps,
} from '../../types/json/index.js';
import { missingKey, missingPath, pathAt, placesOf, wrongPathType } from './documents.js';

/** A question about values of one type. */
interface Question {
  /** Undefined for a value of another type. */
  of(value: JsonValue): Reply | undefined;
  /** The error of a legacy path for a value of another type. */
  wrongType(path: JsonPath, value: JsonValue): ErrorReply;
  /** The reply of a legacy path without a match. */
  nowhere(path: JsonPath): Reply;
  /** The error of a `$` path for a missing key. */
  missing(path: JsonPath): ErrorReply;
}

const STRING_LENGTH: Question = {
  of: (value) => (typeof value === 'string' ? value.length : undefined),
  wrongType: (_path, value) => wrongPathType('string', value),
  nowhere: (path) => missingPath(path),
  missing: () => missingKey,
};

const ARRAY_LENGTH: Question = {
  of: (value) => (Array.isArray(value) ? value.length : undefined),
  wrongType: (path) => missingPath(path, 'not an array'),
  nowhere: (path) => missingPath(path),
  missing: () => missingKey,
};

const OBJECT_LENGTH: Question = {
  of: (value) => (value instanceof Map ? value.size : undefined),
  wrongType: (_path, value) => wrongPathType('object', value),
  nowhere: () => null,
  missing: (path) => missingPath(path, 'not an object'),
};

const OBJECT_NAMES: Question = {
  of: (value) => (value instanceof Map ? [...value.keys()] : undefined),
  wrongType: (path) => missingPath(path, 'not an object'),
  nowhere: () => null,
  missing: () => missingKey,
};

function answering(question: Question): (context: CommandContext) => Steps<Reply> {
  return function* (context) {
    const document = context.keyspace.peekKind(context.args.bytes(1), JsonDocument);
    const path = pathAt(context, 2);
    if (document === undefined) {
      if (path.isLegacy) return null;
      throw question.missing(path);
    }
    const places = yield* placesOf(document, path);
    if (!path.isLegacy) return yield* mapped(places, ({ value }) => question.of(value) ?? null);
    const first = places[0];
    if (first === undefined) return question.nowhere(path);
    const answer = question.of(first.value);
    if (answer === undefined) throw question.wrongType(path, first.value);
    return answer;
  };
}

/** JSON.STRLEN key [path] → the bytes of the string. */
export const stringLength = answering(STRING_LENGTH);
/** JSON.ARRLEN key [path] → the number of items. */
export const arrayLength = answering(ARRAY_LENGTH);
/** JSON.OBJLEN key [path] → the number of members. */
export const objectLength = answering(OBJECT_LENGTH);
/** JSON.OBJKEYS key [path] → the member names. */
export const names = answering(OBJECT_NAMES);

/** JSON.DEBUG MEMORY key [path] → the approximate bytes of the value; of each match for a `$` path. */
export function* memory(context: CommandContext): Steps<Reply> {
  const document = context.keyspace.peekKind(context.args.bytes(2), JsonDocument);
  const path = pathAt(context, 3);
  if (document === undefined) return path.isLegacy ? 0 : [];
  const places = yield* placesOf(document, path);
  if (path.isLegacy && places.length === 0) throw missingPath(path);
  const bytes: number[] = [];
  for (const { value } of path.isLegacy ? places.slice(0, 1) : places) bytes.push(yield* measured(value));
  return path.isLegacy ? (bytes[0] as number) : bytes;
}

/** JSON.ARRINDEX key path json [start [stop]] → the first index of the value; -1 if absent, null if not an array. */
export function* indexOf(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  if (args.length > 6) throw wrongArity('json.arrindex');
  const from = args.length > 4 ? args.offset(4) : 0;
  const to = args.length > 5 ? args.offset(5) : 0;
  const document = keyspace.peekKind(args.bytes(1), JsonDocument);
  const { value: sought } = yield* readJson(args.bytes(3));
  if (document === undefined) throw missingKey;
  const path = pathAt(context, 2);
  const places = yield* placesOf(document, path);
  if (path.isLegacy) {
    const { value } = firstOf(path, places);
    if (!Array.isArray(value)) throw wrongPathType('array', value);
    return yield* firstIndex(value, sought, from, to);
  }
  const replies: Reply[] = [];
  for (const { value } of places) {
    replies.push(Array.isArray(value) ? yield* firstIndex(value, sought, from, to) : null);
  }
  return replies;
}

function firstOf(path: JsonPath, places: readonly JsonPlace[]): JsonPlace {
  const first = places[0];
  if (first === undefined) throw missingPath(path);
  return first;
}

/** Searches from `from` up to but excluding `to`, both from the end if negative; `to` 0 is the end. */
function* firstIndex(array: JsonArray, sought: JsonValue, from: number, to: number): Steps<number> {
  const { length } = array;
  const start = from < 0 ? Math.max(0, length + from) : Math.min(from, length - 1);
  const end = to === 0 ? length : to < 0 ? Math.max(0, length + to) : Math.min(to, length);
  for (let index = Math.max(0, start); index < end; index += 1) {
    if (areEqualJson(array[index] as JsonValue, sought)) return index;
    if (index % SLICE_VALUES === 0) yield;
  }
  return -1;
}
