/**
 * The bodies of one account's queue: in memory while there is room, otherwise in the entry that brought them, otherwise
 * in the body segments of a snapshot. Each body has a higher number than the ones before.
 *
 *  BC1 a body that is not stored yet is in memory
 *  BC2 a body that is neither in memory nor at a known position is in a snapshot
 */
import type { BodyReader } from '../../journal/index.js';
import type { PartitionName, ShardName } from '../../kernel/index.js';
import type { PartitionBodies } from './account-queue.js';
import type { BodyMemory } from './body-memory.js';
import { BodyPage, PAGE_BODIES } from './body-page.js';

export interface BodyCacheParts {
  readonly shard: ShardName;
  readonly partition: PartitionName;
  /** The memory that all queues of the process share. */
  readonly memory: BodyMemory;
  readonly reader: Pick<BodyReader, 'read'>;
}

const EMPTY = new Uint8Array(0);

export class BodyCache implements PartitionBodies {
  /** Keyed by the number divided by the page size; in order, because numbers grow. */
  readonly #pages = new Map<number, BodyPage>();
  #highest = 0;
  #sealedUpTo = 0;
  #storedUpTo = 0;
  /** Higher numbers are held back; undefined: none are. */
  #heldAbove: number | undefined;

  constructor(private readonly parts: BodyCacheParts) {}

  /** Bytes in memory, summed over at most some thousand pages. */
  get bytes(): number {
    let bytes = 0;
    for (const page of this.#pages.values()) bytes += page.bytes;
    return bytes;
  }

  put(number: number, content: Uint8Array): void {
    if (this.#highest === 0) this.#storedUpTo = this.#sealedUpTo = number - 1;
    this.#highest = number;
    const page = this.#pageFor(number);
    this.parts.memory.take(page, page.put(number % PAGE_BODIES, content));
  }

  drop(number: number): void {
    const page = this.#pages.get(Math.floor(number / PAGE_BODIES));
    if (page === undefined) return;
    this.parts.memory.giveBack(page, page.drop(number % PAGE_BODIES));
    if (page.isDead) this.#pages.delete(Math.floor(number / PAGE_BODIES));
  }

  unload(number: number): void {
    const page = this.#pages.get(Math.floor(number / PAGE_BODIES));
    if (page !== undefined) this.parts.memory.giveBack(page, page.unload(number % PAGE_BODIES));
  }

  rest(number: number): void {
    const page = this.#pages.get(Math.floor(number / PAGE_BODIES));
    if (page !== undefined) this.parts.memory.giveBack(page, page.rest(number % PAGE_BODIES));
  }

  sealed(): void {
    this.#sealedUpTo = this.#heldAbove ?? this.#highest;
  }

  hold(): void {
    this.#heldAbove = this.#highest;
  }

  letGo(): void {
    this.#heldAbove = undefined;
  }

  stored(position: number): void {
    this.#store(this.#sealedUpTo, position);
  }

  replayedAt(position: number): void {
    this.#store(this.#highest, position);
  }

  /** The journal may lose everything up to `position`: bodies from there are read from a snapshot. */
  covered(position: number): void {
    for (const [at, page] of this.#pages) {
      if (page.hasLocations && !page.forgetUpTo(position)) return;
      if (page.isEmpty) this.#pages.delete(at);
    }
  }

  get(number: number): Uint8Array | undefined {
    if (number === 0) return EMPTY;
    return this.#pages.get(Math.floor(number / PAGE_BODIES))?.get(number % PAGE_BODIES);
  }

  async load(number: number): Promise<Uint8Array> {
    const kept = this.get(number);
    if (kept !== undefined) return kept;
    const { reader, shard, partition } = this.parts;
    return reader.read(shard, partition, number, this.#positionOf(number));
  }

  /** The actor ends and returns its memory. */
  close(): void {
    for (const page of this.#pages.values()) this.parts.memory.giveBack(page, page.clear());
    this.#pages.clear();
  }

  #store(upTo: number, position: number): void {
    if (upTo <= this.#storedUpTo) return;
    for (let from = this.#storedUpTo + 1; from <= upTo; ) {
      const at = Math.floor(from / PAGE_BODIES);
      const end = Math.min(upTo, (at + 1) * PAGE_BODIES - 1);
      const page = this.#pages.get(at);
      if (page !== undefined) this.parts.memory.giveBack(page, page.stored(end % PAGE_BODIES, position));
      from = end + 1;
    }
    this.#storedUpTo = upTo;
    this.parts.memory.relieve();
  }

  #positionOf(number: number): number | undefined {
    const page = this.#pages.get(Math.floor(number / PAGE_BODIES));
    return page?.has(number % PAGE_BODIES) === true ? page.positionOf(number % PAGE_BODIES) : undefined;
  }

  #pageFor(number: number): BodyPage {
    const at = Math.floor(number / PAGE_BODIES);
    const known = this.#pages.get(at);
    if (known !== undefined) return known;
    const page = new BodyPage();
    this.#pages.set(at, page);
    return page;
  }
}
