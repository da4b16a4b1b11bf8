/**
 * Names → typed values, with expiry. What a key holds is either a byte string or a collection from
 * `types/`; handlers reach it only through here, so WRONGTYPE and expiry are decided in one place.
 *
 * Invariants
 *  KE1 a key whose instant has passed is invisible, whether it has been removed or not
 *  KE2 a read never changes anything; a write that meets an expired key removes it and records `DEL`
 *  KE3 in replay `nowMs` is 0: nothing is expired, only journaled deletions remove
 *  KE4 no collection is left empty, but a stream, which may be
 *  KE5 every change of a key is noted in `changes`, by whatever way it came
 *  KE6 a collection of which everything has expired is as one whose key has expired
 *  KE7 between `beginUndo` and its end nothing is overwritten before it is kept
 */
import type { ByteString } from '../../kernel/index.js';
import type { AccessLog } from './access-log.js';
import { EditedStrings } from './edited-strings.js';
import type { Effects } from './effects.js';
import { KeyChanges } from './key-changes.js';
import type { Outline } from './packed-entries.js';
import { ERRORS } from './reply.js';
import { NOT_TAKEN, type ScanStep, SegmentedMap } from './segmented-map.js';
import type { SetInPlace } from './set-in-place.js';
import type { BitString } from './types/bit-string.js';
import { type KeyImage, UndoLog } from './undo-log.js';

type CollectionKind = 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'json';

/** A collection that has parts which fall due by themselves: fields of a hash. */
export interface Perishing {
  /** At most the earliest instant there is. */
  readonly earliestExpiryMs: number;
  /** Has everything in it expired? */
  isAllExpired(nowMs: number): boolean;
  /** Removes at most `limit` parts that have expired; their names. */
  removeExpired(nowMs: number, limit: number): ByteString[];
}

/**
 * A value that is not a string; its class is in `types/`. Handlers change it in place, and then say so
 * with `keyspace.changed`.
 */
export interface Collection {
  readonly kind: CollectionKind;
  readonly size: number;
  /** About how many bytes it holds, for INFO and limits. It is kept up to date, because every change asks for it twice. */
  readonly bytes: number;
  /** OBJECT ENCODING names it so. */
  readonly encoding: string;
  /**
   * Commands that make it again under `key` in an empty keyspace, without the key's expiry; of bounded size
   * (some 64 KiB or one member), so that a large value is many.
   */
  rebuild(key: ByteString): Iterable<ByteString[]>;
  /** The same where much is looked at before the first of them: that takes slices. */
  rebuildInSlices?(key: ByteString): Generator<void, Iterable<ByteString[]>>;
  /**
   * All that it holds, as words: equal values have equal contents however they came to be. In order where
   * `hasOrder`, in any order where not.
   */
  contents(): Iterable<ByteString>;
  readonly hasOrder: boolean;
  /** While some of its parts are to expire. */
  readonly perishing?: Perishing | undefined;
  /** An independent copy. */
  clone(): Collection;
  /** While set, every change tells it first how it is taken back. */
  undo: UndoLog | undefined;
  /** Tells it how to put back what is more than single changes: counts, forms, positions. */
  keepState(undo: UndoLog): void;
}

export type Value = ByteString | Collection;

/**
 * Bytes that a key counts beside its name and value, for INFO, MEMORY USAGE and limits: what it cost as a string in a Map,
 * as keys of small databases still are. Packed ones cost some 25 (ADR 51); the bounds that people set count these.
 */
export const KEY_OVERHEAD_BYTES = 88;

/** Redis keeps strings up to here in one piece with their header. */
export const EMBEDDED_BYTES = 44;

export class Keyspace {
  /** The instant commands are judged by; set by the executor, 0 in replay (KE3). */
  nowMs = 0;
  readonly changes = new KeyChanges();
  /** When keys were last used; undefined while nobody needs to know. */
  access: AccessLog | undefined;
  /** Told of keys that come to be, and of looks at keys that are not there; only while somebody wants to know. */
  onNew: ((key: ByteString) => void) | undefined;
  onMissed: ((key: ByteString) => void) | undefined;
  /** Looks of reading commands that found something, and that did not. */
  hits = 0;
  misses = 0;
  #values = new EditedStrings();
  #expiries = new SegmentedMap<number>();
  /** Keys of collections with parts that expire, and when the first of them does, at the earliest. */
  #perishing = new SegmentedMap<number>();
  /** Keys of strings that were changed in place, which Redis keeps in another form; till they are set again. */
  #raw = new Set<ByteString>();
  #stringBytes = 0;
  readonly #log = new UndoLog();
  /** The same log, while something is kept in it. */
  #undo: UndoLog | undefined;
  #bytesBefore = 0;
  /** Puts everything back that was there when it was cleared. */
  #revertClear: (() => void) | undefined;

  constructor(private readonly effects: Effects) {}

  /** Keys, including expired ones that are not yet removed, as Redis counts them. */
  get size(): number {
    return this.#values.size;
  }

  get expiring(): number {
    return this.#expiries.size;
  }

  /** Keys that hold something which expires by itself. */
  get perishing(): number {
    return this.#perishing.size;
  }

  /** Bytes of names and string values. */
  get bytes(): number {
    return this.#stringBytes;
  }

  /** What the key holds, for a command that only reads. */
  peek(key: ByteString): Value | undefined {
    return this.#counted(key, this.#values.get(key));
  }

  /** What was found of the key, unless it has expired. */
  #counted<F>(key: ByteString, found: F | undefined): F | undefined {
    if (found === undefined || this.#isExpired(key)) {
      this.misses += 1;
      if (this.onMissed !== undefined) this.onMissed(key);
      return undefined;
    }
    this.hits += 1;
    if (this.access !== undefined) this.access.touch(key, this.nowMs);
    return found;
  }

  /** What the key holds, expired or not. */
  stored(key: ByteString): Value | undefined {
    return this.#values.get(key);
  }

  /** What the key holds, for a command that may write (KE2). */
  fetch(key: ByteString): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (!this.#isExpired(key)) {
      if (this.access !== undefined) this.access.touch(key, this.nowMs);
      if (this.#undo !== undefined && typeof value === 'object' && value.undo === undefined) this.#undo.follow(value);
      return value;
    }
    this.delete(key);
    this.effects.push('DEL', key);
    return undefined;
  }

  /** @throws WRONGTYPE */
  peekString(key: ByteString): ByteString | undefined {
    return asString(this.peek(key));
  }

  /** @throws WRONGTYPE */
  fetchString(key: ByteString): ByteString | undefined {
    return asString(this.fetch(key));
  }

  /** The collection of that class, for a command that only reads. @throws WRONGTYPE */
  peekKind<C extends Collection>(key: ByteString, type: new (...given: never[]) => C): C | undefined {
    return asKind(this.peek(key), type);
  }

  /** The collection of that class, for a command that may write (KE2). @throws WRONGTYPE */
  fetchKind<C extends Collection>(key: ByteString, type: new (...given: never[]) => C): C | undefined {
    return asKind(this.fetch(key), type);
  }

  /** This is `peekString` for looking at single bytes: does not end an edit. @throws WRONGTYPE */
  peekBits(key: ByteString): ByteString | BitString | undefined {
    const bits = this.#values.bitsOf(key);
    return bits === undefined || this.#isExpired(key) ? this.peekString(key) : bits;
  }

  /**
   * The string as one to be changed in place, for a command that writes (KE2); undefined where it is missing or
   * so short that it is as well replaced. Say `edited` afterwards. @throws WRONGTYPE
   */
  fetchBits(key: ByteString): BitString | undefined {
    // What is kept of a string is a string: it is put under edit anew.
    if (this.#undo !== undefined) this.#keep(key);
    const bits = this.#values.bitsOf(key);
    if (bits !== undefined && !this.#isExpired(key)) return bits;
    return this.fetchString(key) === undefined ? undefined : this.#values.edit(key);
  }

  /** This is called once after a string from `fetchBits` was changed. */
  edited(key: ByteString, bits: BitString, lengthBefore: number): void {
    this.#stringBytes += bits.length - lengthBefore;
    this.changes.note(key);
  }

  /** This is `replace` for a string that was changed in place: OBJECT ENCODING says so. That is not journaled. */
  replaceEdited(key: ByteString, value: ByteString): void {
    this.replace(key, value);
    // Longer ones are kept in that form anyway.
    if (value.length <= EMBEDDED_BYTES) this.#raw.add(key);
  }

  isRaw(key: ByteString): boolean {
    return this.#raw.size > 0 && this.#raw.has(key);
  }

  /** This is `exists`, but no use of the key. */
  isThere(key: ByteString): boolean {
    return this.#values.has(key) && !this.#isExpired(key);
  }

  exists(key: ByteString): boolean {
    return this.#counted(key, this.#values.outline(key)) !== undefined;
  }

  /** Sets value and expiry; `expireAtMs` undefined: none. */
  set(key: ByteString, value: Value, expireAtMs?: number): void {
    this.replace(key, value);
    if (expireAtMs === undefined) {
      if (this.#expiries.size > 0) this.#expiries.delete(key);
    } else {
      this.expireAt(key, expireAtMs);
    }
  }

  /** This is `set` for a string that does not expire, in replay: where nobody needs its words as strings, none are made. */
  setInPlace(set: SetInPlace): void {
    const isBare =
      this.#undo === undefined &&
      this.access === undefined &&
      this.onNew === undefined &&
      this.#perishing.size + this.#raw.size === 0;
    const before = isBare ? this.#values.exchangeInPlace(set) : NOT_TAKEN;
    if (before === NOT_TAKEN) {
      this.set(set.key, set.value);
      return;
    }
    if (this.#expiries.size > 0) this.#expiries.delete(set.key);
    this.#stringBytes += set.valueLength - (before === undefined ? -set.keyLength : sizeOf(before));
  }

  /** Sets the value and leaves the expiry as it is. */
  replace(key: ByteString, value: Value): void {
    if (this.#undo !== undefined) this.#keep(key);
    const before = this.#values.exchange(key, value);
    if (this.#raw.size > 0) this.#raw.delete(key);
    this.#stringBytes += sizeOf(value) - (before === undefined ? -key.length : sizeOf(before));
    this.noteInstants(key, value);
    if (before === undefined && this.onNew !== undefined) this.onNew(key);
    if (this.access !== undefined) this.access.touch(key, this.nowMs);
    this.changes.note(key);
  }

  /**
   * This is called once after a collection that is in the keyspace was changed in place: counts its bytes,
   * removes it when it is left empty (KE4), notes the change (KE5). True if it was removed.
   */
  changed(key: ByteString, collection: Collection, bytesBefore: number): boolean {
    // The collection keeps what it overwrites; of the key only when something in it falls due could change.
    if (this.#undo !== undefined && (this.#perishing.size > 0 || collection.perishing !== undefined)) this.#keep(key);
    this.#stringBytes += collection.bytes - bytesBefore;
    if (collection.size === 0 && collection.kind !== 'stream') {
      this.delete(key);
      return true;
    }
    this.noteInstants(key, collection);
    this.changes.note(key);
    return false;
  }

  /** True if it was there, expired or not. */
  delete(key: ByteString): boolean {
    const before = this.#values.outline(key);
    if (before === undefined) return false;
    if (this.#undo !== undefined) this.#keep(key);
    this.#stringBytes -= key.length + sizeOf(before);
    this.#values.delete(key);
    if (this.#raw.size > 0) this.#raw.delete(key);
    if (this.#expiries.size > 0) this.#expiries.delete(key);
    if (this.#perishing.size > 0) this.#perishing.delete(key);
    this.access?.forget(key);
    this.changes.note(key);
    return true;
  }

  clear(): void {
    if (this.#undo !== undefined) this.#keepEverything();
    this.#values = new EditedStrings();
    this.#raw = new Set();
    this.#expiries = new SegmentedMap();
    this.access?.clear();
    this.#perishing = new SegmentedMap();
    this.#stringBytes = 0;
    this.changes.noteEverything();
  }

  expiryOf(key: ByteString): number | undefined {
    return this.#expiries.size === 0 ? undefined : this.#expiries.get(key);
  }

  expireAt(key: ByteString, atMs: number): void {
    if (this.#undo !== undefined) this.#keep(key);
    this.#expiries.set(key, atMs);
    this.#expiries.note(key, atMs);
    this.changes.note(key);
  }

  /** True if there was an expiry to remove. */
  persist(key: ByteString): boolean {
    if (this.#undo !== undefined) this.#keep(key);
    if (!this.#expiries.delete(key)) return false;
    this.changes.note(key);
    return true;
  }

  /** Live keys from the cursor on; see SegmentedMap.scan for what is promised. */
  scan(cursor: number, count: number): ScanStep<Value> {
    const step = this.#values.scan(cursor, count);
    if (this.#expiries.size === 0 && this.#perishing.size === 0) return step;
    return { cursor: step.cursor, entries: step.entries.filter(([key]) => !this.#isExpired(key)) };
  }

  /** Live keys, in no particular order. */
  *keys(): IterableIterator<ByteString> {
    for (const key of this.#values.keys()) if (!this.#isExpired(key)) yield key;
  }

  randomKey(float: () => number): ByteString | undefined {
    for (let tries = 0; tries < 100; tries += 1) {
      const key = this.#values.randomKey(float);
      if (key === undefined || !this.#isExpired(key)) return key;
    }
    for (const key of this.#values.keys()) if (!this.#isExpired(key)) return key;
    return undefined;
  }

  /** A key, expired or not: candidates for eviction. */
  anyRandomKey(float: () => number): ByteString | undefined {
    return this.#values.randomKey(float);
  }

  randomExpiring(float: () => number): ByteString | undefined {
    return this.#expiries.randomKey(float);
  }

  /** The lower, the sooner it may be evicted. */
  accessRank(key: ByteString): number {
    return this.access?.rankOf(key, this.nowMs) ?? 0;
  }

  /** Everything, expired or not, in no particular order: [key, value, expireAtMs | undefined]. */
  *entries(): IterableIterator<[ByteString, Value, number | undefined]> {
    for (const [key, value] of this.#values) yield [key, value, this.expiryOf(key)];
  }

  /** Keys whose instant is at or before `nowMs`, at most `limit`. */
  dueKeys(nowMs: number, limit: number): ByteString[] {
    return dueIn(this.#expiries, nowMs, limit);
  }

  /** Keys of collections in which something may be due, at most `limit`. */
  perishingKeys(nowMs: number, limit: number): ByteString[] {
    return dueIn(this.#perishing, nowMs, limit);
  }

  /** When something in the collection falls due; `replace` and `changed` note it by themselves. */
  noteInstants(key: ByteString, value: Value): void {
    const perishing = typeof value === 'string' ? undefined : value.perishing;
    if (perishing !== undefined) {
      this.#perishing.set(key, perishing.earliestExpiryMs);
      this.#perishing.note(key, perishing.earliestExpiryMs);
    } else if (this.#perishing.size > 0) {
      this.#perishing.delete(key);
    }
  }

  /** From now on what is overwritten is kept (KE7), until `endUndo` or `undo`. */
  beginUndo(): void {
    this.#log.begin();
    this.#undo = this.#log;
    this.#bytesBefore = this.#stringBytes;
  }

  /** Ends keeping: what was changed since then stays. */
  endUndo(): void {
    this.#log.end();
    this.#undo = undefined;
    this.#revertClear = undefined;
  }

  /** A change was broken off: nobody knows how much of it was made. */
  spoilUndo(): void {
    this.#undo?.giveUp();
  }

  /** Puts back what was overwritten since. False when that is not known any more: then nothing is put back. */
  undo(): boolean {
    const log = this.#undo;
    const isKnown = log !== undefined && !log.isGivenUp;
    if (isKnown) {
      this.#undo = undefined;
      log.revertCollections();
      this.#revertClear?.();
      for (const image of log.images) this.#putBack(image);
      this.#stringBytes = this.#bytesBefore;
    }
    this.endUndo();
    return isKnown;
  }

  /** Keeps what the key holds, before it is changed in whatever way. */
  #keep(key: ByteString): void {
    if (!this.#log.hasKey(key)) this.#keepValue(key, this.#values.get(key));
  }

  #keepValue(key: ByteString, value: Value | undefined): void {
    this.#log.keepKey({
      key,
      value,
      expireAtMs: this.expiryOf(key),
      isRaw: this.isRaw(key),
      mark: this.access?.markOf(key),
    });
  }

  /** What came to be after everything was cleared goes with it: only the first time counts. */
  #keepEverything(): void {
    if (this.#log.isCleared) return;
    this.#log.isCleared = true;
    const values = this.#values;
    const expiries = this.#expiries;
    const perishing = this.#perishing;
    const raw = this.#raw;
    const { access } = this;
    const marks = access?.marks;
    this.#revertClear = () => {
      this.#values = values;
      this.#expiries = expiries;
      this.#perishing = perishing;
      this.#raw = raw;
      if (access !== undefined && marks !== undefined) access.marks = marks;
    };
  }

  #putBack({ key, value, expireAtMs, isRaw, mark }: KeyImage): void {
    if (value === undefined) {
      this.delete(key);
      return;
    }
    this.set(key, value, expireAtMs);
    if (isRaw) this.#raw.add(key);
    if (mark !== undefined) this.access?.putBack(key, mark);
  }

  #isExpired(key: ByteString): boolean {
    if (this.#expiries.size > 0) {
      const atMs = this.#expiries.get(key);
      if (atMs !== undefined && atMs <= this.nowMs) return true;
    }
    return this.#perishing.size > 0 && this.#hasPerished(key);
  }

  /** KE6 */
  #hasPerished(key: ByteString): boolean {
    const earliestMs = this.#perishing.get(key);
    if (earliestMs === undefined || earliestMs > this.nowMs) return false;
    const value = this.#values.get(key) as Collection;
    return value.perishing?.isAllExpired(this.nowMs) ?? false;
  }
}

/** Keys whose instant is at or before `nowMs`, at most `limit`, skipping segments where nothing can be due. */
function dueIn(instants: SegmentedMap<number>, nowMs: number, limit: number): ByteString[] {
  const due: ByteString[] = [];
  if (instants.size === 0) return due;
  for (const segment of instants.segments()) {
    if (segment.earliest > nowMs) continue;
    let earliest = Number.POSITIVE_INFINITY;
    for (const [key, atMs] of segment.entries()) {
      // Due keys count too: they are there until the caller deletes them, and keep the segment in sight.
      if (atMs < earliest) earliest = atMs;
      if (atMs > nowMs) continue;
      if (due.length >= limit) return due;
      due.push(key);
    }
    segment.earliest = earliest;
  }
  return due;
}

function asString(value: Value | undefined): ByteString | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw ERRORS.wrongType;
}

function asKind<C extends Collection>(value: Value | undefined, type: new (...given: never[]) => C): C | undefined {
  if (value === undefined || value instanceof type) return value as C | undefined;
  throw ERRORS.wrongType;
}

function sizeOf(value: Outline<Value>): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? value.length : value.bytes;
}
