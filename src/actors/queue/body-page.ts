/**
 * Bodies of neighbouring numbers: what of them is in memory, and where the entries that brought them end. Numbers
 * and positions both grow, so an entry's bodies are one run, and locations cost 8 bytes for each entry.
 */
import type { EvictableBodies } from './body-memory.js';

/** Few enough to be made and let go of at once, enough that a million bodies need two thousand. */
export const PAGE_BODIES = 512;
/** Shorter ones are one-byte strings: V8 keeps those at 16 bytes beside their length, a Uint8Array at over 100. */
const MAX_STRING_BYTES = 4096;
/** Marks of a place; 0: nothing was put there, or it was dropped. */
const LIVE = 1;
const RESTING = 2;
/** Copying more takes noticeable time. */
const UNCOPIED_BYTES = 64 * 1024;
/** What a string and an array cost beside their bytes, with their place in the page. */
const STRING_OVERHEAD_BYTES = 25;
const ARRAY_OVERHEAD_BYTES = 200;

/** Bytes in memory, in the form that takes less of it. */
export type KeptBody = string | Uint8Array;

export class BodyPage implements EvictableBodies {
  /** Undefined once everything was evicted: then only locations cost memory. */
  #kept: (KeptBody | undefined)[] | undefined;
  /** `LIVE`: put and not dropped; `RESTING`: and let go of as soon as it is stored. */
  readonly #isLive = new Uint8Array(PAGE_BODIES);
  #liveCount = 0;
  #keptCount = 0;
  /** Places below hold nothing any more. */
  #keptFrom = 0;
  /** An entry each, in order: its position times `PAGE_BODIES`, plus the last place of its bodies here. */
  readonly #runs: number[] = [];
  /** Places up to here are stored. */
  #storedUpTo = -1;
  /** Places below lie in a snapshot. */
  #locatedFrom = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#keptCount === 0;
  }

  /** Nothing that was put here is needed any more. */
  get isDead(): boolean {
    return this.#liveCount === 0;
  }

  /** Where its bodies are is known here and nowhere else. */
  get hasLocations(): boolean {
    return this.#runs.length > 0;
  }

  /** Returns the bytes that it takes. */
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

  /** Returns the bytes that became free. */
  drop(place: number): number {
    if (this.#isLive[place] === 0) return 0;
    this.#isLive[place] = 0;
    this.#liveCount -= 1;
    return this.#letGo(place);
  }

  /** Unless it is not stored yet. Returns the bytes that became free. */
  unload(place: number): number {
    return place <= this.#storedUpTo ? this.#letGo(place) : 0;
  }

  /** Nobody asks for it for long: it goes now, or when it is stored. Returns the bytes that became free. */
  rest(place: number): number {
    if (place <= this.#storedUpTo) return this.#letGo(place);
    if (this.#kept?.[place] !== undefined) this.#isLive[place] = RESTING;
    return 0;
  }

  /** Everything up to `place` that has no position yet came with the entry there. Returns the bytes that became free. */
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

  /** Forgets where its bodies are, if all of them lie up to `position`. */
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

  /** Everything it holds; returns the bytes that became free. */
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

/** A copy, unless the bytes are long and nothing but them would be kept alive: nobody writes into a body. */
export function keptBody(content: Uint8Array): KeptBody {
  if (content.length <= MAX_STRING_BYTES) return stringOf(content);
  const isAlone = content.length >= UNCOPIED_BYTES && content.length === content.buffer.byteLength;
  return isAlone ? content : new Uint8Array(content);
}

export function contentOf(kept: KeptBody): Uint8Array {
  return typeof kept === 'string' ? Buffer.from(kept, 'latin1') : kept;
}

function stringOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
}

function bytesOf(kept: KeptBody): number {
  return kept.length + (typeof kept === 'string' ? STRING_OVERHEAD_BYTES : ARRAY_OVERHEAD_BYTES);
}
