/**
 * Maps keys to typed values with expiries. A value is a byte string or a collection from `types/`. Handlers reach
 * values only through this class, so that WRONGTYPE and expiry are checked in one place.
 *
 * Invariants
 *
 *  KE1 an expired key is invisible, whether or not it has been removed
 *  KE2 a read changes no data; a write that meets an expired key removes it and records `DEL`
 *  KE3 in replay `nowMs` is 0: no key is expired, and only journaled deletions remove keys
 *  KE4 an empty collection is removed, except a stream or a vector index, which may be empty
 *  KE5 every change of a key is noted in `changes`
 *  KE6 a collection in which every part has expired counts as an expired key
 *  KE7 between `beginUndo` and `endUndo` or `undo`, a value is kept before it is overwritten
 */
import type { ByteString } from '../../kernel/index.js';
import type { AccessLog } from './access-log.js';
import { DerivedKeys } from './derived-keys.js';
import { EditedStrings } from './edited-strings.js';
import { type Effects, expiredEffect } from './effects.js';
import { KeyChanges } from './key-changes.js';
import { KeyExpiries } from './key-expiries.js';
import { NOT_TAKEN, type ScanStep } from './segmented-map.js';
import type { SetInPlace } from './set-in-place.js';
import type { BitString } from './types/bit-string.js';
import { type KeyImage, UndoLog } from './undo-log.js';
import { asKind, asString, type Collection, sizeOf, type Value } from './value.js';

/**
 * Bytes that a key counts in addition to its name and value, for INFO, MEMORY USAGE and limits: the cost of a string in a
 * Map, as in small databases. Packed keys cost about 25 (docs/decisions/key-value-engine.md), but operators set their limits
 * by this number.
 */
export const KEY_OVERHEAD_BYTES = 88;

/** Redis stores strings up to this length in one allocation with their header ("embstr"). */
export const EMBEDDED_BYTES = 44;

export class Keyspace {
  /** The current time for commands; set by the engine, 0 in replay (KE3: no key is expired in replay). */
  nowMs = 0;
  readonly changes = new KeyChanges();
  /** When keys were last used; undefined unless the eviction policy needs it. */
  access: AccessLog | undefined;
  readonly derived = new DerivedKeys();
  /** The memory of indexes, which is charged to the database. */
  derivedBytes = 0;
  /** Called for each new key and each lookup of a missing key; set only while those events are enabled. */
  onNew: ((key: ByteString) => void) | undefined;
  onMissed: ((key: ByteString) => void) | undefined;
  /** Called when a write has met an expired key and removed it. */
  onExpired: (key: ByteString) => void = () => {};
  /** Lookups by commands that found the key, and that did not. */
  hits = 0;
  misses = 0;
  #values = new EditedStrings();
  #expiries = new KeyExpiries();
  /** Short strings that were changed in place: Redis reports them as `raw` until they are set again. */
  #raw = new Set<ByteString>();
  #stringBytes = 0;
  readonly #log = new UndoLog();
  /** The same log, while an undo is possible. */
  #undo: UndoLog | undefined;
  #bytesBefore = 0;
  /** Restores the state from before `clear`. */
  #revertClear: (() => void) | undefined;

  constructor(private readonly effects: Effects) {}

  /** The number of keys, including expired keys that are not yet removed, as in Redis. */
  get size(): number {
    return this.#values.size;
  }

  /** The expiries; only the keyspace changes them, but for a collection that lost expired parts. */
  get expiries(): KeyExpiries {
    return this.#expiries;
  }

  get expiring(): number {
    return this.#expiries.size;
  }

  /** The number of keys with parts that expire. */
  get keysWithFieldExpiry(): number {
    return this.#expiries.withFields;
  }

  /** Bytes of keys and values. */
  get bytes(): number {
    return this.#stringBytes;
  }

  /** The value, for a command that only reads. */
  peek(key: ByteString): Value | undefined {
    return this.#counted(key, this.#values.get(key));
  }

  /** Returns `found` unless the key has expired; counts the hit or miss. */
  #counted<F>(key: ByteString, found: F | undefined): F | undefined {
    if (found === undefined || this.#isExpired(key)) {
      this.misses += 1;
      if (found !== undefined) this.#expiries.noteMet(key);
      if (this.onMissed !== undefined) this.onMissed(key);
      return undefined;
    }
    this.hits += 1;
    if (this.access !== undefined) this.access.touch(key, this.nowMs);
    return found;
  }

  /** The value, expired or not. */
  stored(key: ByteString): Value | undefined {
    return this.#values.get(key);
  }

  /** The value, for a command that may write (KE2: such a command removes an expired key). */
  fetch(key: ByteString): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (!this.#isExpired(key)) {
      if (this.access !== undefined) this.access.touch(key, this.nowMs);
      if (this.#undo !== undefined && typeof value === 'object' && value.undo === undefined) this.#undo.follow(value);
      return value;
    }
    const isDue = this.#expiries.isDue(key, this.nowMs);
    this.delete(key);
    this.effects.push(...expiredEffect(key));
    if (isDue) this.onExpired(key);
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

  /**
   * The collection of that class, for a command that may write (KE2: such a command removes an expired key). @throws
   * WRONGTYPE
   */
  fetchKind<C extends Collection>(key: ByteString, type: new (...given: never[]) => C): C | undefined {
    return asKind(this.fetch(key), type);
  }

  /** As `peekString`, for reading single bytes: a string under edit stays under edit. @throws WRONGTYPE */
  peekBits(key: ByteString): ByteString | BitString | undefined {
    const bits = this.#values.bitsOf(key);
    return bits === undefined || this.#isExpired(key) ? this.peekString(key) : bits;
  }

  /**
   * The string as a buffer to change in place, for a command that may write; undefined if it is missing or so short
   * that replacing it is as cheap. Call `edited` afterwards. @throws WRONGTYPE
   */
  fetchBits(key: ByteString): BitString | undefined {
    // Keeping the old value ends an edit, so the string is put under edit again below.
    if (this.#undo !== undefined) this.#keep(key);
    const bits = this.#values.bitsOf(key);
    if (bits !== undefined && !this.#isExpired(key)) return bits;
    return this.fetchString(key) === undefined ? undefined : this.#values.edit(key);
  }

  /** To be called once after a buffer from `fetchBits` was changed. */
  edited(key: ByteString, bits: BitString, lengthBefore: number): void {
    this.#stringBytes += bits.length - lengthBefore;
    this.changes.note(key);
  }

  /** As `replace`, for a string that was changed in place: OBJECT ENCODING shows `raw`. That mark is not journaled. */
  replaceEdited(key: ByteString, value: ByteString): void {
    this.replace(key, value);
    // Longer strings are `raw` in any case.
    if (value.length <= EMBEDDED_BYTES) this.#raw.add(key);
  }

  isRaw(key: ByteString): boolean {
    return this.#raw.size > 0 && this.#raw.has(key);
  }

  /** As `exists`, without counting a use of the key. */
  isThere(key: ByteString): boolean {
    return this.#values.has(key) && !this.#isExpired(key);
  }

  exists(key: ByteString): boolean {
    return this.#counted(key, this.#values.outline(key)) !== undefined;
  }

  /** Sets value and expiry; no `expireAtMs`: no expiry. */
  set(key: ByteString, value: Value, expireAtMs?: number): void {
    this.replace(key, value);
    if (expireAtMs === undefined) {
      this.#expiries.delete(key);
    } else {
      this.expireAt(key, expireAtMs);
    }
  }

  /** As `set` for a string without an expiry, in replay: if possible, copies the bytes without creating strings. */
  setInPlace(set: SetInPlace): void {
    const isBare =
      this.#undo === undefined &&
      this.access === undefined &&
      this.onNew === undefined &&
      this.#expiries.withFields + this.#raw.size + this.derived.size === 0;
    const before = isBare ? this.#values.exchangeInPlace(set) : NOT_TAKEN;
    if (before === NOT_TAKEN) {
      this.set(set.key, set.value);
      return;
    }
    this.#expiries.delete(set.key);
    this.#stringBytes += set.valueLength - (before === undefined ? -set.keyLength : sizeOf(before));
  }

  /** Sets the value and keeps the expiry. */
  replace(key: ByteString, value: Value): void {
    if (this.#undo !== undefined) this.#keep(key);
    const before = this.#values.exchange(key, value);
    if (this.#raw.size > 0) this.#raw.delete(key);
    this.#stringBytes += sizeOf(value) - (before === undefined ? -key.length : sizeOf(before));
    this.#expiries.noteFields(key, value);
    this.derived.note(key, value);
    if (before === undefined && this.onNew !== undefined) this.onNew(key);
    if (this.access !== undefined) this.access.touch(key, this.nowMs);
    this.changes.note(key);
  }

  /**
   * To be called once after a collection in the keyspace was changed in place: updates the byte count, removes an empty
   * collection (KE4: unless it may be empty), notes the change. @returns whether it was removed
   */
  changed(key: ByteString, collection: Collection, bytesBefore: number): boolean {
    // The collection records the inverse of its changes; the key is kept only if the expiry of its parts could change.
    if (this.#undo !== undefined && (this.#expiries.withFields > 0 || collection.fieldExpiry !== undefined))
      this.#keep(key);
    this.#stringBytes += collection.bytes - bytesBefore;
    if (collection.size === 0 && collection.mayBeEmpty !== true) {
      this.delete(key);
      return true;
    }
    this.#expiries.noteFields(key, collection);
    if (collection.graphFile !== undefined) this.derived.noteGraph(key);
    this.changes.note(key);
    return false;
  }

  /** @returns whether it existed, expired or not */
  delete(key: ByteString): boolean {
    const before = this.#values.outline(key);
    if (before === undefined) return false;
    if (this.#undo !== undefined) this.#keep(key);
    this.#stringBytes -= key.length + sizeOf(before);
    this.#values.delete(key);
    if (this.#raw.size > 0) this.#raw.delete(key);
    this.#expiries.forget(key);
    this.derived.note(key, undefined);
    this.access?.forget(key);
    this.changes.note(key);
    return true;
  }

  clear(): void {
    const revertDerived = this.derived.clear();
    if (this.#undo !== undefined) this.#keepEverything(revertDerived);
    this.#values = new EditedStrings();
    this.#raw = new Set();
    this.#expiries = new KeyExpiries();
    this.access?.clear();
    this.#stringBytes = 0;
    this.changes.noteEverything();
  }

  expiryOf(key: ByteString): number | undefined {
    return this.#expiries.get(key);
  }

  expireAt(key: ByteString, atMs: number): void {
    if (this.#undo !== undefined) this.#keep(key);
    this.#expiries.set(key, atMs);
    this.changes.note(key);
  }

  /** @returns whether there was an expiry to remove */
  persist(key: ByteString): boolean {
    if (this.#undo !== undefined) this.#keep(key);
    if (!this.#expiries.delete(key)) return false;
    this.changes.note(key);
    return true;
  }

  /** Live keys from the cursor on; SegmentedMap.scan states the guarantees. */
  scan(cursor: number, count: number): ScanStep<Value> {
    const step = this.#values.scan(cursor, count);
    if (this.#expiries.size === 0 && this.#expiries.withFields === 0) return step;
    return { cursor: step.cursor, entries: step.entries.filter(([key]) => !this.#isExpired(key)) };
  }

  /** Live keys, in no particular order. */
  *keys(): IterableIterator<ByteString> {
    for (const key of this.#values.keys()) if (!this.#isExpired(key)) yield key;
  }

  /** @param mayBeExpired whether to return an expired key if there is no other, as Redis does during CLIENT PAUSE */
  randomKey(float: () => number, mayBeExpired = false): ByteString | undefined {
    for (let tries = 0; tries < 100; tries += 1) {
      const key = this.#values.randomKey(float);
      if (key === undefined || !this.#isExpired(key)) return key;
    }
    for (const key of this.#values.keys()) if (!this.#isExpired(key)) return key;
    return mayBeExpired ? this.#values.randomKey(float) : undefined;
  }

  /** Any key, expired or not: a candidate for eviction. */
  anyRandomKey(float: () => number): ByteString | undefined {
    return this.#values.randomKey(float);
  }

  /** The key with the lowest rank is evicted first. */
  accessRank(key: ByteString): number {
    return this.access?.rankOf(key, this.nowMs) ?? 0;
  }

  /** All entries, expired or not, in no particular order: [key, value, expireAtMs | undefined]. */
  *entries(): IterableIterator<[ByteString, Value, number | undefined]> {
    for (const [key, value] of this.#values) yield [key, value, this.expiryOf(key)];
  }

  /** Keys with an expiry at or before `nowMs`, at most `limit`. */
  dueKeys(nowMs: number, limit: number): ByteString[] {
    return this.#expiries.dueKeys(nowMs, limit);
  }

  /** From now on values are kept before they are overwritten (KE7), until `endUndo` or `undo`. */
  beginUndo(): void {
    this.#log.begin();
    this.#undo = this.#log;
    this.#bytesBefore = this.#stringBytes;
  }

  endUndo(): void {
    this.#log.end();
    this.#undo = undefined;
    this.#revertClear = undefined;
  }

  /** A change was interrupted halfway, so its extent is unknown and cannot be undone. */
  spoilUndo(): void {
    this.#undo?.giveUp();
  }

  /**
   * Restores the values overwritten since `beginUndo`. @returns false if the log was given up; then no value is
   * restored
   */
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

  /** Keeps the key's value before a change, once per run. */
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

  /** Only the first clear is kept: keys created after it are discarded with the restore. */
  #keepEverything(revertDerived: () => void): void {
    if (this.#log.isCleared) return;
    this.#log.isCleared = true;
    const values = this.#values;
    const expiries = this.#expiries;
    const raw = this.#raw;
    const { access } = this;
    const marks = access?.marks;
    this.#revertClear = () => {
      this.#values = values;
      this.#expiries = expiries;
      this.#raw = raw;
      revertDerived();
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
    if (this.#expiries.isDue(key, this.nowMs)) return true;
    return this.#expiries.mayHaveDueFields(key, this.nowMs) && this.#hasOnlyExpiredFields(key);
  }

  /** KE6: a collection in which every part has expired counts as an expired key. */
  #hasOnlyExpiredFields(key: ByteString): boolean {
    const value = this.#values.get(key) as Collection;
    return value.fieldExpiry?.isAllExpired(this.nowMs) ?? false;
  }
}
