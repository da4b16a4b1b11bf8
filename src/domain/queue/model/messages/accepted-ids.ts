/**
 * Ids of messages accepted in the last minutes. They recognise a publish that arrives twice, directly and through the
 * intake. Each id is kept as a 64-bit hash, about 11 bytes with overhead. With twelve million ids a new one collides
 * with a probability of 10⁻¹², less than that of an undetected disk error.
 *
 *  AID1 an id is known for at least `ACCEPTED_IDS_MS` after its event, and forgotten after messages were accepted in
 *       that many later minutes. A downtime does not count, because the intake's records of that time are read after
 *       it
 *  AID2 no call takes longer than growing one table of some thousand entries
 */
import { assert } from '../../../../kernel/index.js';
import { ACCEPTED_IDS_MS } from '../limits.js';

const GENERATION_MS = 60_000;
/** Minutes with messages, the latest included. */
const MAX_GENERATIONS = ACCEPTED_IDS_MS / GENERATION_MS + 1;
const TABLES = 256;
const HASH_BYTES = 8;
const SMALLEST_TABLE = 8;
/** A higher load makes probing long; a larger growth factor leaves memory empty. */
const MAX_LOAD = 0.85;
const GROWTH = 1.25;

export interface PackedIds {
  /** Minutes since the epoch. */
  readonly generation: number;
  /** Hashes of one table, 8 bytes each, ascending, the high half first. */
  readonly packed: Uint8Array;
}

export class AcceptedIds {
  /** Ascending. */
  readonly #generations: Generation[] = [];
  readonly #hash = { high: 0, low: 0 };
  /** The last id that was not found: one publish asks for its id several times. */
  #absent: string | undefined;

  has(id: string): boolean {
    if (id === this.#absent) return false;
    hashOf(id, this.#hash);
    for (let at = this.#generations.length - 1; at >= 0; at -= 1) {
      if ((this.#generations[at] as Generation).has(this.#hash.high, this.#hash.low)) return true;
    }
    this.#absent = id;
    return false;
  }

  /** The number of ids of the last minutes; older ones may not have been forgotten yet. */
  sizeAt(nowMs: number): number {
    const latest = Math.floor(nowMs / GENERATION_MS);
    let size = 0;
    for (const generation of this.#generations)
      if (generation.number > latest - MAX_GENERATIONS) size += generation.size;
    return size;
  }

  add(id: string, atMs: number): void {
    this.#absent = undefined;
    hashOf(id, this.#hash);
    this.#generation(Math.floor(atMs / GENERATION_MS)).add(this.#hash.high, this.#hash.low);
  }

  *packed(): Iterable<PackedIds> {
    for (const { number, tables } of this.#generations) {
      for (const table of tables) if (table !== undefined) yield { generation: number, packed: table.packed() };
    }
  }

  restore({ generation, packed }: PackedIds): void {
    assert(packed.length % HASH_BYTES === 0, 'a part of an id is restored', { bytes: packed.length });
    this.#absent = undefined;
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    const into = this.#generation(generation);
    for (let at = 0; at < packed.length; at += HASH_BYTES) into.add(view.getUint32(at), view.getUint32(at + 4));
  }

  #generation(number: number): Generation {
    const latest = this.#generations.at(-1);
    if (latest !== undefined && latest.number === number) return latest;
    const known = this.#generations.find((generation) => generation.number === number);
    if (known !== undefined) return known;
    const made = new Generation(number);
    this.#generations.push(made);
    this.#generations.sort((a, b) => a.number - b.number);
    if (this.#generations.length > MAX_GENERATIONS) this.#generations.shift();
    return made;
  }
}

class Generation {
  readonly tables: (Table | undefined)[] = new Array<Table | undefined>(TABLES).fill(undefined);
  size = 0;

  constructor(readonly number: number) {}

  has(high: number, low: number): boolean {
    return this.tables[low & (TABLES - 1)]?.has(high, low) === true;
  }

  add(high: number, low: number): void {
    const index = low & (TABLES - 1);
    let table = this.tables[index];
    if (table === undefined) {
      table = new Table();
      this.tables[index] = table;
    }
    if (table.add(high, low)) this.size += 1;
  }
}

/** A hash table with open addressing over pairs of 32 bits; 0, 0 is an empty place and never a hash. */
class Table {
  #places = new Uint32Array(SMALLEST_TABLE * 2);
  #size = 0;

  has(high: number, low: number): boolean {
    const at = this.#find(high, low);
    return this.#places[at] === high && this.#places[at + 1] === low;
  }

  /** @returns whether the hash is new */
  add(high: number, low: number): boolean {
    const at = this.#find(high, low);
    if (this.#places[at] === high && this.#places[at + 1] === low) return false;
    this.#places[at] = high;
    this.#places[at + 1] = low;
    this.#size += 1;
    if (this.#size * 2 > this.#places.length * MAX_LOAD) this.#grow();
    return true;
  }

  packed(): Uint8Array {
    const hashes: [number, number][] = [];
    for (let at = 0; at < this.#places.length; at += 2) {
      const high = this.#places[at] as number;
      const low = this.#places[at + 1] as number;
      if (high !== 0 || low !== 0) hashes.push([high, low]);
    }
    hashes.sort(([highA, lowA], [highB, lowB]) => highA - highB || lowA - lowB);
    const packed = new Uint8Array(hashes.length * HASH_BYTES);
    const view = new DataView(packed.buffer);
    hashes.forEach(([high, low], index) => {
      view.setUint32(index * HASH_BYTES, high);
      view.setUint32(index * HASH_BYTES + 4, low);
    });
    return packed;
  }

  /** The index of the pair, or of the empty place for it. */
  #find(high: number, low: number): number {
    const places = this.#places;
    const count = places.length / 2;
    let at = Math.floor((high / 0x1_0000_0000) * count) * 2;
    for (;;) {
      const there = places[at] as number;
      const lowThere = places[at + 1] as number;
      if ((there === high && lowThere === low) || (there === 0 && lowThere === 0)) return at;
      at += 2;
      if (at === places.length) at = 0;
    }
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Uint32Array(Math.ceil((before.length / 2) * GROWTH) * 2);
    this.#size = 0;
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at] as number;
      const low = before[at + 1] as number;
      if (high !== 0 || low !== 0) this.add(high, low);
    }
  }
}

/**
 * Two 32-bit hashes, mixed with each other at the end. The function never changes, because snapshots store its
 * results.
 */
function hashOf(id: string, into: { high: number; low: number }): void {
  let a = 0x5bd1e995;
  let b = 0x1b873593;
  for (let at = 0; at < id.length; at += 1) {
    const character = id.charCodeAt(at);
    a = Math.imul(a ^ character, 0x9e3779b1);
    b = Math.imul(b ^ character, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  into.high = a >>> 0;
  into.low = b >>> 0;
  if (into.high === 0 && into.low === 0) into.low = 1;
}
