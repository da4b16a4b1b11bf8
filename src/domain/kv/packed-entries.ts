/**
 * The entries of one segment of a large map, packed: names and short strings are bytes in pages, found through an index
 * of numbers. The garbage collector has no object per entry to visit, move or free, and overwriting leaves no garbage.
 *
 * A record is the length of the name, the length of the value, the name, the value. Records are numbered in the order
 * in which their names were added; `#addresses` gives the position of each.
 *
 * Invariants
 *
 *  PGE1 entries are visited in the order in which their names were added, as in a Map; overwriting keeps the order
 *  PGE2 a name has one record; `#table` finds its number by the lower bits of its hash
 *  PGE3 a value that is not a short string has no bytes in its record and is in `#others` under its number
 */
import type { ByteString } from '../../kernel/index.js';
import { hashBytes } from '../collections/index.js';
import { INDEX_ADDRESSES, INDEX_CELLS, PAGE_BYTES, type PageIndex, type PagePool } from './page-pool.js';
import type { SetInPlace } from './set-in-place.js';

/** Entries at which a segment splits. */
export const PACKED_ENTRIES = 512;
/** Numbers available, including those of deleted entries, before the entries are repacked. */
const MAX_NUMBERS = INDEX_ADDRESSES;
const TABLE_SIZE = INDEX_CELLS;
/** A cell holds six bits of the hash above ten bits of the number, counted from 1. */
const NUMBER_BITS = 10;
const NUMBER_MASK = 2 ** NUMBER_BITS - 1;
const TAG_MASK = 2 ** 16 - 1 - NUMBER_MASK;
/** Marks a cell whose entry was deleted; the search continues past it. */
const DELETED = NUMBER_MASK;
/** The address of a deleted entry's number. */
const NOWHERE = 2 ** 32 - 1;
const PAGE_BITS = Math.log2(PAGE_BYTES);
const HEADER_BYTES = 3;
const MAX_NAME_BYTES = 255;
/** Longer strings stay on the heap, because their characters outweigh the overhead of an object. */
const MAX_VALUE_BYTES = 1024;
/** Replaces the value's length if the value is not in the record. */
const ELSEWHERE = 2 ** 16 - 1;
/** Unused bytes: above this, and above a third of all bytes, the entries are repacked. */
const MIN_WASTE_BYTES = PAGE_BYTES;
/** Up to this length, writing a text byte by byte is faster than a native call. */
const SHORT_BYTES = 16;
/** As above, for reading: each byte read adds a string concatenation. */
const SHORT_TEXT = 6;
/** As above, for copying from another buffer. */
const SHORT_COPY_BYTES = 40;

/** The index of a container whose entries were moved elsewhere. */
const NO_ENTRIES: PageIndex = { cells: new Uint16Array(TABLE_SIZE), addresses: new Uint32Array(0) };

/** The value of a name; for a packed string only its length, which avoids creating the string. */
export type Outline<V> = V | number;

/**
 * The native methods that `toString('latin1', from, end)` and `write` call; choosing the encoding takes half of their
 * time.
 */
interface Latin1Page extends Buffer {
  latin1Slice(from: number, end: number): ByteString;
  latin1Write(text: ByteString, at: number, length: number): number;
}

export class PackedEntries<V> {
  #index: PageIndex;
  #table: Uint16Array;
  #addresses: Uint32Array;
  #pages: Buffer[] = [];
  #others: (V | undefined)[] = [];
  #size = 0;
  /** The next free number. */
  #next = 0;
  /** The start of the next record in the last page. */
  #end = PAGE_BYTES;
  #waste = 0;

  constructor(private readonly pool: PagePool) {
    this.#index = pool.takeIndex();
    this.#table = this.#index.cells;
    this.#addresses = this.#index.addresses;
  }

  get size(): number {
    return this.#size;
  }

  get(name: ByteString, hash: number): V | undefined {
    const cell = this.#cellOf(name, hash);
    return cell < 0 ? undefined : this.#valueOf(this.#numberIn(cell));
  }

  has(name: ByteString, hash: number): boolean {
    return this.#cellOf(name, hash) >= 0;
  }

  outline(name: ByteString, hash: number): Outline<V> | undefined {
    const cell = this.#cellOf(name, hash);
    return cell < 0 ? undefined : this.#outlineOf(this.#numberIn(cell));
  }

  /** Whether the name is short enough and there is room for an entry. */
  takes(name: ByteString): boolean {
    return name.length <= MAX_NAME_BYTES && this.hasRoom;
  }

  get hasRoom(): boolean {
    return this.#size < MAX_NUMBERS;
  }

  /** For a name that it `takes`. @returns the value before */
  exchange(name: ByteString, value: V, hash: number): Outline<V> | undefined {
    const cell = this.#cellOf(name, hash);
    if (cell >= 0) {
      const number = this.#numberIn(cell);
      const before = this.#outlineOf(number);
      this.#overwrite(number, name, value);
      return before;
    }
    if (this.#next === MAX_NUMBERS) this.#packAnew();
    const number = this.#add(hash);
    this.#write(number, name, value);
    return undefined;
  }

  /** As `exchange`, for bytes that fit (`fitsPages`). */
  exchangeInPlace(set: SetInPlace, hash: number): Outline<V> | undefined {
    const cell = this.#cellOfBytes(set, hash);
    if (cell < 0) {
      if (this.#next === MAX_NUMBERS) this.#packAnew();
      this.#writeBytes(this.#add(hash), set);
      return undefined;
    }
    const number = this.#numberIn(cell);
    const before = this.#outlineOf(number);
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    const room = valueLength(page, at);
    if (room !== ELSEWHERE && set.valueLength <= room) {
      this.#waste += room - set.valueLength;
      setValueLength(page, at, set.valueLength);
      copyBytes(page, at + HEADER_BYTES + set.keyLength, set.bytes, set.valueAt, set.valueLength);
      return before;
    }
    this.#waste += this.#recordBytes(number);
    if (room === ELSEWHERE) this.#others[number] = undefined;
    this.#writeBytes(number, set);
    this.#packIfWasteful();
    return before;
  }

  delete(name: ByteString, hash: number): boolean {
    const cell = this.#cellOf(name, hash);
    if (cell < 0) return false;
    const number = this.#numberIn(cell);
    this.#waste += this.#recordBytes(number);
    this.#addresses[number] = NOWHERE;
    this.#table[cell] = DELETED;
    if (number < this.#others.length) this.#others[number] = undefined;
    this.#size -= 1;
    if (this.#size === 0) this.#empty();
    else this.#packIfWasteful();
    return true;
  }

  /** All current entries, or those with hashes from `first` to `last`. */
  entries(first = 0, last = 2 ** 32): [ByteString, V][] {
    const entries: [ByteString, V][] = [];
    for (let number = 0; number < this.#next; number += 1) {
      if (this.#addresses[number] === NOWHERE) continue;
      if (first > 0 || last < 2 ** 32) {
        const hash = this.#hashOf(number);
        if (hash < first || hash > last) continue;
      }
      entries.push([this.#nameOf(number), this.#valueOf(number) as V]);
    }
    return entries;
  }

  names(): ByteString[] {
    const names: ByteString[] = [];
    for (let number = 0; number < this.#next; number += 1) {
      if (this.#addresses[number] !== NOWHERE) names.push(this.#nameOf(number));
    }
    return names;
  }

  /** The name of the entry at that index in the order. */
  nameAt(index: number): ByteString {
    let number = -1;
    for (let met = -1; met < index; ) {
      number += 1;
      if (this.#addresses[number] !== NOWHERE) met += 1;
    }
    return this.#nameOf(number);
  }

  hashes(): Uint32Array {
    const hashes = new Uint32Array(this.#size);
    let size = 0;
    for (let number = 0; number < this.#next; number += 1) {
      if (this.#addresses[number] === NOWHERE) continue;
      hashes[size] = this.#hashOf(number);
      size += 1;
    }
    return hashes;
  }

  /** Moves every entry to `low` or `high` by a bit of its hash. Afterwards this container is unusable. */
  splitInto(low: PackedEntries<V>, high: PackedEntries<V>, bit: number): void {
    for (let number = 0; number < this.#next; number += 1) {
      if (this.#addresses[number] === NOWHERE) continue;
      const hash = this.#hashOf(number);
      ((hash & bit) === 0 ? low : high).#copy(this, number, hash);
    }
    this.#empty();
    this.pool.giveBackIndex(this.#index);
    this.#lookIn(NO_ENTRIES);
  }

  /** The cell of `#table` that leads to the name, or -1. */
  #cellOf(name: ByteString, hash: number): number {
    const table = this.#table;
    const tag = tagOf(hash);
    for (let cell = hash & (TABLE_SIZE - 1); ; cell = (cell + 1) & (TABLE_SIZE - 1)) {
      const content = table[cell] as number;
      if (content === 0) return -1;
      if ((content & TAG_MASK) === tag && content !== DELETED && this.#isNamed((content & NUMBER_MASK) - 1, name)) {
        return cell;
      }
    }
  }

  /** As `#cellOf`. */
  #cellOfBytes(set: SetInPlace, hash: number): number {
    const table = this.#table;
    const tag = tagOf(hash);
    for (let cell = hash & (TABLE_SIZE - 1); ; cell = (cell + 1) & (TABLE_SIZE - 1)) {
      const content = table[cell] as number;
      if (content === 0) return -1;
      if ((content & TAG_MASK) !== tag || content === DELETED) continue;
      if (this.#isNamedAs((content & NUMBER_MASK) - 1, set)) return cell;
    }
  }

  #numberIn(cell: number): number {
    return ((this.#table[cell] as number) & NUMBER_MASK) - 1;
  }

  #isNamed(number: number, name: ByteString): boolean {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    const { length } = name;
    if (page[at] !== length) return false;
    for (let i = 0; i < length; i += 1) if (page[at + HEADER_BYTES + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  #isNamedAs(number: number, { bytes, keyAt, keyLength }: SetInPlace): boolean {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    if (page[at] !== keyLength) return false;
    for (let i = 0; i < keyLength; i += 1) if (page[at + HEADER_BYTES + i] !== bytes[keyAt + i]) return false;
    return true;
  }

  #nameOf(number: number): ByteString {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    return textIn(page, at + HEADER_BYTES, page[at] as number);
  }

  #hashOf(number: number): number {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    return hashBytes(page, at + HEADER_BYTES, page[at] as number);
  }

  #valueOf(number: number): V | undefined {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    const length = valueLength(page, at);
    if (length === ELSEWHERE) return this.#others[number];
    return textIn(page, at + HEADER_BYTES + (page[at] as number), length) as V & ByteString;
  }

  #outlineOf(number: number): Outline<V> {
    const address = this.#addresses[number] as number;
    const length = valueLength(this.#pages[address >>> PAGE_BITS] as Buffer, address & (PAGE_BYTES - 1));
    return length === ELSEWHERE ? (this.#others[number] as V) : length;
  }

  #recordBytes(number: number): number {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    const length = valueLength(page, at);
    return HEADER_BYTES + (page[at] as number) + (length === ELSEWHERE ? 0 : length);
  }

  #overwrite(number: number, name: ByteString, value: V): void {
    const address = this.#addresses[number] as number;
    const page = this.#pages[address >>> PAGE_BITS] as Buffer;
    const at = address & (PAGE_BYTES - 1);
    const before = valueLength(page, at);
    if (isShort(value)) {
      if (before !== ELSEWHERE && value.length <= before) {
        this.#waste += before - value.length;
        setValueLength(page, at, value.length);
        writeText(page, at + HEADER_BYTES + name.length, value);
        return;
      }
    } else if (before === ELSEWHERE) {
      this.#others[number] = value;
      return;
    }
    this.#waste += this.#recordBytes(number);
    if (before === ELSEWHERE) this.#others[number] = undefined;
    this.#write(number, name, value);
    this.#packIfWasteful();
  }

  /** Assigns the next number to an entry with this hash. */
  #add(hash: number): number {
    const table = this.#table;
    let cell = hash & (TABLE_SIZE - 1);
    while (table[cell] !== 0) cell = (cell + 1) & (TABLE_SIZE - 1);
    const number = this.#next;
    table[cell] = tagOf(hash) | (number + 1);
    this.#next += 1;
    this.#size += 1;
    return number;
  }

  #write(number: number, name: ByteString, value: V): void {
    const isHere = isShort(value);
    const at = this.#place(number, HEADER_BYTES + name.length + (isHere ? value.length : 0));
    const page = this.#pages[this.#pages.length - 1] as Buffer;
    page[at] = name.length;
    setValueLength(page, at, isHere ? value.length : ELSEWHERE);
    writeText(page, at + HEADER_BYTES, name);
    if (isHere) writeText(page, at + HEADER_BYTES + name.length, value);
    else this.#keepElsewhere(number, value);
  }

  #writeBytes(number: number, { bytes, keyAt, keyLength, valueAt, valueLength }: SetInPlace): void {
    const at = this.#place(number, HEADER_BYTES + keyLength + valueLength);
    const page = this.#pages[this.#pages.length - 1] as Buffer;
    page[at] = keyLength;
    setValueLength(page, at, valueLength);
    copyBytes(page, at + HEADER_BYTES, bytes, keyAt, keyLength);
    copyBytes(page, at + HEADER_BYTES + keyLength, bytes, valueAt, valueLength);
  }

  #keepElsewhere(number: number, value: V | undefined): void {
    const others = this.#others;
    while (others.length < number) others.push(undefined);
    others[number] = value;
  }

  /** Reserves space for a record; returns its position in the last page. */
  #place(number: number, bytes: number): number {
    if (this.#end + bytes > PAGE_BYTES) {
      this.#pages.push(this.pool.take());
      this.#end = 0;
    }
    const at = this.#end;
    this.#end += bytes;
    this.#addresses[number] = (this.#pages.length - 1) * PAGE_BYTES + at;
    return at;
  }

  #copy(from: PackedEntries<V>, theirs: number, hash: number): void {
    const address = from.#addresses[theirs] as number;
    const source = from.#pages[address >>> PAGE_BITS] as Buffer;
    const start = address & (PAGE_BYTES - 1);
    const bytes = from.#recordBytes(theirs);
    const number = this.#add(hash);
    const at = this.#place(number, bytes);
    source.copy(this.#pages[this.#pages.length - 1] as Buffer, at, start, start + bytes);
    if (valueLength(source, start) === ELSEWHERE) this.#keepElsewhere(number, from.#others[theirs]);
  }

  #packIfWasteful(): void {
    if (this.#waste > MIN_WASTE_BYTES && this.#waste * 3 > this.#pages.length * PAGE_BYTES) this.#packAnew();
  }

  /** Removes the gaps that overwriting and deleting have left. */
  #packAnew(): void {
    const copy = new PackedEntries<V>(this.pool);
    this.splitInto(copy, copy, 0);
    this.#lookIn(copy.#index);
    this.#pages = copy.#pages;
    this.#others = copy.#others;
    this.#size = copy.#size;
    this.#next = copy.#next;
    this.#end = copy.#end;
  }

  #lookIn(index: PageIndex): void {
    this.#index = index;
    this.#table = index.cells;
    this.#addresses = index.addresses;
  }

  #empty(): void {
    this.pool.giveBack(this.#pages);
    this.#table.fill(0);
    this.#pages = [];
    this.#others = [];
    this.#size = 0;
    this.#next = 0;
    this.#end = PAGE_BYTES;
    this.#waste = 0;
  }
}

/** Whether name and value are short enough for a record. */
export function fitsPages({ keyLength, valueLength }: SetInPlace): boolean {
  return keyLength <= MAX_NAME_BYTES && valueLength <= MAX_VALUE_BYTES;
}

function isShort(value: unknown): value is ByteString {
  return typeof value === 'string' && value.length <= MAX_VALUE_BYTES;
}

/** Uses bits of the hash that do not choose the cell. */
function tagOf(hash: number): number {
  return hash & TAG_MASK;
}

function valueLength(page: Buffer, at: number): number {
  return (page[at + 1] as number) | ((page[at + 2] as number) << 8);
}

function setValueLength(page: Buffer, at: number, length: number): void {
  page[at + 1] = length;
  page[at + 2] = length >>> 8;
}

function textIn(page: Buffer, from: number, length: number): ByteString {
  if (length > SHORT_TEXT) return (page as Latin1Page).latin1Slice(from, from + length);
  let text = '';
  for (let i = from; i < from + length; i += 1) text += String.fromCharCode(page[i] as number);
  return text;
}

function writeText(page: Buffer, at: number, text: ByteString): void {
  const { length } = text;
  if (length > SHORT_BYTES) (page as Latin1Page).latin1Write(text, at, length);
  else for (let i = 0; i < length; i += 1) page[at + i] = text.charCodeAt(i);
}

function copyBytes(page: Buffer, at: number, source: Buffer, from: number, length: number): void {
  if (length > SHORT_COPY_BYTES) source.copy(page, at, from, from + length);
  else for (let i = 0; i < length; i += 1) page[at + i] = source[from + i] as number;
}
