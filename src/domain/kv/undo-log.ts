/**
 * A log to undo a run of commands in place. For each key it keeps the value before the first change; for each
 * collection, the inverse of each change.
 *
 *  UL1 an undo restores contents, expiries and byte counts; not how collections are encoded, nor the notes of changed
 *      keys, which may contain keys that did not change
 *  UL2 its cost depends on the size of the changes, never on the size of the changed values
 *  UL3 a log that was given up restores no value and holds no memory: the state must be rebuilt
 */
import type { ByteString } from '../../kernel/index.js';
import type { Collection, Value } from './value.js';

/**
 * Changes and keys of one run. Undoing this many takes about 0.1 s; rebuilding a state of millions of keys takes
 * several seconds.
 */
const MAX_UNDO_STEPS = 250_000;
/**
 * Bytes held for changes within collections. The old values of keys are not included, because they were counted before.
 */
const MAX_UNDO_BYTES = 64 * 1024 * 1024;

/** Up to this number, keys are searched in an array; more get a set. Most runs change fewer. */
const FEW_KEYS = 8;

export interface KeyImage {
  readonly key: ByteString;
  /** Undefined: the key did not exist. */
  readonly value: Value | undefined;
  readonly expireAtMs: number | undefined;
  readonly isRaw: boolean;
  /** The access mark (last use, or frequency), while it is logged. */
  readonly mark: number | undefined;
}

export class UndoLog {
  /** Everything was cleared and is kept as a whole, so keys need not be kept any more. */
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

  /** The previous values of the changed keys, each once. */
  get images(): readonly KeyImage[] {
    return this.#images;
  }

  /** Resets the log for the next run; it is reused because most runs are short. */
  begin(): void {
    this.isCleared = false;
    this.#isGivenUp = false;
    this.#steps = 0;
    this.#bytes = 0;
  }

  /** Makes a collection record the inverse of its changes from now on. */
  follow(collection: Collection): void {
    if (this.#isGivenUp) return;
    this.#collections.push(collection);
    collection.undo = this;
    collection.keepState(this);
  }

  /** Whether the key needs no further keeping. */
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

  /** @param opposite undoes the change, provided all later changes were undone @param bytes memory that it holds */
  push(opposite: () => void, bytes = 0, steps = 1): void {
    if (this.#isGivenUp) return;
    this.#opposites.push(opposite);
    this.#charge(steps, bytes);
  }

  /** UL3: a log that was given up restores no value and holds no memory. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.end();
  }

  /** Stops recording and releases all kept values. */
  end(): void {
    for (const collection of this.#collections) collection.undo = undefined;
    if (this.#collections.length > 0) this.#collections = [];
    if (this.#opposites.length > 0) this.#opposites = [];
    if (this.#images.length > 0) this.#images = [];
    this.#keys = undefined;
  }

  /** Undoes the changes within collections. To be called once, before the values of keys are restored. */
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
