/**
 * A hierarchical navigable small world graph (HNSW) of vectors: every node has links to some near nodes on level 0, and
 * one node in sixteen of each level is also on the next. A search goes from the top level downwards to ever nearer nodes.
 *
 *  NG1 nodes, links and levels depend only on the order of insertions, so equal histories give equal graphs
 *  NG2 a removed node leads searches onwards, but is no result and gets no links, until `mend` takes it out
 *  NG3 every method that compares many vectors runs in slices; nodes may be removed between them
 */
import { type Candidate, DistanceHeap } from './distance-heap.js';
import { GraphLinks } from './graph-links.js';
import type { QueryVector } from './packed-vectors.js';

/** The vectors of the nodes. */
export interface GraphSpace {
  readonly dimension: number;
  queryOf(ordinal: number): QueryVector;
  /** Lower is nearer. */
  distance(query: QueryVector, ordinal: number): number;
  /** Whether a node still exists. */
  isLive(ordinal: number): boolean;
}

export interface GraphSearch {
  /** Nodes that the search keeps; more of them give a higher recall and take longer. */
  readonly effort: number;
  readonly accepts: (ordinal: number) => boolean;
  /** The cost of evaluating `accepts`, in compared numbers. */
  readonly acceptWork: number;
  /** Compared numbers after which the search gives up. */
  readonly mostWork: number;
}

/** Links of a new node, and the most of any node above level 0; at level 0 twice as many. */
const LINKS = 16;
/** Nodes kept while the place of a new node is searched. */
const INSERT_EFFORT = 64;
/** Compared numbers between two pauses: about 0.5 ms. */
const SLICE_WORK = 500_000;
const MAX_LEVEL = 12;

export class NeighbourGraph {
  readonly #links = new GraphLinks(2 * LINKS);
  readonly #levels = new Map<number, number>();
  #entry: number | undefined;
  #topLevel = 0;
  /** Compared numbers since the last pause. */
  #work = 0;

  constructor(private readonly space: GraphSpace) {}

  /** Existing links of a node, from level 0 upwards. */
  linksOf(ordinal: number): number[][] {
    const levels = this.#levelOf(ordinal) + 1;
    return Array.from({ length: levels }, (_, level) => this.#live(this.#links.of(ordinal, level)));
  }

  /** The level of the highest node. */
  get topLevel(): number {
    return this.#topLevel;
  }

  *insert(ordinal: number): Generator<void> {
    const { space } = this;
    const level = levelOf(ordinal);
    if (level > 0) this.#levels.set(ordinal, level);
    const query = space.queryOf(ordinal);
    const accepts = (other: number) => space.isLive(other);
    let starts = yield* this.#descend(query, level);
    for (let at = Math.min(level, this.#topLevel); at >= 0 && starts.length > 0; at -= 1) {
      const search = { effort: INSERT_EFFORT, accepts, acceptWork: 0, mostWork: Number.POSITIVE_INFINITY };
      const near = (yield* this.#searchLevel(query, starts, at, search)) ?? [];
      const chosen = this.#choose(near, LINKS);
      this.#links.set(ordinal, at, chosen);
      for (const other of chosen) {
        this.#link(other, ordinal, at);
        if (this.#isPauseDue()) yield;
      }
      if (near.length > 0) starts = near;
    }
    if (this.#entry !== undefined && level <= this.#topLevel) return;
    this.#entry = ordinal;
    this.#topLevel = level;
  }

  /** The accepted nodes that the search met, nearest first; undefined if it gave up. */
  *search(query: QueryVector, search: GraphSearch): Generator<void, Candidate[] | undefined> {
    const starts = yield* this.#descend(query, 0);
    return yield* this.#searchLevel(query, starts, 0, search);
  }

  /** Replaces the links to removed nodes by links to the nodes after them. @param nodes all that were inserted */
  *mend(nodes: Iterable<number>): Generator<void> {
    const { space } = this;
    this.#findEntry(nodes);
    for (const ordinal of nodes) {
      if (!space.isLive(ordinal)) continue;
      for (let level = this.#levelOf(ordinal); level >= 0; level -= 1) this.#mendNode(ordinal, level);
      if (this.#isPauseDue()) yield;
    }
  }

  /** All links of a node, also to removed ones, from level 0 upwards. */
  storedLinksOf(ordinal: number): number[][] {
    const levels = this.#levelOf(ordinal) + 1;
    return Array.from({ length: levels }, (_, level) => Array.from(this.#links.of(ordinal, level)));
  }

  /** Sets the links of a node that was in a stored graph, by level. */
  restore(ordinal: number, links: readonly (readonly number[])[]): void {
    const top = links.length - 1;
    if (top > 0) this.#levels.set(ordinal, top);
    if (this.#entry === undefined || top > this.#topLevel) {
      this.#entry = ordinal;
      this.#topLevel = Math.max(0, top);
    }
    for (const [level, others] of links.entries()) {
      this.#links.set(ordinal, level, others.slice(0, level === 0 ? 2 * LINKS : LINKS));
    }
  }

  /** Of a removed node after `mend`. */
  forget(ordinal: number): void {
    this.#links.clear(ordinal);
    this.#levels.delete(ordinal);
  }

  #mendNode(ordinal: number, level: number): void {
    const { space } = this;
    const links = Array.from(this.#links.of(ordinal, level));
    if (links.every((other) => space.isLive(other))) return;
    const reachable = new Set<number>();
    for (const other of links) {
      if (space.isLive(other)) reachable.add(other);
      else for (const next of this.#live(this.#links.of(other, level))) reachable.add(next);
    }
    reachable.delete(ordinal);
    const chosen = this.#choose(this.#sorted(ordinal, reachable), level === 0 ? 2 * LINKS : LINKS);
    this.#links.set(ordinal, level, chosen);
    // A node that only removed nodes had links to must stay reachable.
    for (const other of chosen) this.#link(other, ordinal, level);
  }

  /** The entry is a live node of the highest level. */
  #findEntry(nodes: Iterable<number>): void {
    if (this.#entry !== undefined && this.space.isLive(this.#entry)) return;
    this.#entry = undefined;
    this.#topLevel = 0;
    for (const ordinal of nodes) {
      const level = this.#levelOf(ordinal);
      if (!this.space.isLive(ordinal) || (this.#entry !== undefined && level <= this.#topLevel)) continue;
      this.#entry = ordinal;
      this.#topLevel = level;
    }
  }

  /** The nearest node of the level above `level`. */
  *#descend(query: QueryVector, level: number): Generator<void, Candidate[]> {
    if (this.#entry === undefined) return [];
    let nearest: Candidate = { ordinal: this.#entry, distance: this.#distance(query, this.#entry) };
    for (let at = this.#topLevel; at > level; at -= 1) {
      for (let isNearer = true; isNearer; ) {
        isNearer = false;
        const links = this.#links.of(nearest.ordinal, at);
        for (let i = 0; i < links.length; i += 1) {
          const ordinal = links[i] as number;
          const distance = this.#distance(query, ordinal);
          if (distance >= nearest.distance) continue;
          nearest = { ordinal, distance };
          isNearer = true;
        }
        if (this.#isPauseDue()) yield;
      }
    }
    return [nearest];
  }

  *#searchLevel(
    query: QueryVector,
    starts: readonly Candidate[],
    level: number,
    { effort, accepts, acceptWork, mostWork }: GraphSearch,
  ): Generator<void, Candidate[] | undefined> {
    const visited = new VisitedNodes();
    const open = new DistanceHeap(1);
    const best = new DistanceHeap(-1);
    const offer = (ordinal: number, distance: number) => {
      open.push(ordinal, distance);
      this.#work += acceptWork;
      if (!accepts(ordinal)) return;
      best.push(ordinal, distance);
      if (best.size > effort) best.pop();
    };
    for (const { ordinal, distance } of starts) if (visited.add(ordinal)) offer(ordinal, distance);
    let left = mostWork;
    while (open.size > 0) {
      if (best.size >= effort && open.rootDistance > best.rootDistance) break;
      const links = this.#links.of(open.pop(), level);
      for (let i = 0; i < links.length; i += 1) {
        const ordinal = links[i] as number;
        if (!visited.add(ordinal)) continue;
        const distance = this.#distance(query, ordinal);
        left -= this.space.dimension;
        if (best.size < effort || distance < best.rootDistance) offer(ordinal, distance);
      }
      if (left < 0) return undefined;
      if (this.#isPauseDue()) yield;
    }
    return best.drain().reverse();
  }

  /** Adds a link; a node with too many keeps those that the choice of a new node would keep. */
  #link(from: number, to: number, level: number): void {
    const links = Array.from(this.#links.of(from, level));
    if (links.includes(to)) return;
    links.push(to);
    const most = level === 0 ? 2 * LINKS : LINKS;
    const kept = links.length <= most ? links : this.#choose(this.#sorted(from, links), most);
    this.#links.set(from, level, kept);
  }

  /** Live nodes, nearest to `from` first. */
  #sorted(from: number, nodes: Iterable<number>): Candidate[] {
    const query = this.space.queryOf(from);
    return this.#live(nodes)
      .map((ordinal) => ({ ordinal, distance: this.#distance(query, ordinal) }))
      .sort((a, b) => a.distance - b.distance);
  }

  /** Of several near nodes in one direction the nearest, so that the links lead in all directions. */
  #choose(sorted: readonly Candidate[], most: number): number[] {
    const chosen: number[] = [];
    for (const { ordinal, distance } of sorted) {
      if (chosen.length === most) break;
      const query = this.space.queryOf(ordinal);
      if (chosen.every((other) => this.#distance(query, other) >= distance)) chosen.push(ordinal);
    }
    return chosen;
  }

  #live(nodes: Iterable<number> | ArrayLike<number>): number[] {
    return Array.from(nodes).filter((ordinal) => this.space.isLive(ordinal));
  }

  #levelOf(ordinal: number): number {
    return this.#levels.get(ordinal) ?? 0;
  }

  #distance(query: QueryVector, ordinal: number): number {
    this.#work += this.space.dimension;
    return this.space.distance(query, ordinal);
  }

  #isPauseDue(): boolean {
    if (this.#work < SLICE_WORK) return false;
    this.#work = 0;
    return true;
  }
}

/** The level of a node, spread as by chance: one node in `LINKS` of each level is on the next. */
function levelOf(ordinal: number): number {
  let hash = Math.imul(ordinal + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  const share = (((hash ^ (hash >>> 16)) >>> 0) + 1) / 2 ** 32;
  return Math.min(MAX_LEVEL, Math.floor(-Math.log(share) / Math.log(LINKS)));
}

const PAGE_BITS = 2 ** 15;

/** A bit for each node, in pages that exist where a node was visited. */
class VisitedNodes {
  readonly #pages: (Uint32Array | undefined)[] = [];

  /** @returns whether the node was not visited before */
  add(ordinal: number): boolean {
    const number = Math.floor(ordinal / PAGE_BITS);
    let page = this.#pages[number];
    if (page === undefined) {
      page = new Uint32Array(PAGE_BITS / 32);
      this.#pages[number] = page;
    }
    const at = (ordinal % PAGE_BITS) >>> 5;
    const bit = 1 << (ordinal & 31);
    const word = page[at] as number;
    if ((word & bit) !== 0) return false;
    page[at] = word | bit;
    return true;
  }
}
