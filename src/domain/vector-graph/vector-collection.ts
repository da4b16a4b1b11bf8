/**
 * Vectors by ordinal, and the candidates for the nearest to a query: all of them while they are few, otherwise those that a
 * graph finds and those that the graph does not have yet. The graph is built between other work, by `build`.
 *
 *  VC1 the candidates contain every vector that the graph does not have
 *  VC2 an ordinal is used again only when no link of the graph leads to it
 *  VC3 a restored graph has only vectors that are equal to those of the stored one; without the others it is mended
 */
import { NeighbourGraph } from './neighbour-graph.js';
import { PackedVectors, type Precision, type QueryVector } from './packed-vectors.js';
import { StoredGraph, storedGraphPieces } from './stored-graph.js';

export type Likeness = 'COSINE' | 'EUCLIDEAN' | 'DOT';

/** Fewer vectors are compared one by one, which takes about 4 ms for 384 numbers each. */
export const GRAPH_FROM = 10_000;
/** Removed nodes that the graph is mended for … */
const MEND_FROM = 1000;
/** … when they are this share of its nodes. */
const MEND_SHARE = 0.2;

export interface NearSearch {
  /** Results that are wanted. */
  readonly count: number;
  /** Nodes that the search keeps at least. */
  readonly effort?: number | undefined;
  /** Evaluated only for vectors that would be among the results. */
  readonly accepts?: ((ordinal: number) => boolean) | undefined;
  /** The cost of evaluating `accepts`, in compared numbers. */
  readonly acceptWork?: number;
  /** The number of vectors that `accepts` would accept, if it is known; then evaluating it costs little. */
  readonly accepted?: number | undefined;
}

/** Nodes that a search keeps by default. */
const EFFORT = 160;
/** Nodes that a search with a condition keeps for each wanted result: each of them stands for many that were rejected. */
const ACCEPTED_EFFORT = 3;
const LEAST_ACCEPTED = 50;
/** For more results than a search usually has. */
const EFFORT_PER_RESULT = 1.5;
/** Vectors whose condition is evaluated before a search … */
const SAMPLE = 400;
/** … which compares all that are accepted, if they are a smaller share: the graph would lead through too many others. */
const FEW_ACCEPTED = 0.02;
const FIRST_STATES = 16;
/** Nodes of a stored graph between two pauses: about 1 ms. */
const RESTORED_IN_SLICE = 256;

function effortFor(count: number, hasCondition: boolean): number {
  if (hasCondition) return Math.max(LEAST_ACCEPTED, ACCEPTED_EFFORT * count);
  return Math.max(EFFORT, Math.ceil(EFFORT_PER_RESULT * count));
}

enum State {
  Free,
  /** Not in the graph. */
  Waiting,
  Linked,
  /** Removed, and still in the graph. */
  Gone,
  /** Removed before the running `mend`. */
  Retired,
}

export class VectorCollection {
  readonly vectors: PackedVectors;
  readonly #graph: NeighbourGraph;
  #states = new Uint8Array(FIRST_STATES);
  #ordinals = 0;
  #free: number[] = [];
  #waiting = 0;
  #linked = 0;
  #gone = 0;
  /** No waiting vector has a lower ordinal. */
  #nextWaiting = 0;
  #inserted: number | undefined;
  #isMending = false;
  #isRestoring = false;
  #changes = 0;
  #building: Generator<void, never> | undefined;

  constructor(
    dimension: number,
    private readonly likeness: Likeness,
    precision: Precision = 'F32',
    private readonly graphFrom = GRAPH_FROM,
  ) {
    this.vectors = new PackedVectors(dimension, precision);
    this.#graph = new NeighbourGraph({
      dimension,
      queryOf: (ordinal) => this.vectors.queryOf(ordinal),
      distance: this.#distances(),
      isLive: (ordinal) => this.has(ordinal),
    });
  }

  get size(): number {
    return this.#waiting + this.#linked;
  }

  /** Vectors in the graph. */
  get linked(): number {
    return this.#linked;
  }

  /** No vector is being linked and no removed one taken out, so that the graph can be stored. */
  get isAtRest(): boolean {
    return this.#inserted === undefined && !this.#isMending && !this.#isRestoring;
  }

  /** Grows with every vector that the graph gets or loses. */
  get changes(): number {
    return this.#changes;
  }

  /** Ordinals that were ever used. */
  get ordinals(): number {
    return this.#ordinals;
  }

  get topLevel(): number {
    return this.#graph.topLevel;
  }

  has(ordinal: number): boolean {
    const state = this.#states[ordinal];
    return state === State.Waiting || state === State.Linked;
  }

  /** @returns its ordinal */
  add(vector: Float32Array): number {
    const ordinal = this.#newOrdinal();
    this.vectors.set(ordinal, vector);
    this.#states[ordinal] = State.Waiting;
    this.#waiting += 1;
    this.#nextWaiting = Math.min(this.#nextWaiting, ordinal);
    return ordinal;
  }

  #newOrdinal(): number {
    const ordinal = this.#free.pop() ?? this.#ordinals;
    this.#ordinals = Math.max(this.#ordinals, ordinal + 1);
    if (ordinal >= this.#states.length) {
      const larger = new Uint8Array(2 * this.#states.length);
      larger.set(this.#states);
      this.#states = larger;
    }
    return ordinal;
  }

  remove(ordinal: number): void {
    const state = this.#states[ordinal];
    if (state === State.Linked) {
      this.#linked -= 1;
      this.#gone += 1;
      this.#changes += 1;
      this.#states[ordinal] = State.Gone;
    } else if (state === State.Waiting) {
      this.#waiting -= 1;
      if (ordinal === this.#inserted) {
        this.#gone += 1;
        this.#states[ordinal] = State.Gone;
      } else {
        this.#states[ordinal] = State.Free;
        this.#free.push(ordinal);
      }
    }
  }

  /** The distance by which the graph is built; lower is nearer. */
  distance(query: QueryVector, ordinal: number): number {
    return this.#distances()(query, ordinal);
  }

  /** Existing links of a vector by level, from 0 upwards; undefined if the graph does not have it. */
  linksOf(ordinal: number): number[][] | undefined {
    return this.#states[ordinal] === State.Linked ? this.#graph.linksOf(ordinal) : undefined;
  }

  /** Ordinals among which the nearest are; undefined if that is every ordinal. */
  *near(
    query: QueryVector,
    { count, effort, accepts, acceptWork = 0, accepted }: NearSearch,
  ): Generator<void, number[] | undefined> {
    const { dimension } = this.vectors;
    // A graph that has few of the vectors saves little.
    if (this.#isRestoring || this.#linked < this.graphFrom / 2 || this.#waiting > this.#linked) return undefined;
    if (accepted !== undefined && accepted < this.graphFrom) return undefined;
    if (accepts !== undefined && accepted === undefined && this.#acceptedShare(accepts) < FEW_ACCEPTED)
      return undefined;
    // With a condition, more than half the work of evaluating it for every vector is not worth a try.
    const unknownWork = this.size * (accepts === undefined ? dimension : Math.min(dimension, acceptWork) / 2);
    const found = yield* this.#graph.search(query, {
      effort: effort === undefined ? effortFor(count, accepts !== undefined) : Math.max(count, effort),
      accepts: (ordinal) => this.has(ordinal) && (accepts === undefined || accepts(ordinal)),
      acceptWork: accepted === undefined ? acceptWork : 0,
      mostWork: accepted === undefined ? unknownWork : accepted * dimension,
    });
    if (found === undefined) return undefined;
    const ordinals = found.map(({ ordinal }) => ordinal);
    for (let ordinal = this.#nextWaiting; this.#waiting > 0 && ordinal < this.#ordinals; ordinal += 1) {
      if (this.#states[ordinal] === State.Waiting) ordinals.push(ordinal);
    }
    return ordinals;
  }

  /** The share of accepted vectors, from a sample. */
  #acceptedShare(accepts: (ordinal: number) => boolean): number {
    const step = Math.max(1, Math.floor(this.#ordinals / SAMPLE));
    let [seen, accepted] = [0, 0];
    // An uneven start avoids a period of the data.
    for (let ordinal = step >> 1, at = 0; ordinal < this.#ordinals; ordinal += step + (at & 1), at += 1) {
      if (!this.has(ordinal)) continue;
      seen += 1;
      if (accepts(ordinal)) accepted += 1;
    }
    return accepted / Math.max(1, seen);
  }

  /** The graph lacks vectors, or has many removed ones. */
  get needsBuild(): boolean {
    if (this.#inserted !== undefined || this.#isMending || this.#isMendDue) return true;
    return this.#waiting > 0 && (this.#linked > 0 || this.size >= this.graphFrom);
  }

  /** A slice of work on the graph; vectors may be added or removed between two slices. */
  build(): void {
    if (!this.needsBuild) return;
    this.#building ??= this.#built();
    this.#building.next();
  }

  get #isMendDue(): boolean {
    return this.#gone >= MEND_FROM && this.#gone >= MEND_SHARE * this.#linked;
  }

  *#built(): Generator<void, never> {
    for (;;) {
      if (this.#isMendDue) yield* this.#mend();
      while (this.#nextWaiting < this.#ordinals && this.#states[this.#nextWaiting] !== State.Waiting) {
        this.#nextWaiting += 1;
      }
      if (this.#nextWaiting < this.#ordinals) yield* this.#insert(this.#nextWaiting);
      yield;
    }
  }

  *#insert(ordinal: number): Generator<void> {
    this.#inserted = ordinal;
    yield* this.#graph.insert(ordinal);
    this.#inserted = undefined;
    if (this.#states[ordinal] !== State.Waiting) return;
    this.#states[ordinal] = State.Linked;
    this.#waiting -= 1;
    this.#linked += 1;
    this.#changes += 1;
  }

  *#mend(): Generator<void> {
    const retired: number[] = [];
    for (let ordinal = 0; ordinal < this.#ordinals; ordinal += 1) {
      if (this.#states[ordinal] !== State.Gone) continue;
      this.#states[ordinal] = State.Retired;
      retired.push(ordinal);
    }
    this.#gone -= retired.length;
    this.#isMending = true;
    yield* this.#mendWithout(retired);
    this.#isMending = false;
  }

  /** @param retired nodes of which no other may lead to one */
  *#mendWithout(retired: readonly number[]): Generator<void> {
    yield* this.#graph.mend(this.#nodes());
    for (const ordinal of retired) {
      this.#graph.forget(ordinal);
      this.#states[ordinal] = State.Free;
      this.#free.push(ordinal);
    }
  }

  /**
   * The graph in pieces, to be stored; undefined: a pause. Vectors may be added or removed at a pause, but `build` must
   * not be called. @param nameOf undefined for a removed vector
   */
  *pieces(nameOf: (ordinal: number) => string | undefined): Generator<Uint8Array | undefined, void> {
    const nodes: number[] = [];
    const places = new Uint32Array(this.#ordinals);
    for (let ordinal = 0; ordinal < this.#ordinals; ordinal += 1) {
      if (this.#states[ordinal] !== State.Linked && this.#states[ordinal] !== State.Gone) continue;
      places[ordinal] = nodes.length + 1;
      nodes.push(ordinal);
    }
    if (nodes.length === 0) return;
    const placesOf = (links: readonly number[]) =>
      links.flatMap((link) => (places[link] === 0 ? [] : [(places[link] as number) - 1]));
    yield* storedGraphPieces({
      count: nodes.length,
      nodeAt: (place) => {
        const ordinal = nodes[place] as number;
        return {
          name: (this.has(ordinal) ? nameOf(ordinal) : undefined) ?? '',
          checksum: this.has(ordinal) ? checksumOf(this.vectors.rawBytes(ordinal)) : 0,
          links: this.#graph.storedLinksOf(ordinal).map(placesOf),
        };
      },
    });
  }

  /**
   * Takes over a stored graph, for those vectors that are as they were; the others wait. Vectors may be added or removed
   * between two slices, but `build` must not be called. @returns the number of vectors that the graph has
   */
  *restore(bytes: Uint8Array, ordinalOf: (name: string) => number | undefined): Generator<void, number> {
    const stored = yield* StoredGraph.read(bytes);
    if (stored === undefined || this.#linked > 0 || this.#inserted !== undefined) return 0;
    this.#isRestoring = true;
    const ordinals = new Uint32Array(stored.count);
    const missing: number[] = [];
    for (const [place, { name, checksum }] of stored.nodes()) {
      const known = ordinalOf(name);
      const isSame =
        known !== undefined &&
        this.#states[known] === State.Waiting &&
        checksumOf(this.vectors.rawBytes(known)) === checksum;
      const ordinal = isSame ? known : this.#newOrdinal();
      this.#states[ordinal] = isSame ? State.Linked : State.Retired;
      if (isSame) {
        this.#waiting -= 1;
        this.#linked += 1;
      } else missing.push(ordinal);
      ordinals[place] = ordinal;
      if (place % RESTORED_IN_SLICE === 0) yield;
    }
    for (const [place, { links }] of stored.nodes()) {
      const others = links.map((level) => level.map((link) => ordinals[link] as number));
      this.#graph.restore(ordinals[place] as number, others);
      if (place % RESTORED_IN_SLICE === 0) yield;
    }
    if (missing.length > 0) yield* this.#mendWithout(missing);
    this.#isRestoring = false;
    return this.#linked;
  }

  #nodes(): Iterable<number> {
    const { length } = this.#states;
    const states = this.#states;
    return {
      *[Symbol.iterator]() {
        for (let ordinal = 0; ordinal < length; ordinal += 1) {
          if (states[ordinal] !== State.Free && states[ordinal] !== State.Waiting) yield ordinal;
        }
      },
    };
  }

  #distances(): (query: QueryVector, ordinal: number) => number {
    const { vectors } = this;
    switch (this.likeness) {
      case 'COSINE':
        return (query, ordinal) => 1 - (vectors.cosine(query, ordinal) ?? 0);
      case 'EUCLIDEAN':
        return (query, ordinal) => vectors.squaredDistance(query, ordinal);
      case 'DOT':
        return (query, ordinal) => -vectors.product(query, ordinal);
    }
  }
}

/** Of the numbers as they are kept: FNV-1a of 32 bits. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash >>> 0;
}
