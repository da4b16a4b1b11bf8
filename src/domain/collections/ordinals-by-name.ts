/**
 * The ordinals of names: an ordinal is the number by which an index refers to a document or a vector. The names stay
 * in the caller's list; this index has a hash and a number of each, outside of the heap's objects.
 *
 *  OBN1 no call moves more than one of 256 tables, or the first names: a Map of a million names stops the process for
 *       tens of milliseconds when it doubles
 *  OBN2 no look-up compares many names: names that a client has chosen so that their hashes collide are in a Map, which
 *       uses a hash that clients do not know
 */
import { hashKey } from './key-hash.js';
import { RecordIndex } from './record-index.js';

/** The first names are in a Map, because most indexes are small. Moving them to the index takes about 0.2 ms. */
const FIRST_NAMES = 1024;

export class OrdinalsByName {
  #index: RecordIndex | undefined;
  /** The first names; then those that the index does not take. */
  #others = new Map<string, number>();
  #size = 0;
  #sought = '';

  /** @param nameAt the name of an ordinal, from before `add` until after `delete` */
  constructor(private readonly nameAt: (ordinal: number) => string | undefined) {}

  get size(): number {
    return this.#size;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get(name: string): number | undefined {
    if (this.#index !== undefined) {
      const ordinal = this.#find(this.#index, name, hashKey(name));
      if (ordinal >= 0) return ordinal;
      if (this.#others.size === 0) return undefined;
    }
    return this.#others.get(name);
  }

  /** The name must not have an ordinal. */
  add(name: string, ordinal: number): void {
    this.#size += 1;
    if (this.#index?.tryAdd(hashKey(name), ordinal) === true) return;
    this.#others.set(name, ordinal);
    if (this.#index === undefined && this.#size > FIRST_NAMES) this.#makeIndex();
  }

  /** @returns the ordinal that the name had */
  delete(name: string): number | undefined {
    const ordinal = this.#take(name);
    if (ordinal !== undefined) this.#size -= 1;
    return ordinal;
  }

  #take(name: string): number | undefined {
    if (this.#index !== undefined) {
      const hash = hashKey(name);
      const ordinal = this.#find(this.#index, name, hash);
      if (ordinal >= 0) {
        this.#index.delete(hash, ordinal);
        return ordinal;
      }
    }
    const ordinal = this.#others.get(name);
    if (ordinal !== undefined) this.#others.delete(name);
    return ordinal;
  }

  #find(index: RecordIndex, name: string, hash: number): number {
    this.#sought = name;
    return index.find(hash);
  }

  #makeIndex(): void {
    const index = new RecordIndex((ordinal) => this.nameAt(ordinal) === this.#sought);
    const others = this.#others;
    this.#others = new Map();
    for (const [name, ordinal] of others) {
      if (!index.tryAdd(hashKey(name), ordinal)) this.#others.set(name, ordinal);
    }
    this.#index = index;
  }
}
