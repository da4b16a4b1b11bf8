/**
 * The values of a keyspace. A long string that is changed in place (SETBIT, BITFIELD) is kept as a buffer ("under
 * edit") until it is read as a string.
 *
 *  EDS1 `get` and iteration return only strings and collections, never a buffer under edit
 */
import type { ByteString } from '../../kernel/index.js';
import type { Outline } from './packed-entries.js';
import { PagePool } from './page-pool.js';
import { NOT_TAKEN, type ScanStep, SegmentedMap } from './segmented-map.js';
import type { SetInPlace } from './set-in-place.js';
import { BitString, MIN_BIT_STRING_BYTES } from './types/bit-string.js';
import type { Value } from './value.js';

/** Strings under edit at one time: each is a buffer of up to the largest value. */
const MAX_EDITED = 4;

export class EditedStrings extends SegmentedMap<Value> {
  readonly #edited = new Map<ByteString, BitString>();

  constructor() {
    super(new PagePool());
  }

  /** The buffer of a string under edit. */
  bitsOf(key: ByteString): BitString | undefined {
    return this.#edited.size === 0 ? undefined : this.#edited.get(key);
  }

  /** Puts a string under edit; undefined if the key holds no string or a short one. */
  edit(key: ByteString): BitString | undefined {
    const present = this.bitsOf(key);
    if (present !== undefined) return present;
    const text = super.get(key);
    if (typeof text !== 'string' || text.length < MIN_BIT_STRING_BYTES) return undefined;
    if (this.#edited.size >= MAX_EDITED) this.#settle(this.#edited.keys().next().value as ByteString);
    const bits = new BitString(text);
    this.#edited.set(key, bits);
    super.set(key, '');
    return bits;
  }

  override get(key: ByteString): Value | undefined {
    if (this.#edited.size > 0) this.#settle(key);
    return super.get(key);
  }

  override outline(key: ByteString): Outline<Value> | undefined {
    if (this.#edited.size > 0) this.#settle(key);
    return super.outline(key);
  }

  override set(key: ByteString, value: Value): void {
    if (this.#edited.size > 0) this.#edited.delete(key);
    super.set(key, value);
  }

  override exchange(key: ByteString, value: Value): Outline<Value> | undefined {
    if (this.#edited.size > 0) this.#settle(key);
    return super.exchange(key, value);
  }

  override exchangeInPlace(set: SetInPlace): Outline<Value> | undefined | typeof NOT_TAKEN {
    return this.#edited.size > 0 ? NOT_TAKEN : super.exchangeInPlace(set);
  }

  override delete(key: ByteString): boolean {
    if (this.#edited.size > 0) this.#edited.delete(key);
    return super.delete(key);
  }

  override clear(): void {
    this.#edited.clear();
    super.clear();
  }

  override scan(cursor: number, count: number): ScanStep<Value> {
    this.#settleAll();
    return super.scan(cursor, count);
  }

  override [Symbol.iterator](): IterableIterator<[ByteString, Value]> {
    this.#settleAll();
    return super[Symbol.iterator]();
  }

  #settle(key: ByteString): void {
    const bits = this.#edited.get(key);
    if (bits === undefined) return;
    this.#edited.delete(key);
    super.set(key, bits.text);
  }

  #settleAll(): void {
    for (const key of [...this.#edited.keys()]) this.#settle(key);
  }
}
