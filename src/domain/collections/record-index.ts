/**
 * A hash index from keys to slots, with open addressing over numbers. It is split into 256 tables, so that growing
 * one takes little time. Keys are stored with the slots: the caller compares them.
 */

const TABLES = 256;
const SMALLEST_TABLE = 8;
/** A higher load makes probing long; a larger growth factor leaves memory empty. */
const MAX_LOAD = 0.75;
const GROWTH = 1.3;
/** By chance no entry of a table is so many cells after its home; keys that were chosen to collide are. */
const MAX_PROBES = 512;
/** At 16 million entries tables have so many on average, and growing one takes about a millisecond. */
const MAX_TABLE_SIZE = 2 ** 16;

/** Entries of two words: the hash, and the slot plus one (0: empty). */
interface Table {
  words: Uint32Array;
  size: number;
}

export class RecordIndex {
  readonly #tables: (Table | undefined)[] = new Array<Table | undefined>(TABLES).fill(undefined);

  /** @param isSought whether a slot with the sought hash has the sought key */
  constructor(private readonly isSought: (slot: number) => boolean) {}

  /**
   * @param hash 32 bits, well mixed
   * @returns -1 if no slot matches
   */
  find(hash: number): number {
    const words = this.#tables[hash & (TABLES - 1)]?.words;
    if (words === undefined) return -1;
    for (let at = homeOf(hash, words); words[at + 1] !== 0; at = after(at, words)) {
      const slot = (words[at + 1] as number) - 1;
      if (words[at] === hash && this.isSought(slot)) return slot;
    }
    return -1;
  }

  /** Whether any slot has this hash. */
  has(hash: number): boolean {
    const words = this.#tables[hash & (TABLES - 1)]?.words;
    if (words === undefined) return false;
    for (let at = homeOf(hash, words); words[at + 1] !== 0; at = after(at, words)) if (words[at] === hash) return true;
    return false;
  }

  /** The slot must not be in the index. */
  add(hash: number, slot: number): void {
    let table = this.#tables[hash & (TABLES - 1)];
    if (table === undefined) {
      table = { words: new Uint32Array(2 * SMALLEST_TABLE), size: 0 };
      this.#tables[hash & (TABLES - 1)] = table;
    }
    table.size += 1;
    if (2 * table.size > table.words.length * MAX_LOAD) table.words = grown(table.words);
    put(table.words, hash, slot + 1);
  }

  /** As `add`. @returns false, without adding it, if more keys collide with it than by chance */
  tryAdd(hash: number, slot: number): boolean {
    const table = this.#tables[hash & (TABLES - 1)];
    if (table !== undefined) {
      if (table.size >= MAX_TABLE_SIZE) return false;
      const { words } = table;
      let probes = 0;
      for (let at = homeOf(hash, words); words[at + 1] !== 0; at = after(at, words)) {
        probes += 1;
        if (probes > MAX_PROBES) return false;
      }
    }
    this.add(hash, slot);
    return true;
  }

  /** The slot must be in the index. */
  delete(hash: number, slot: number): void {
    const table = this.#tables[hash & (TABLES - 1)] as Table;
    const { words } = table;
    let hole = homeOf(hash, words);
    while (words[hole + 1] !== slot + 1) hole = after(hole, words);
    // Entries that were pushed on by collisions move into the hole; otherwise a search would stop there and miss
    // them.
    for (let at = after(hole, words); words[at + 1] !== 0; at = after(at, words)) {
      const home = homeOf(words[at] as number, words);
      if (distance(home, at, words) < distance(hole, at, words)) continue;
      words[hole] = words[at] as number;
      words[hole + 1] = words[at + 1] as number;
      hole = at;
    }
    words[hole + 1] = 0;
    table.size -= 1;
    if (table.size === 0) this.#tables[hash & (TABLES - 1)] = undefined;
  }
}

function grown(before: Uint32Array): Uint32Array {
  const words = new Uint32Array(2 * Math.ceil((before.length / 2) * GROWTH));
  for (let at = 0; at < before.length; at += 2) {
    if (before[at + 1] !== 0) put(words, before[at] as number, before[at + 1] as number);
  }
  return words;
}

function put(words: Uint32Array, hash: number, place: number): void {
  let at = homeOf(hash, words);
  while (words[at + 1] !== 0) at = after(at, words);
  words[at] = hash;
  words[at + 1] = place;
}

function homeOf(hash: number, { length }: Uint32Array): number {
  return 2 * Math.floor((hash / 0x1_0000_0000) * (length / 2));
}

function after(at: number, { length }: Uint32Array): number {
  return at + 2 === length ? 0 : at + 2;
}

/** The number of words from one entry to another in probing direction. */
function distance(from: number, to: number, { length }: Uint32Array): number {
  return to >= from ? to - from : to - from + length;
}
