/**
 * A JSON document as the value of a key. Its tree is changed in place, at places found by a path. `bytes` is updated
 * with every change by measuring only the added and removed values.
 *
 * Invariants
 *
 *  JD1 `bytes` is the result of `measured` for the root
 *  JD2 a container occurs in one place only: a value that is put in belongs to the document alone
 *  JD3 the document is never deeper than MAX_JSON_DEPTH; commands check that before any change
 */
import type { ByteString } from '../../../../kernel/index.js';
import { inOneStep, type Steps } from '../../steps.js';
import type { Collection, UndoRecorder } from '../../value.js';
import type { JsonPlace } from './json-matches.js';
import { formatNumber } from './json-numbers.js';
import { rebuildDocument } from './json-rebuild.js';
import {
  copied,
  isContainer,
  type JsonArray,
  type JsonContainer,
  type JsonMembers,
  type JsonValue,
  lengthOfJson,
  measured,
  memberBytes,
  ownBytes,
  ValuePace,
} from './json-value.js';

/** A value to put in, with its size. */
export interface NewValue {
  readonly value: JsonValue;
  /** The result of `measured`. */
  readonly bytes: number;
}

export class JsonDocument implements Collection {
  readonly kind = 'json';
  readonly size = 1;
  readonly encoding = 'raw';
  readonly hasOrder = true;
  #root: JsonValue;
  #bytes: number;
  undo: UndoRecorder | undefined;

  constructor(root: NewValue) {
    this.#root = root.value;
    this.#bytes = root.bytes;
  }

  get root(): JsonValue {
    return this.#root;
  }

  get bytes(): number {
    return this.#bytes;
  }

  *put(place: JsonPlace, { value, bytes }: NewValue): Steps<void> {
    this.#bytes += bytes - (place.parent === undefined ? this.#bytes : yield* measured(place.value));
    if (place.parent === undefined) {
      this.#root = value;
      return;
    }
    const container = place.parent.value;
    const { token } = place;
    if (Array.isArray(container)) {
      const before = container[token as number] as JsonValue;
      this.undo?.push(() => {
        container[token as number] = before;
      });
      container[token as number] = value;
    } else {
      const object = container as JsonMembers;
      const before = object.get(token as ByteString) as JsonValue;
      this.undo?.push(() => object.set(token as ByteString, before));
      object.set(token as ByteString, value);
    }
  }

  /** Adds a member that the object does not have. */
  add(object: JsonMembers, name: ByteString, { value, bytes }: NewValue): void {
    this.undo?.push(() => object.delete(name));
    object.set(name, value);
    this.#bytes += memberBytes(name) + bytes;
  }

  remove(object: JsonMembers, name: ByteString, bytes: number): void {
    this.#keepContainer(object);
    object.delete(name);
    this.#bytes -= memberBytes(name) + bytes;
  }

  *insert(array: JsonArray, index: number, values: readonly NewValue[]): Steps<void> {
    this.undo?.push(() => array.splice(index, values.length));
    // Not spread into `splice`, because there may be more values than a call accepts arguments.
    const tail = index < array.length ? array.splice(index) : [];
    const pace = new ValuePace();
    for (const { value, bytes } of values) {
      array.push(value);
      this.#bytes += bytes;
      if (pace.isDue()) yield;
    }
    for (const value of tail) {
      array.push(value);
      if (pace.isDue()) yield;
    }
  }

  /** Keeps the items from index `from` up to but excluding `to`. */
  *trim(array: JsonArray, from: number, to: number): Steps<void> {
    this.#bytes -= yield* this.#measuredItems(array, 0, from);
    this.#bytes -= yield* this.#measuredItems(array, to, array.length);
    this.#keepContainer(array);
    array.length = to;
    if (from > 0) array.splice(0, from);
  }

  *removeItems(array: JsonArray, indexes: ReadonlySet<number>): Steps<void> {
    const pace = new ValuePace();
    for (const index of indexes) {
      if (pace.isDue()) yield;
      this.#bytes -= yield* measured(array[index] as JsonValue);
    }
    this.#keepContainer(array);
    if (indexes.size === 1) {
      for (const index of indexes) array.splice(index, 1);
      return;
    }
    let kept = 0;
    for (let index = 0; index < array.length; index += 1) {
      if (pace.isDue()) yield;
      if (indexes.has(index)) continue;
      array[kept] = array[index] as JsonValue;
      kept += 1;
    }
    array.length = kept;
  }

  *empty(container: JsonContainer): Steps<void> {
    this.#bytes -= (yield* measured(container)) - ownBytes(container);
    this.#keepContainer(container);
    if (Array.isArray(container)) container.length = 0;
    else container.clear();
  }

  keepState(undo: UndoRecorder): void {
    const root = this.#root;
    const bytes = this.#bytes;
    undo.push(() => {
      this.#root = root;
      this.#bytes = bytes;
    });
  }

  /** Keeps the whole container before a removal, because an undo must restore the order of members too. */
  #keepContainer(container: JsonContainer): void {
    const { undo } = this;
    if (undo === undefined) return;
    const putBack = Array.isArray(container) ? arrayPutBack(container) : objectPutBack(container);
    undo.push(putBack, 0, 1 + lengthOfJson(container));
  }

  *#measuredItems(array: JsonArray, from: number, to: number): Steps<number> {
    let bytes = 0;
    const pace = new ValuePace();
    for (let index = from; index < to; index += 1) {
      if (pace.isDue()) yield;
      bytes += yield* measured(array[index] as JsonValue);
    }
    return bytes;
  }

  rebuild(key: ByteString): Iterable<ByteString[]> {
    return rebuildDocument(key, this.#root);
  }

  /** One word per value, prefixed by its type; containers include their length. */
  *contents(): Iterable<ByteString> {
    const open: Iterator<[ByteString | undefined, JsonValue]>[] = [single(this.#root)];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.next();
      if (next.done === true) {
        open.pop();
        continue;
      }
      const [name, value] = next.value;
      if (name !== undefined) yield name;
      if (!isContainer(value)) {
        yield scalarWord(value);
      } else if (Array.isArray(value)) {
        yield `[${value.length}`;
        open.push(items(value));
      } else {
        yield `{${value.size}`;
        open.push(value.entries());
      }
    }
  }

  clone(): JsonDocument {
    return inOneStep(this.copy());
  }

  *copy(): Steps<JsonDocument> {
    return new JsonDocument({ value: yield* copied(this.#root), bytes: this.#bytes });
  }
}

function arrayPutBack(array: JsonArray): () => void {
  const items = [...array];
  return () => {
    array.length = 0;
    for (const item of items) array.push(item);
  };
}

function objectPutBack(object: JsonMembers): () => void {
  const members = [...object];
  return () => {
    object.clear();
    for (const [name, value] of members) object.set(name, value);
  };
}

function* single(value: JsonValue): IterableIterator<[undefined, JsonValue]> {
  yield [undefined, value];
}

function* items(array: JsonArray): IterableIterator<[undefined, JsonValue]> {
  for (const value of array) yield [undefined, value];
}

function scalarWord(value: Exclude<JsonValue, JsonContainer>): ByteString {
  if (typeof value === 'string') return `"${value}`;
  return value === null || typeof value === 'boolean' ? String(value) : formatNumber(value);
}
