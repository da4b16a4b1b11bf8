/**
 * The graph of a key's vectors, as it is read from a file and written to one. It moves with the value to another key, and
 * then has another file.
 *
 *  GRF1 the graph is not built while its file is awaited, read or written; queries compare the vectors that it lacks
 *  GRF2 a graph is stored between two insertions
 */
import type { ByteString } from '../../../kernel/index.js';
import type { VectorCollection } from '../../vector-graph/index.js';
import type { StorableContents } from '../stored-contents.js';

export interface VectorNames {
  nameOf(ordinal: number): ByteString | undefined;
  ordinalOf(name: ByteString): number | undefined;
}

enum Reading {
  /** Another file is read first. */
  Waits,
  Wanted,
  Done,
}

export class GraphFile implements StorableContents {
  #key: ByteString | undefined;
  #reading = Reading.Done;
  #restoring: Generator<void, number> | undefined;
  #isWriting = false;
  #changesStored = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly vectors: VectorCollection,
    private readonly names: VectorNames,
    /** Graphs of other precisions, dimensions and metrics have other files. */
    private readonly shape: string,
  ) {}

  get text(): ByteString {
    return `graph ${this.shape} ${this.#key}`;
  }

  /** The key that has the vectors now. A graph without vectors waits for a file when it gets its first key. */
  nameBy(key: ByteString): void {
    if (key === this.#key) return;
    if (this.#key === undefined && this.vectors.linked === 0) this.#reading = Reading.Waits;
    this.#key = key;
    this.#changesStored = Number.NEGATIVE_INFINITY;
  }

  get mayBuild(): boolean {
    return this.#reading === Reading.Done && this.#restoring === undefined && !this.#isWriting;
  }

  get isWaiting(): boolean {
    return this.#reading === Reading.Waits;
  }

  /** The file may be read. */
  admit(): void {
    this.#reading = Reading.Wanted;
  }

  get wantsFile(): boolean {
    return this.#reading === Reading.Wanted;
  }

  begin(stored: Uint8Array | undefined): void {
    this.#reading = Reading.Done;
    if (stored === undefined) return;
    this.#restoring = this.vectors.restore(stored, (name) => this.names.ordinalOf(name));
  }

  get isRestoring(): boolean {
    return this.#restoring !== undefined;
  }

  /** A slice of taking over the file that was read, about a millisecond. Vectors may be changed between two slices. */
  restoreStep(): void {
    if (this.#restoring?.next().done !== true) return;
    this.#restoring = undefined;
    if (this.vectors.linked > 0) this.#changesStored = this.vectors.changes;
  }

  get items(): number {
    return this.vectors.linked;
  }

  get unstored(): number | undefined {
    return this.mayBuild ? this.vectors.changes - this.#changesStored : undefined;
  }

  *pieces(): Generator<Uint8Array | undefined, void> {
    this.#isWriting = true;
    try {
      while (!this.vectors.isAtRest) {
        this.vectors.build();
        yield undefined;
      }
      this.#changesStored = this.vectors.changes;
      yield* this.vectors.pieces((ordinal) => this.names.nameOf(ordinal));
    } finally {
      this.#isWriting = false;
    }
  }
}
