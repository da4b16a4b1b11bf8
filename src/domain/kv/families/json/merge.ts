/** Merges a patch into a place of a document by RFC 7386: nulls delete, objects merge, other values replace. */
import {
  copied,
  type JsonDocument,
  type JsonMembers,
  type JsonPlace,
  type JsonValue,
  measured,
  ownBytes,
  SLICE_VALUES,
  type Steps,
} from '../../types/json/index.js';

export function* merge(document: JsonDocument, place: JsonPlace, patch: JsonValue): Steps<void> {
  if (!(patch instanceof Map)) {
    yield* document.put(place, { value: yield* copied(patch), bytes: yield* measured(patch) });
    return;
  }
  let met = 0;
  const open: [JsonMembers, JsonMembers][] = [[yield* objectAt(document, place), patch]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [target, changes] = next;
    for (const [name, value] of changes) {
      met += 1;
      if (met % SLICE_VALUES === 0) yield;
      const before = target.get(name);
      if (value === null) {
        if (before !== undefined) document.remove(target, name, yield* measured(before));
      } else if (value instanceof Map) {
        open.push([yield* memberObject(document, target, name), value]);
      } else {
        const given = { value: yield* copied(value), bytes: yield* measured(value) };
        if (before === undefined) document.add(target, name, given);
        else yield* document.put(memberPlace(target, name, before), given);
      }
    }
  }
}

/** The object at the place; another value is replaced by a new object. */
function* objectAt(document: JsonDocument, place: JsonPlace): Steps<JsonMembers> {
  if (place.value instanceof Map) return place.value;
  const object: JsonMembers = new Map();
  yield* document.put(place, { value: object, bytes: ownBytes(object) });
  return object;
}

function* memberObject(document: JsonDocument, target: JsonMembers, name: string): Steps<JsonMembers> {
  const before = target.get(name);
  if (before !== undefined) return yield* objectAt(document, memberPlace(target, name, before));
  const object: JsonMembers = new Map();
  document.add(target, name, { value: object, bytes: ownBytes(object) });
  return object;
}

function memberPlace(target: JsonMembers, name: string, value: JsonValue): JsonPlace {
  return { value, parent: { value: target, parent: undefined, token: '' }, token: name };
}
