/**
 * Changing arrays: JSON.ARRAPPEND, JSON.ARRINSERT, JSON.ARRPOP, JSON.ARRTRIM. If a path matches nested arrays, the
 * inner ones are changed first, so that the paths of the effects stay valid.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { mapped } from '../../slices.js';
import {
  copied,
  type JsonArray,
  type JsonDocument,
  type JsonPath,
  type JsonPlace,
  type JsonValue,
  levelOf,
  type NewValue,
  pathOf,
  type ReadJson,
  readJson,
  type Steps,
  ValuePace,
  writeJson,
} from '../../types/json/index.js';
import { documentToChange, JsonChange, missingPath, pathAt, placesOf, requireDepth } from './documents.js';

const outOfBounds = new ErrorReply('ERR index out of bounds');

interface FoundArrays {
  readonly document: JsonDocument;
  readonly path: JsonPath;
  readonly places: readonly JsonPlace[];
}

/** The matches of the path. @throws missingKey, and an error for a legacy path without a matching array */
function* arraysAt(context: CommandContext): Steps<FoundArrays> {
  const document = documentToChange(context);
  const path = pathAt(context, 2);
  const places = yield* placesOf(document, path);
  if (path.isLegacy && !places.some(({ value }) => Array.isArray(value))) throw missingPath(path, 'not an array');
  return { document, path, places };
}

/** One reply per match, null for a match that is not an array; for a legacy path the reply of the last array. */
function* changeEach(
  context: CommandContext,
  { document, path, places }: FoundArrays,
  event: string,
  alter: (change: JsonChange, array: JsonArray, place: JsonPlace) => Steps<Reply>,
): Steps<Reply> {
  const change = new JsonChange(context, context.args.bytes(1), document);
  const replies: Reply[] = [];
  let last: Reply = null;
  const pace = new ValuePace();
  for (const place of places) {
    if (pace.isDue(4)) yield;
    if (Array.isArray(place.value)) {
      last = yield* alter(change, place.value, place);
      replies.push(last);
    } else replies.push(null);
  }
  yield* change.finish(event);
  return path.isLegacy ? last : replies;
}

function* readValues({ args }: CommandContext, from: number): Steps<ReadJson[]> {
  const values: ReadJson[] = [];
  const pace = new ValuePace();
  for (let i = from; i < args.length; i += 1) {
    values.push(yield* readJson(args.bytes(i)));
    if (pace.isDue(4)) yield;
  }
  return values;
}

/** Refuses values that make the document too large or too deep. */
function* requireToFit(
  context: CommandContext,
  { document, places }: FoundArrays,
  values: readonly ReadJson[],
): Steps<void> {
  const arrays = places.filter(({ value }) => Array.isArray(value));
  let bytes = 0;
  let depth = 0;
  const pace = new ValuePace();
  for (const value of values) {
    bytes += value.bytes;
    depth = Math.max(depth, value.depth);
    if (pace.isDue()) yield;
  }
  requireRecordSize(context, document.bytes + arrays.length * bytes);
  for (const place of arrays) requireDepth(context, levelOf(place) + 1, depth);
}

function* copiesOf(values: readonly NewValue[]): Steps<NewValue[]> {
  const copies: NewValue[] = [];
  const pace = new ValuePace();
  for (const { value, bytes } of values) {
    copies.push({ value: yield* copied(value), bytes });
    if (pace.isDue(4)) yield;
  }
  return copies;
}

/** JSON.ARRAPPEND key path json … → the new length of each array. */
export function* append(context: CommandContext): Steps<Reply> {
  const values = yield* readValues(context, 3);
  const found = yield* arraysAt(context);
  yield* requireToFit(context, found, values);
  const texts = yield* mapped(values, ({ text }) => text);
  return yield* changeEach(context, found, 'json.arrappend', function* (change, array, place) {
    yield* change.document.insert(array, array.length, yield* copiesOf(values));
    change.effect('JSON.ARRAPPEND', pathOf(place), texts);
    return array.length;
  });
}

/**
 * JSON.ARRINSERT key path index json … → the new length of each array. Inserts before the index, from the end if
 * negative.
 */
export function* insert(context: CommandContext): Steps<Reply> {
  const index = context.args.offset(3);
  const values = yield* readValues(context, 4);
  const found = yield* arraysAt(context);
  for (const { value } of found.places) {
    if (Array.isArray(value) && (index > value.length || index < -value.length)) throw outOfBounds;
  }
  yield* requireToFit(context, found, values);
  const texts: ByteString[] = yield* mapped(values, ({ text }) => text);
  return yield* changeEach(context, found, 'json.arrinsert', function* (change, array, place) {
    const position = index < 0 ? array.length + index : index;
    const moved = array.length - position;
    yield* change.document.insert(array, position, yield* copiesOf(values));
    change.effect('JSON.ARRINSERT', pathOf(place), [String(position)].concat(texts), moved);
    return array.length;
  });
}

/** JSON.ARRPOP key [path [index]] → the JSON text of the removed item of each array, null for an empty one. */
export function* pop(context: CommandContext): Steps<Reply> {
  const { args } = context;
  const index = args.length > 3 ? args.offset(3) : -1;
  const found = yield* arraysAt(context);
  return yield* changeEach(context, found, 'json.arrpop', function* (change, array, place) {
    const { length } = array;
    if (length === 0) return null;
    const position = index < 0 ? Math.max(0, length + index) : Math.min(index, length - 1);
    const text = yield* writeJson(array[position] as JsonValue);
    yield* change.document.removeItems(array, new Set([position]));
    change.effect('JSON.ARRPOP', pathOf(place), [String(position)], length - position);
    return text;
  });
}

/**
 * JSON.ARRTRIM key path start stop → the new length of each array. Both ends are included; from the end if negative.
 */
export function* trim(context: CommandContext): Steps<Reply> {
  const { args } = context;
  const [start, stop] = [args.offset(3), args.offset(4)];
  const found = yield* arraysAt(context);
  return yield* changeEach(context, found, 'json.arrtrim', function* (change, array, place) {
    const { length } = array;
    const last = stop < 0 ? Math.max(0, length + stop) : Math.min(stop, length - 1);
    const first = start < 0 ? Math.max(0, length + start) : start;
    const isEmpty = length === 0 || first >= length || first > last;
    const [from, to] = isEmpty ? [0, 0] : [first, last + 1];
    if (to - from === length) return length;
    yield* change.document.trim(array, from, to);
    if (isEmpty) change.effect('JSON.SET', pathOf(place), ['[]']);
    else change.effect('JSON.ARRTRIM', pathOf(place), [String(from), String(to - 1)], to - from);
    return array.length;
  });
}
