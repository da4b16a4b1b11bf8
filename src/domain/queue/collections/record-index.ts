/**
 * Which slot has a key, as numbers alone: slots with the hashes of their keys in open addressing, in many small tables,
 * so that none takes long to grow. Keys are where the slots are: who asks says whether a slot has the one it means.
 */

const TABLES = 256;
const SMALLEST_TABLE = 8;
/** Filled further, probing gets long; grown by more, memory stands empty. */
const MAX_LOAD = 0.75;
const GROWTH = 1.3;

/** Places of two words each: the hash, and the slot by one more; 0: nothing is there. */
interface Table {
  words: Uint32Array;
  size: number;
}

export class RecordIndex {
  readonly #tables: (Table | undefined)[] = new Array<Table | undefined>(TABLES).fill(undefined);

  /** @param isSought whether a slot, whose hash is the one that is looked for, has the key that is */
  constructor(private readonly isSought: (slot: number) => boolean) {}

  /** @param hash 32 bits, well mixed. @returns -1 where nothing has it */
  find(hash: number): number {
    const words = this.#tables[hash & (TABLES - 1)]?.words;
    if (words === undefined) return -1;
    for (let at = homeOf(hash, words); words[at + 1] !== 0; at = after(at, words)) {
      const slot = (words[at + 1] as number) - 1;
      if (words[at] === hash && this.isSought(slot)) return slot;
    }
    return -1;
  }

  /** Does any slot have this hash? */
  has(hash: number): boolean {
    const words = this.#tables[hash & (TABLES - 1)]?.words;
    if (words === undefined) return false;
    for (let at = homeOf(hash, words); words[at + 1] !== 0; at = after(at, words)) if (words[at] === hash) return true;
    return false;
  }

  /** A slot that is not in it. */
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

  /** A slot that is in it. */
  delete(hash: number, slot: number): void {
    const table = this.#tables[hash & (TABLES - 1)] as Table;
    const { words } = table;
    let hole = homeOf(hash, words);
    while (words[hole + 1] !== slot + 1) hole = after(hole, words);
    // What was put further on because places were taken moves up, or it would not be found behind the hole.
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

/** Going forward. */
function distance(from: number, to: number, { length }: Uint32Array): number {
  return to >= from ? to - from : to - from + length;
}
