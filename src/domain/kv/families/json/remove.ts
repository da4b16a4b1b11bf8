/** Removing values: JSON.DEL, JSON.FORGET, JSON.CLEAR. */
import type { CommandContext } from '../../command-spec.js';
import { type Reply, wrongArity } from '../../reply.js';
import { mergeSorted } from '../../slices.js';
import {
  isContainer,
  isJsonNumber,
  isRoot,
  type JsonArray,
  JsonDocument,
  type JsonPlace,
  type JsonValue,
  lengthOfJson,
  measured,
  outermost,
  ownBytes,
  pathOf,
  type Steps,
  tokenText,
  ValuePace,
  WholeFloat,
} from '../../types/json/index.js';
import { deleteDocument, documentToChange, isEmptyRoot, JsonChange, pathAt, placesOf } from './documents.js';

/** JSON.DEL key [path] → the number of removed values; 0 for a missing key. An empty root is deleted with its key. */
export function* remove(context: CommandContext): Steps<Reply> {
  const key = context.args.bytes(1);
  const document = context.keyspace.fetchKind(key, JsonDocument);
  if (document === undefined) return 0;
  const path = pathAt(context, 2);
  if (isRoot(path)) {
    deleteDocument(context, key, 'json.del');
    return 1;
  }
  const places = yield* outermost(yield* placesOf(document, path));
  if (places.length === 0) return 0;
  const change = new JsonChange(context, key, document);
  // Values are removed container by container, the deepest first, so that the paths of later effects stay valid.
  const pace = new ValuePace();
  for (const group of yield* groupedByParent(places, pace)) yield* removeGroup(change, group, pace);
  if (isEmptyRoot(document)) change.finishDeleted('json.del');
  else yield* change.finish('json.del');
  return places.length;
}

function* groupedByParent(places: readonly JsonPlace[], pace: ValuePace): Steps<Iterable<JsonPlace[]>> {
  const groups = new Map<JsonValue, JsonPlace[]>();
  for (const place of places) {
    const container = (place.parent as JsonPlace).value;
    const group = groups.get(container);
    if (group === undefined) groups.set(container, [place]);
    else group.push(place);
    if (pace.isDue()) yield;
  }
  return groups.values();
}

function* removeGroup(change: JsonChange, group: readonly JsonPlace[], pace: ValuePace): Steps<void> {
  const parent = (group[0] as JsonPlace).parent as JsonPlace;
  const path = pathOf(parent);
  const container = parent.value;
  if (container instanceof Map) {
    for (const { token, value } of group) {
      if (pace.isDue(4)) yield;
      change.document.remove(container, token as string, yield* measured(value));
      change.effect('JSON.DEL', path + tokenText(token), []);
    }
    return;
  }
  const indexes = yield* fromTheHighest(group, pace);
  const { length } = container as JsonArray;
  const removed = new Set<number>();
  for (const index of indexes) {
    removed.add(index);
    if (pace.isDue()) yield;
  }
  yield* change.document.removeItems(container as JsonArray, removed);
  // The highest index first, so that the other indexes stay valid.
  for (const index of indexes) {
    if (pace.isDue(4)) yield;
    change.effect('JSON.DEL', path + tokenText(index), [], length - index);
  }
}

/** The indexes in descending order. They are usually found in ascending order and need no sorting. */
function* fromTheHighest(group: readonly JsonPlace[], pace: ValuePace): Steps<number[]> {
  const indexes: number[] = [];
  let isAscending = true;
  for (const { token } of group) {
    const index = token as number;
    if (index < (indexes.at(-1) ?? 0)) isAscending = false;
    indexes.push(index);
    if (pace.isDue()) yield;
  }
  return isAscending ? indexes.reverse() : yield* mergeSorted(indexes, (a, b) => b - a);
}

/** JSON.CLEAR key [path] → the number of changed values: containers are emptied, numbers become 0. */
export function* clear(context: CommandContext): Steps<Reply> {
  if (context.args.length > 3) throw wrongArity('json.clear');
  const key = context.args.bytes(1);
  const document = documentToChange(context);
  const path = pathAt(context, 2);
  const clearable = (yield* placesOf(document, path)).filter(({ value }) => canBeCleared(value));
  const places = yield* outermost(clearable);
  const change = new JsonChange(context, key, document);
  const pace = new ValuePace();
  for (const place of places) {
    if (pace.isDue(4)) yield;
    const { value } = place;
    if (isContainer(value)) yield* document.empty(value);
    else yield* document.put(place, { value: 0, bytes: ownBytes(0) });
    change.effect('JSON.SET', pathOf(place), [isContainer(value) ? (Array.isArray(value) ? '[]' : '{}') : '0']);
  }
  yield* change.finish('json.clear');
  return places.length;
}

function canBeCleared(value: JsonValue): boolean {
  if (isContainer(value)) return lengthOfJson(value) > 0;
  return isJsonNumber(value) && (value instanceof WholeFloat ? value.value !== 0 : Number(value) !== 0);
}
