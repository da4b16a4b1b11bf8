/**
 * Bodies with neighbouring numbers: those in memory, and the positions of the entries that brought them. Numbers and
 * positions both grow, so the bodies of an entry are contiguous, and a location costs 8 bytes per entry.
 */
import { bufferOver } from '../../kernel/index.js';
import type { EvictableBodies } from './body-memory.js';

/** Few enough to be created and dropped in one step; a million bodies need two thousand pages. */
export const PAGE_BODIES = 512;
/**
 * Shorter bodies are one-byte strings: V8 needs 16 bytes in addition to their length, but over 100 for a Uint8Array.
 */
const MAX_STRING_BYTES = 4096;
/** States of a place; 0: no body was put there, or it was dropped. */
const LIVE = 1;
const RESTING = 2;
/** Copying more takes noticeable time. */
const UNCOPIED_BYTES = 64 * 1024;
/** The memory of a string and an array in addition to their bytes, with their place in the page. */
const STRING_OVERHEAD_BYTES = 25;
const ARRAY_OVERHEAD_BYTES = 200;

/** Bytes in memory, in the form that takes less of it. */
export type KeptBody = string | Uint8Array;

export class BodyPage implements EvictableBodies {
  /** Undefined once everything was evicted: only locations remain. */
  #kept: (KeptBody | undefined)[] | undefined;
  /** `LIVE`: put and not dropped; `RESTING`: as well, and evicted as soon as it is stored. */
  readonly #isLive = new Uint8Array(PAGE_BODIES);
  #liveCount = 0;
  #keptCount = 0;
  /** Lower places hold no contents any more. */
  #keptFrom = 0;
  /** One number for each entry, in order: its position times `PAGE_BODIES`, plus the last place of its bodies here. */
  readonly #runs: number[] = [];
  /** Places up to this one are stored. */
  #storedUpTo = -1;
  /** Bodies in lower places are in a snapshot. */
  #locatedFrom = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#keptCount === 0;
  }

  /** True when no body of this page is needed any more. */
  get isDead(): boolean {
    return this.#liveCount === 0;
  }

  /** True when this page is the only record of where its bodies are. */
  get hasLocations(): boolean {
    return this.#runs.length > 0;
  }

  /** @returns the bytes that it takes */
  put(place: number, content: Uint8Array): number {
    const kept = keptBody(content);
    this.#kept ??= new Array<KeptBody | undefined>(PAGE_BODIES);
    this.#kept[place] = kept;
    this.#isLive[place] = LIVE;
    this.#liveCount += 1;
    this.#keptCount += 1;
    this.#keptFrom = Math.min(this.#keptFrom, place);
    const bytes = bytesOf(kept);
    this.#bytes += bytes;
    return bytes;
  }

  get(place: number): Uint8Array | undefined {
    const kept = this.#kept?.[place];
    return kept === undefined ? undefined : contentOf(kept);
  }

  has(place: number): boolean {
    return this.#isLive[place] !== 0;
  }

  /** @returns the bytes that became free */
  drop(place: number): number {
    if (this.#isLive[place] === 0) return 0;
    this.#isLive[place] = 0;
    this.#liveCount -= 1;
    return this.#letGo(place);
  }

  /** Evicts the contents if they are stored. @returns the bytes that became free */
  unload(place: number): number {
    return place <= this.#storedUpTo ? this.#letGo(place) : 0;
  }

  /**
   * Evicts contents that will not be needed for long, now or when they are stored. @returns the bytes that became free
   */
  rest(place: number): number {
    if (place <= this.#storedUpTo) return this.#letGo(place);
    if (this.#kept?.[place] !== undefined) this.#isLive[place] = RESTING;
    return 0;
  }

  /**
   * Everything up to `place` without a position came with the entry at `position`. @returns the bytes that became free
   */
  stored(place: number, position: number): number {
    this.#runs.push(position * PAGE_BODIES + place);
    let bytes = 0;
    for (let at = this.#storedUpTo + 1; at <= place; at += 1)
      if (this.#isLive[at] === RESTING) bytes += this.#letGo(at);
    this.#storedUpTo = place;
    return bytes;
  }

  positionOf(place: number): number | undefined {
    if (place < this.#locatedFrom) return undefined;
    const runs = this.#runs;
    let low = 0;
    let high = runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((runs[middle] as number) % PAGE_BODIES < place) low = middle + 1;
      else high = middle;
    }
    const run = runs[low];
    return run === undefined ? undefined : Math.floor(run / PAGE_BODIES);
  }

  /** Forgets the locations of its bodies, if all are at or below `position`. */
  forgetUpTo(position: number): boolean {
    const last = this.#runs.at(-1);
    if (last === undefined || Math.floor(last / PAGE_BODIES) > position) return false;
    this.#runs.length = 0;
    this.#locatedFrom = this.#storedUpTo + 1;
    return true;
  }

  evict(): number {
    let bytes = 0;
    while (this.#keptFrom <= this.#storedUpTo) {
      bytes += this.#letGo(this.#keptFrom);
      this.#keptFrom += 1;
    }
    return bytes;
  }

  /** Drops all contents. @returns the bytes that became free */
  clear(): number {
    let bytes = 0;
    for (let place = 0; place < PAGE_BODIES; place += 1) bytes += this.#letGo(place);
    return bytes;
  }

  #letGo(place: number): number {
    const kept = this.#kept?.[place];
    if (this.#kept === undefined || kept === undefined) return 0;
    this.#kept[place] = undefined;
    this.#keptCount -= 1;
    const bytes = bytesOf(kept);
    this.#bytes -= bytes;
    if (this.isEmpty) this.#kept = undefined;
    return bytes;
  }
}

/**
 * A copy, so that a larger buffer is not kept alive. A long body that fills its buffer is not copied, because bodies
 * are never changed.
 */
export function keptBody(content: Uint8Array): KeptBody {
  if (content.length <= MAX_STRING_BYTES) return stringOf(content);
  const isAlone = content.length >= UNCOPIED_BYTES && content.length === content.buffer.byteLength;
  return isAlone ? content : new Uint8Array(content);
}

export function contentOf(kept: KeptBody): Uint8Array {
  return typeof kept === 'string' ? Buffer.from(kept, 'latin1') : kept;
}

function stringOf(content: Uint8Array): string {
  return bufferOver(content).toString('latin1');
}

function bytesOf(kept: KeptBody): number {
  return kept.length + (typeof kept === 'string' ? STRING_OVERHEAD_BYTES : ARRAY_OVERHEAD_BYTES);
}
