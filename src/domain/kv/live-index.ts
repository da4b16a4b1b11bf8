/**
 * One index in memory: its contents, and the keys that have changed since. The contents follow from the keys; they are
 * in no journal and no snapshot. A file may have an earlier state of them.
 *
 *  LIX1 a key is read when it is processed, so the contents have its present value or an earlier one, and the key is
 *       pending in the second case
 *  LIX2 contents that are built again also get every change from the beginning on, and replace the old ones when all
 *       keys are in them
 *  LIX3 stored contents answer only after each document was compared with the present value of its key
 *  LIX4 contents that the database has no room for are freed; the index then refuses to answer
 */
import type { ByteString } from '../../kernel/index.js';
import { DocumentHash, hashOfValues, IndexContents, type IndexDefinition, SearchProblem } from '../full-text/index.js';
import type { Keyspace } from './keyspace.js';
import { type FieldValues, valuesIn, valuesInEntry } from './search-documents.js';
import type { SearchedIndex } from './search-registry.js';
import { mergeSorted } from './slices.js';
import type { Steps } from './steps.js';
import type { StorableContents } from './stored-contents.js';
import type { FullTextIndex } from './types/full-text-index.js';
import { Stream } from './types/stream.js';
import { idAfter, MAX_ID, MIN_ID, type StreamId } from './types/stream-id.js';
import type { StreamEntry } from './types/stream-rebuild.js';
import type { Value } from './value.js';

/** Keys visited in one slice. */
const SLICE_KEYS = 256;
const SLICE_ENTRIES = 32;
/** Stored documents compared in one slice. */
const COMPARED_KEYS = 32;

/** The room is looked at when the contents have grown by so much. */
const COUNTED_BYTES = 256 * 1024;
/** Contents that were not complete when the room ended are expected to need so many times their size. */
const WANTED_TIMES = 1.5;

/** Whether so many more bytes fit. @param isForAWhile old and new contents are there until the new ones are complete */
export type MayHold = (bytes: number, isForAWhile: boolean) => boolean;

export class LiveIndex implements SearchedIndex, StorableContents {
  readonly definition: IndexDefinition;
  #contents: IndexContents;
  /** Changed keys, in the order of their first change, with the number of that change. */
  readonly #pending = new Map<ByteString, number>();
  #changes = 0;
  /** The number of the change that is being processed. */
  #processing: number | undefined;
  /** Contents that are being made, for the first time or again. */
  #next: IndexContents | undefined;
  #left = 0;
  #isBuilt = false;
  #isRebuildWanted = true;
  #steps: Steps<void> | undefined;
  /** The stream in the contents; another object under its key is another stream. */
  #stream: Stream | undefined;
  /** The last entry of it that was read. */
  #lastEntry: StreamId | undefined;
  /** The work waits until it is known whether there are stored contents. */
  #isHeld: boolean;
  #stored: Uint8Array | undefined;
  #isRestoring = false;
  /** The memory of the contents when the room was looked at last. */
  #countedBytes = 0;
  /** Room that is wanted before the contents are built again; undefined: there was enough so far. */
  #wantedBytes: number | undefined;
  /** The changes when the contents were stored last. */
  #changesStored = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly value: FullTextIndex,
    private readonly keyspace: Keyspace,
    /** Whether the keys that exist now are left out. */
    skipsExisting: boolean,
    isHeld = false,
    private readonly hasRoom: MayHold = () => true,
  ) {
    this.definition = value.definition;
    this.#contents = new IndexContents(value.definition);
    // The entries of a stream are not compared with stored ones.
    this.#isHeld = isHeld && !skipsExisting && value.definition.stream === undefined;
    if (!skipsExisting) return;
    this.#isBuilt = true;
    this.#isRebuildWanted = false;
  }

  get contents(): IndexContents {
    return this.#contents;
  }

  get bytes(): number {
    return this.#contents.bytes + (this.#next?.bytes ?? 0);
  }

  get isBuilt(): boolean {
    return this.#isBuilt;
  }

  get pending(): number {
    return this.#pending.size + this.#left + (this.#processing === undefined ? 0 : 1);
  }

  /** The definition as a text. */
  get text(): ByteString {
    return this.value.text;
  }

  get wantsFile(): boolean {
    return this.#isHeld;
  }

  get items(): number {
    return this.#contents.size;
  }

  begin(stored: Uint8Array | undefined): void {
    this.#isHeld = false;
    this.#stored = stored;
    this.#isRestoring = stored !== undefined;
  }

  /** Stored contents are being read and compared: clients wait for an index that they had before the start. */
  get isRestoring(): boolean {
    return this.#isRestoring;
  }

  get unstored(): number | undefined {
    if (!this.#isBuilt || this.#next !== undefined || this.definition.stream !== undefined) return undefined;
    return this.#changes - this.#changesStored;
  }

  pieces(): Generator<Uint8Array | undefined, void> {
    this.#changesStored = this.#changes;
    return this.#contents.pieces(this.value.text);
  }

  /** The database has no room for the contents: they are not in memory. */
  get isOutOfRoom(): boolean {
    return this.#wantedBytes !== undefined;
  }

  get hasWork(): boolean {
    if (this.#isHeld) return false;
    if (this.#wantedBytes !== undefined) return this.hasRoom(this.#wantedBytes, false);
    return this.#isRebuildWanted || this.#steps !== undefined || this.#pending.size > 0 || this.#contents.isStale;
  }

  /** The number of changes so far, for `hasProcessed`. */
  get changes(): number {
    return this.#changes;
  }

  hasProcessed(change: number): boolean {
    if (!this.#isBuilt || (this.#processing !== undefined && this.#processing <= change)) return false;
    for (const first of this.#pending.values()) return first > change;
    return true;
  }

  covers(key: ByteString): boolean {
    const { prefixes, stream } = this.definition;
    if (stream !== undefined) return key === stream;
    for (const prefix of prefixes) if (key.startsWith(prefix)) return true;
    return false;
  }

  note(key: ByteString): void {
    if (!this.covers(key)) return;
    this.#changes += 1;
    // All keys are read again.
    if (this.#wantedBytes !== undefined) return;
    if (!this.#pending.has(key)) this.#pending.set(key, this.#changes);
  }

  rebuild(areWrong: boolean): void {
    this.#isRebuildWanted = true;
    this.#wantedBytes = undefined;
    if (areWrong) this.#isBuilt = false;
  }

  step(): void {
    this.#wantedBytes = undefined;
    this.#steps ??= this.#work();
    if (this.#steps.next().done === true) this.#steps = undefined;
    const { bytes } = this;
    if (Math.abs(bytes - this.#countedBytes) < COUNTED_BYTES) return;
    const hasGrown = bytes > this.#countedBytes;
    this.#countedBytes = bytes;
    if (hasGrown && !this.hasRoom(0, this.#isBuilt && this.#next !== undefined)) this.#leave();
  }

  /** Frees the contents (LIX4). They are built again when there is room. */
  #leave(): void {
    this.#wantedBytes = this.#isBuilt ? this.#contents.bytes : this.bytes * WANTED_TIMES;
    this.#contents = new IndexContents(this.definition);
    this.#next = undefined;
    this.#steps = undefined;
    this.#isRestoring = false;
    this.#processing = undefined;
    this.#left = 0;
    this.#pending.clear();
    this.#countedBytes = 0;
    this.#isBuilt = false;
    this.#isRebuildWanted = true;
  }

  *#work(): Steps<void> {
    for (;;) {
      if (this.#isRebuildWanted) yield* this.#rebuildAll();
      else if (this.#pending.size > 0) yield* this.#processNext();
      else if (this.#contents.isStale) yield* this.#compact();
      else return;
    }
  }

  *#processNext(): Steps<void> {
    const first = this.#pending.entries().next();
    if (first.done === true) return;
    const [key, change] = first.value;
    // A change during the slices makes the key pending again, at the end.
    this.#pending.delete(key);
    this.#processing = change;
    yield* this.#process(key, false);
    this.#processing = undefined;
    yield;
  }

  *#process(key: ByteString, isNewOnly: boolean): Steps<void> {
    if (this.definition.stream !== undefined) {
      yield* this.#processStream(key);
      return;
    }
    const value = this.keyspace.isThere(key) ? this.keyspace.stored(key) : undefined;
    const values = value === undefined ? undefined : yield* valuesIn(value, this.definition, this.keyspace.nowMs);
    const hash = value === undefined || values === undefined ? 0 : yield* hashOf(value, values);
    const targets =
      this.#next === undefined ? [this.#contents] : isNewOnly ? [this.#next] : [this.#contents, this.#next];
    for (const contents of targets) {
      if (values === undefined) yield* contents.remove(key);
      else yield* contents.put(key, values, hash);
    }
  }

  /** Reads all keys that the index covers. */
  *#rebuildAll(): Steps<void> {
    this.#isRebuildWanted = false;
    this.#stream = undefined;
    this.#lastEntry = undefined;
    const { stream } = this.definition;
    if (stream !== undefined) {
      this.#contents = new IndexContents(this.definition);
      this.#pending.delete(stream);
      yield* this.#processStream(stream);
      this.#isBuilt = true;
      return;
    }
    const stored = yield* this.#readStored();
    if (stored !== undefined) {
      yield* this.#compareStored(stored);
      return;
    }
    this.#isRestoring = false;
    yield* this.#fill(yield* inOrder(yield* this.#coveredKeys()));
  }

  *#readStored(): Steps<IndexContents | undefined> {
    const bytes = this.#stored;
    this.#stored = undefined;
    if (bytes === undefined) return undefined;
    try {
      return yield* IndexContents.read(this.definition, this.value.text, bytes);
    } catch (problem) {
      if (problem instanceof SearchProblem) return undefined;
      throw problem;
    }
  }

  /** Documents that are those of the present keys stay; all others are put again or removed. */
  *#compareStored(stored: IndexContents): Steps<void> {
    const changesBefore = this.#changes;
    const wasStored = stored.ordinals;
    this.#next = stored;
    const { current, changed } = yield* this.#comparedKeys(stored);
    this.#isRestoring = false;
    yield* this.#fill(changed, stored);
    if (this.#contents !== stored) return;
    let present = current;
    for (let at = 0; at < changed.length; at += 1) {
      if (stored.has(changed[at] as ByteString)) present += 1;
      if (at % SLICE_KEYS === SLICE_KEYS - 1) yield;
    }
    // Without changes in the meantime, the counts tell whether there are documents of keys that are gone.
    if (stored.size > present || this.#changes > changesBefore) yield* this.#removeGone(stored, wasStored);
    this.#changesStored = 0;
    this.#isBuilt = true;
  }

  /** @returns how many documents are those of present keys, and the covered keys that have no such document */
  *#comparedKeys(stored: IndexContents): Steps<{ readonly current: number; readonly changed: ByteString[] }> {
    const changed: ByteString[] = [];
    let current = 0;
    let cursor = 0;
    do {
      this.#left = Math.max(0, stored.size - current);
      const step = this.keyspace.scan(cursor, SLICE_KEYS);
      for (const [key, value] of step.entries) {
        if (!this.covers(key)) continue;
        if (yield* this.#isCurrent(stored, key, value)) current += 1;
        else changed.push(key);
        if ((current + changed.length) % COMPARED_KEYS === 0) yield;
      }
      cursor = step.cursor;
      yield;
    } while (cursor !== 0);
    return { current, changed };
  }

  *#removeGone(stored: IndexContents, ordinals: number): Steps<void> {
    let looked = 0;
    for (const key of stored.keys()) {
      looked += 1;
      if (looked > ordinals) break;
      if (!this.keyspace.isThere(key)) yield* stored.remove(key);
      if (looked % SLICE_KEYS === 0) yield;
    }
  }

  /** Whether the document was put from this value of the key. */
  *#isCurrent(contents: IndexContents, key: ByteString, value: Value): Steps<boolean> {
    if (typeof value === 'string' && this.definition.source === 'STRING') {
      return contents.isCurrent(key, yield* hashOf(value, []));
    }
    const values = yield* valuesIn(value, this.definition, this.keyspace.nowMs);
    return values !== undefined && contents.isCurrent(key, yield* hashOf(value, values));
  }

  /** Leaves out the traces of removed documents; the order of writing stays. */
  *#compact(): Steps<void> {
    if (this.definition.stream !== undefined) this.#isRebuildWanted = true;
    else yield* this.#fill([...this.#contents.keys()]);
  }

  /** @param keys to be put @param next the contents to be completed; stored ones have earlier documents of the keys */
  *#fill(keys: readonly ByteString[], next = new IndexContents(this.definition)): Steps<void> {
    const isStored = next.size > 0;
    this.#next = next;
    this.#left = keys.length;
    for (const key of keys) {
      // A wish during the slices begins again.
      if (this.#isRebuildWanted && !this.#isBuilt) break;
      this.#left -= 1;
      while (this.#pending.size > 0) yield* this.#processNext();
      if (isStored || !next.has(key)) yield* this.#process(key, true);
      yield;
    }
    this.#left = 0;
    this.#next = undefined;
    if (this.#isRebuildWanted && !this.#isBuilt) return;
    this.#contents = next;
    // Stored contents may have documents of keys that are gone.
    if (!isStored) this.#isBuilt = true;
  }

  *#coveredKeys(): Steps<ByteString[]> {
    const keys: ByteString[] = [];
    let cursor = 0;
    do {
      const step = this.keyspace.scan(cursor, SLICE_KEYS);
      for (const [key] of step.entries) if (this.covers(key)) keys.push(key);
      cursor = step.cursor;
      yield;
    } while (cursor !== 0);
    return keys;
  }

  /** Adds the entries after the last one, and removes those that were deleted or trimmed. */
  *#processStream(key: ByteString): Steps<void> {
    const value = this.keyspace.isThere(key) ? this.keyspace.stored(key) : undefined;
    const stream = value instanceof Stream ? value : undefined;
    if (stream !== this.#stream) {
      this.#contents = new IndexContents(this.definition);
      this.#stream = stream;
      this.#lastEntry = undefined;
    }
    if (stream === undefined) return;
    const contents = this.#contents;
    let after = this.#lastEntry === undefined ? MIN_ID : idAfter(this.#lastEntry);
    while (after !== undefined && this.#stream === stream) {
      const entries: (readonly [StreamId, StreamEntry])[] = [];
      let next: StreamId | undefined;
      stream.walk(after, MAX_ID, (id, entry) => {
        if (entries.length >= SLICE_ENTRIES) next = id;
        else entries.push([id, entry]);
        return next === undefined;
      });
      for (const [id, entry] of entries) {
        if (!stream.has(id)) continue;
        yield* contents.put(id, valuesInEntry(entry, this.definition));
        this.#lastEntry = id;
      }
      after = next;
      yield;
    }
    if (contents.size <= stream.size) return;
    let looked = 0;
    for (const id of contents.keys()) {
      if (contents.size <= stream.size) break;
      if (!stream.has(id)) yield* contents.remove(id);
      looked += 1;
      if (looked % SLICE_KEYS === 0) yield;
    }
  }
}

/** In the order of length, then of bytes: `doc:2` before `doc:10`. */
function inOrder(keys: readonly ByteString[]): Steps<ByteString[]> {
  return mergeSorted(keys, (a, b) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0));
}

/** Of a string its bytes, because parsing it takes longer; of other values the fields of the index. */
function* hashOf(value: Value, values: FieldValues): Steps<number> {
  if (typeof value !== 'string') return yield* hashOfValues(values);
  const hash = new DocumentHash();
  yield* hash.add(value);
  return hash.value;
}
