/**
 * What a run of commands overwrites, kept while it runs, so that all of it can be taken back at once and in place:
 * of a key what it held before it was first changed, of a collection the opposite of each change.
 *
 *  UL1 the state is then as it was: contents, expiries and byte counts; not how collections are kept, nor what was
 *      noted of changes, which may only be noted too often
 *  UL2 it costs what was changed, never the size of what it was changed in
 *  UL3 one that was given up takes nothing back and holds nothing: the state has to be built again
 */
import type { ByteString } from '../../kernel/index.js';
import type { Collection, Value } from './keyspace.js';

/** Changes and keys of one run: taken back in about a tenth of a second, a state of millions is built again in several. */
const MAX_UNDO_STEPS = 250_000;
/** Held for changes within collections. What keys held before was there already, and counted. */
const MAX_UNDO_BYTES = 64 * 1024 * 1024;

/** Up to so many keys are gone through one by one; a set is made for more. Most runs change fewer. */
const FEW_KEYS = 8;

export interface KeyImage {
  readonly key: ByteString;
  /** Undefined: there was no such key. */
  readonly value: Value | undefined;
  readonly expireAtMs: number | undefined;
  readonly isRaw: boolean;
  /** When it was last used, or how often, while that is logged. */
  readonly mark: number | undefined;
}

export class UndoLog {
  /** Everything was cleared, and is kept as a whole: of keys nothing more is needed. */
  isCleared = false;
  #images: KeyImage[] = [];
  #keys: Set<ByteString> | undefined;
  #opposites: (() => void)[] = [];
  #collections: Collection[] = [];
  #steps = 0;
  #bytes = 0;
  #isGivenUp = false;

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** What keys held that were changed since, each once. */
  get images(): readonly KeyImage[] {
    return this.#images;
  }

  /** Begins anew: one log serves run after run, for most runs are short. */
  begin(): void {
    this.isCleared = false;
    this.#isGivenUp = false;
    this.#steps = 0;
    this.#bytes = 0;
  }

  /** A collection is about to be changed: from now on it tells what it overwrites. */
  follow(collection: Collection): void {
    if (this.#isGivenUp) return;
    this.#collections.push(collection);
    collection.undo = this;
    collection.keepState(this);
  }

  /** Is nothing more to be kept of the key? */
  hasKey(key: ByteString): boolean {
    if (this.#isGivenUp || this.isCleared) return true;
    if (this.#keys !== undefined) return this.#keys.has(key);
    for (const image of this.#images) if (image.key === key) return true;
    return false;
  }

  keepKey(image: KeyImage): void {
    this.#images.push(image);
    if (this.#keys !== undefined) this.#keys.add(image.key);
    else if (this.#images.length > FEW_KEYS) this.#keys = new Set(this.#images.map(({ key }) => key));
    this.#charge(1, 0);
  }

  /** @param opposite takes the change back, if all that came after it was taken back  @param bytes it holds */
  push(opposite: () => void, bytes = 0, steps = 1): void {
    if (this.#isGivenUp) return;
    this.#opposites.push(opposite);
    this.#charge(steps, bytes);
  }

  /** UL3. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.end();
  }

  /** Stops keeping, and lets go of all that was kept. */
  end(): void {
    for (const collection of this.#collections) collection.undo = undefined;
    if (this.#collections.length > 0) this.#collections = [];
    if (this.#opposites.length > 0) this.#opposites = [];
    if (this.#images.length > 0) this.#images = [];
    this.#keys = undefined;
  }

  /** Takes back what was changed within collections. To be called once, before keys get back what they held. */
  revertCollections(): void {
    for (const collection of this.#collections) collection.undo = undefined;
    for (let at = this.#opposites.length - 1; at >= 0; at -= 1) this.#opposites[at]?.();
  }

  #charge(steps: number, bytes: number): void {
    this.#steps += steps;
    this.#bytes += bytes;
    if (this.#steps > MAX_UNDO_STEPS || this.#bytes > MAX_UNDO_BYTES) this.giveUp();
  }
}
