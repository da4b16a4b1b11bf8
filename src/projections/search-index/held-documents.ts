/**
 * The documents of one index by id and by ordinal, the number by which postings and vectors refer to them.
 *
 *  HD1 `changedAt` of an ordinal grows when its document is added or removed, so a query can check between two slices
 *      whether an ordinal is still the document that it met
 *  HD2 an ordinal that was given to `retire` is reused only after a sweep has removed it from all lists
 *  HD3 no document moves the ids of all (OBN1: a Map of them stops the thread when it doubles)
 */
import { OrdinalsByName } from '../../domain/collections/index.js';

/** A sweep starts when this many ordinals are retired … */
const SWEEP_FROM = 1000;
/** … and they are this share of all. */
const SWEEP_SHARE = 0.25;
/** Entries of lists that a sweep reads between two pauses: about 1 ms. */
const SWEEP_STEP = 100_000;

export interface HeldDocument {
  readonly id: string;
  /** The length of the stored form. */
  readonly bytes: number;
}

export class HeldDocuments<Document extends HeldDocument> {
  readonly #documents: (Document | undefined)[] = [];
  readonly #ordinals = new OrdinalsByName((ordinal) => this.#documents[ordinal]?.id);
  /** By ordinal: the change that added or removed its last document. */
  #changedAt = new Float64Array(16);
  #freeOrdinals: number[] = [];
  #retiredOrdinals: number[] = [];
  #isSweeping = false;
  #changes = 0;
  #bytes = 0;

  get size(): number {
    return this.#ordinals.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Ordinals that were ever used; those of removed documents are empty. */
  get ordinals(): number {
    return this.#documents.length;
  }

  /** Grows with every added or removed document. */
  get changes(): number {
    return this.#changes;
  }

  changedAt(ordinal: number): number {
    return this.#changedAt[ordinal] ?? 0;
  }

  at(ordinal: number): Document | undefined {
    return this.#documents[ordinal];
  }

  withId(id: string): Document | undefined {
    const ordinal = this.#ordinals.get(id);
    return ordinal === undefined ? undefined : this.#documents[ordinal];
  }

  /** For a document that is added next: a free one, or the one after the last. */
  takeOrdinal(): number {
    return this.#freeOrdinals.pop() ?? this.#documents.length;
  }

  /** Its id must not have a document. @param ordinal from `takeOrdinal` */
  add(ordinal: number, document: Document): void {
    this.#documents[ordinal] = document;
    this.#ordinals.add(document.id, ordinal);
    this.#noteChange(ordinal);
    this.#bytes += document.bytes;
  }

  /** @returns its ordinal, which the caller gives to `free` or `retire` */
  remove(id: string): [ordinal: number, removed: Document] | undefined {
    const ordinal = this.#ordinals.delete(id);
    if (ordinal === undefined) return undefined;
    const removed = this.#documents[ordinal] as Document;
    this.#documents[ordinal] = undefined;
    this.#noteChange(ordinal);
    this.#bytes -= removed.bytes;
    return [ordinal, removed];
  }

  /** For an ordinal that no list has. */
  free(ordinal: number): void {
    this.#freeOrdinals.push(ordinal);
  }

  retire(ordinal: number): void {
    this.#retiredOrdinals.push(ordinal);
  }

  get needsSweep(): boolean {
    const retired = this.#retiredOrdinals.length;
    return !this.#isSweeping && retired >= SWEEP_FROM && retired >= this.#documents.length * SWEEP_SHARE;
  }

  /**
   * Frees retired ordinals, in slices; documents may be added or removed between them.
   * @param retireFrom removes these ordinals from all lists, and yields the number of entries since the last yield
   */
  *sweep(retireFrom: (isRetired: (ordinal: number) => boolean) => Iterable<number>): Generator<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const retired = this.#retiredOrdinals;
    this.#retiredOrdinals = [];
    const marks = new Uint8Array(this.#documents.length);
    for (const ordinal of retired) marks[ordinal] = 1;
    let looked = 0;
    for (const entries of retireFrom((ordinal) => marks[ordinal] === 1)) {
      looked += entries;
      if (looked < SWEEP_STEP) continue;
      looked = 0;
      yield;
    }
    this.#freeOrdinals = this.#freeOrdinals.concat(retired);
    this.#isSweeping = false;
  }

  #noteChange(ordinal: number): void {
    this.#changes += 1;
    this.#changedAt = withRoom(this.#changedAt, ordinal);
    this.#changedAt[ordinal] = this.#changes;
  }
}

/** The same array if the ordinal fits, else a larger copy. */
export function withRoom<A extends Float32Array | Float64Array | Uint32Array>(array: A, ordinal: number): A {
  if (ordinal < array.length) return array;
  const larger = new (array.constructor as new (length: number) => A)(Math.max(ordinal + 1, array.length * 2));
  larger.set(array);
  return larger;
}
