/**
 * A hash: fields with values, each with an optional expiry. A small hash is one packed string, a large one a
 * SegmentedMap; a hash that has grown stays in the large form, so that scan cursors stay valid.
 *
 * Invariants
 *
 *  HV1 readers that pass the current time never see an expired field
 *  HV2 `bytes` depends only on the contents, not on their history or representation
 *  HV3 `encoding` is the name Redis would report, independent of the representation here
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Outline } from '../packed-entries.js';
import { type ScanStep, SegmentedMap } from '../segmented-map.js';
import type { Collection, FieldExpiry, UndoRecorder } from '../value.js';
import { commandsOf } from './command-chunks.js';
import { FieldExpiries } from './field-expiries.js';
import {
  findWord,
  flat,
  MAX_PACKED_BYTES,
  MAX_PACKED_ENTRIES,
  MAX_PACKED_WORD_BYTES,
  nextWord,
  packWord,
  wordAt,
} from './packed-words.js';

/** Measured: a Map entry with two short strings, without their characters. */
const LARGE_ENTRY_BYTES = 96;
/** The two length characters. */
const SMALL_ENTRY_BYTES = 2;
/** Measured, without the field's name, which is shared. */
const EXPIRY_BYTES = 48;

type Entry = [field: ByteString, value: ByteString];
type Encoding = 'listpack' | 'listpackex' | 'hashtable';

export class HashValue implements Collection, FieldExpiry {
  #fields: ByteString | SegmentedMap<ByteString> = '';
  #size = 0;
  #contentBytes = 0;
  #encoding: Encoding = 'listpack';
  #expiries: FieldExpiries | undefined;
  undo: UndoRecorder | undefined;

  get kind(): 'hash' {
    return 'hash';
  }

  get hasOrder(): boolean {
    return false;
  }

  /** The number of fields, including expired ones. */
  get size(): number {
    return this.#size;
  }

  get contentBytes(): number {
    return this.#contentBytes;
  }

  get bytes(): number {
    const entryBytes = this.#size <= MAX_PACKED_ENTRIES ? SMALL_ENTRY_BYTES : LARGE_ENTRY_BYTES;
    return this.#contentBytes + this.#size * entryBytes + (this.#expiries?.size ?? 0) * EXPIRY_BYTES;
  }

  get encoding(): string {
    return this.#encoding;
  }

  get fieldExpiry(): FieldExpiry | undefined {
    return this.#expiries === undefined || this.#expiries.size === 0 ? undefined : this;
  }

  get earliestExpiryMs(): number {
    return this.#expiries?.earliestMs ?? Number.POSITIVE_INFINITY;
  }

  /** The number of fields that have not expired. */
  visibleSize(nowMs: number): number {
    return this.#size - (this.#expiries?.countDue(nowMs) ?? 0);
  }

  get(field: ByteString, nowMs: number): ByteString | undefined {
    if (this.#isHidden(field, nowMs)) return undefined;
    const fields = this.#fields;
    if (typeof fields !== 'string') return fields.get(field);
    const at = findWord(fields, field, 2);
    return at < 0 ? undefined : wordAt(fields, nextWord(fields, at));
  }

  has(field: ByteString, nowMs: number): boolean {
    if (this.#isHidden(field, nowMs)) return false;
    const fields = this.#fields;
    return typeof fields === 'string' ? findWord(fields, field, 2) >= 0 : fields.has(field);
  }

  /** Sets a value and keeps the field's expiry. */
  set(field: ByteString, value: ByteString): void {
    if (this.undo !== undefined) this.#keep(this.undo, field);
    const fields = this.#fields;
    if (typeof fields !== 'string') {
      this.#count(field, value, fields.exchange(field, value));
      return;
    }
    const at = findWord(fields, field, 2);
    const valueAt = at < 0 ? -1 : nextWord(fields, at);
    const old = at < 0 ? undefined : wordAt(fields, valueAt);
    if (old === value) return;
    this.#count(field, value, old);
    if (!this.#fitsSmall(field, value)) this.#grow().set(field, value);
    else if (old === undefined) this.#fields = flat(fields + packWord(field) + packWord(value));
    else this.#fields = flat(fields.slice(0, valueAt) + packWord(value) + fields.slice(valueAt + 1 + old.length));
  }

  /** Deletes the field with its expiry. @returns whether it existed, expired or not */
  delete(field: ByteString): boolean {
    const old = this.get(field, Number.NEGATIVE_INFINITY);
    if (old === undefined) return false;
    if (this.undo !== undefined) this.#keep(this.undo, field);
    const fields = this.#fields;
    if (typeof fields === 'string') {
      const at = findWord(fields, field, 2);
      this.#fields = flat(fields.slice(0, at) + fields.slice(at + 2 + field.length + old.length));
    } else {
      fields.delete(field);
    }
    this.#size -= 1;
    this.#contentBytes -= field.length + old.length;
    this.#expiries?.delete(field);
    return true;
  }

  expiryOf(field: ByteString): number | undefined {
    return this.#expiries?.get(field);
  }

  /** The field must exist. */
  expireAt(field: ByteString, atMs: number): void {
    if (this.undo !== undefined) this.#keep(this.undo, field);
    this.#expiries ??= new FieldExpiries();
    this.#expiries.set(field, atMs);
  }

  /** @returns whether the field had an expiry */
  persist(field: ByteString): boolean {
    if (this.undo !== undefined) this.#keep(this.undo, field);
    return this.#expiries?.delete(field) ?? false;
  }

  isAllExpired(nowMs: number): boolean {
    const expiries = this.#expiries;
    return expiries !== undefined && expiries.size === this.#size && expiries.areAllDue(nowMs);
  }

  removeExpired(nowMs: number, limit: number): ByteString[] {
    const { undo } = this;
    const due = this.#expiries?.takeDue(nowMs, limit, undo && ((field, atMs) => this.#keep(undo, field, atMs))) ?? [];
    for (const field of due) this.delete(field);
    return due;
  }

  /** Fields that have not expired, with their values, in no particular order. */
  *entries(nowMs: number): IterableIterator<Entry> {
    const fields = this.#fields;
    if (typeof fields !== 'string') {
      for (const entry of fields) if (!this.#isHidden(entry[0], nowMs)) yield entry;
      return;
    }
    for (let at = 0; at < fields.length; ) {
      const valueAt = nextWord(fields, at);
      const field = wordAt(fields, at);
      if (!this.#isHidden(field, nowMs)) yield [field, wordAt(fields, valueAt)];
      at = nextWord(fields, valueAt);
    }
  }

  /** As SegmentedMap.scan; a small hash is returned in one step. */
  scan(cursor: number, count: number, nowMs: number): ScanStep<ByteString> {
    const fields = this.#fields;
    if (typeof fields === 'string') return { cursor: 0, entries: [...this.entries(nowMs)] };
    const step = fields.scan(cursor, count);
    if (this.earliestExpiryMs > nowMs) return step;
    return { cursor: step.cursor, entries: step.entries.filter(([field]) => !this.#isHidden(field, nowMs)) };
  }

  /** A random field, possibly expired; undefined for small hashes, which are cheap to list. */
  drawField(float: () => number): ByteString | undefined {
    return typeof this.#fields === 'string' ? undefined : this.#fields.randomKey(float);
  }

  /** Changes the encoding for many entries or long words (HV3: `encoding` is the name Redis would report). */
  adaptEncoding(entries: number, longestBytes: number, limits: { maxEntries: number; maxValueBytes: number }): void {
    if (entries > limits.maxEntries || longestBytes > limits.maxValueBytes) this.#encoding = 'hashtable';
  }

  /** As in Redis, called by every command that sets an expiry, even if no field gets one. */
  adaptEncodingForExpiries(): void {
    if (this.#encoding === 'listpack') this.#encoding = 'listpackex';
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield* commandsOf(['HSET', key], this.entries(Number.NEGATIVE_INFINITY));
    let run: ByteString[] = [];
    let runAtMs = 0;
    for (const [field, atMs] of this.#expiries ?? []) {
      if (run.length > 0 && (atMs !== runAtMs || run.length >= MAX_PACKED_ENTRIES)) {
        yield ['HPEXPIREAT', key, String(runAtMs), 'FIELDS', String(run.length), ...run];
        run = [];
      }
      run.push(field);
      runAtMs = atMs;
    }
    if (run.length > 0) yield ['HPEXPIREAT', key, String(runAtMs), 'FIELDS', String(run.length), ...run];
  }

  *contents(): Iterable<ByteString> {
    for (const [field, value] of this.entries(Number.NEGATIVE_INFINITY)) {
      yield `${field.length}:${value.length}:${this.expiryOf(field) ?? ''}:${field}${value}`;
    }
  }

  keepState(undo: UndoRecorder): void {
    const encoding = this.#encoding;
    undo.push(() => {
      this.#encoding = encoding;
    });
  }

  clone(): HashValue {
    const copy = new HashValue();
    copy.#size = this.#size;
    copy.#contentBytes = this.#contentBytes;
    copy.#encoding = this.#encoding;
    if (typeof this.#fields === 'string') {
      copy.#fields = this.#fields;
    } else {
      const table = new SegmentedMap<ByteString>();
      for (const [field, value] of this.#fields) table.set(field, value);
      copy.#fields = table;
    }
    for (const [field, atMs] of this.#expiries ?? []) copy.expireAt(field, atMs);
    return copy;
  }

  /** Records the field's state before a change. */
  #keep(undo: UndoRecorder, field: ByteString, atMs = this.#expiries?.get(field)): void {
    const value = this.get(field, Number.NEGATIVE_INFINITY);
    undo.push(() => this.#putBack(field, value, atMs), value?.length ?? 0);
  }

  #putBack(field: ByteString, value: ByteString | undefined, atMs: number | undefined): void {
    if (value === undefined) {
      this.delete(field);
      return;
    }
    this.set(field, value);
    if (atMs === undefined) this.persist(field);
    else this.expireAt(field, atMs);
  }

  #isHidden(field: ByteString, nowMs: number): boolean {
    if (this.#expiries === undefined || this.#expiries.earliestMs > nowMs) return false;
    const atMs = this.#expiries.get(field);
    return atMs !== undefined && atMs <= nowMs;
  }

  #count(field: ByteString, value: ByteString, old: Outline<ByteString> | undefined): void {
    const oldBytes = typeof old === 'string' ? old.length : (old ?? -field.length);
    this.#contentBytes += value.length - oldBytes;
    if (old === undefined) this.#size += 1;
  }

  /** Whether the small form can hold it; size and bytes already include the new field. */
  #fitsSmall(field: ByteString, value: ByteString): boolean {
    return (
      this.#size <= MAX_PACKED_ENTRIES &&
      this.#contentBytes + this.#size * SMALL_ENTRY_BYTES <= MAX_PACKED_BYTES &&
      field.length <= MAX_PACKED_WORD_BYTES &&
      value.length <= MAX_PACKED_WORD_BYTES
    );
  }

  #grow(): SegmentedMap<ByteString> {
    const table = new SegmentedMap<ByteString>();
    for (const [field, value] of this.entries(Number.NEGATIVE_INFINITY)) table.set(field, value);
    this.#fields = table;
    return table;
  }
}
