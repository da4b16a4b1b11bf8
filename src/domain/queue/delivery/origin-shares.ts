/**
 * How many of an account's places an origin may hold. A call that was started cannot be taken back, and may go on for
 * the time limit of its message: what is given to one origin must leave enough for those that come after it.
 *
 *  ORS1 an origin has its first call as soon as a place is free for it. It gets another while it holds less than a
 *       share that falls with the square of what is free: the first of many in a row gets most, and each later one so
 *       much less that hundreds are needed to take all
 *  ORS2 origins that have not answered hold seven eighths of the places together at most, and share three quarters: one
 *       eighth is for those that answer, one for first calls. Those whose last call got no answer hold half at most
 *  ORS3 no origin holds more than its own limit
 *  ORS4 what becomes free goes to the origin that waits with the fewest, those equal in turn
 *
 * Derived, like all that dispatches: after a replay no origin has been tried.
 */
import { IndexedHeap } from '../collections/indexed-heap.js';
import { OriginGate, type Standing } from './lanes.js';

const EIGHTH = 1 / 8;
/** Times what is free, squared, over all: one alone that answers holds seven eighths of the places. */
const ANSWERING_WEIGHT = 64;
/** One alone that has not answered holds two fifths: of 500 places as many as an origin may have by default. */
const UNANSWERED_WEIGHT = 4;
/** Whose standing is remembered while nothing is under way or waits; those that changed it longest ago are forgotten. */
const MAX_REMEMBERED = 1000;

export class OriginShares {
  /** Those with something under way, or parked. */
  readonly #gates = new Map<string, OriginGate>();
  /** Gates at which lanes are parked. */
  readonly #held: Readonly<Record<Standing, IndexedHeap<OriginGate>>> = {
    answers: new IndexedHeap(hasFewer),
    untried: new IndexedHeap(hasFewer),
    silent: new IndexedHeap(hasFewer),
  };
  readonly #heaps = Object.values(this.#held);
  readonly #taken: Record<Standing, number> = { answers: 0, untried: 0, silent: 0 };
  readonly #remembered = new Map<string, Standing>();
  #parallelism = 0;
  /** Calls that the process has room for. */
  #spare = 0;
  #woken = 0;
  #turns = 0;

  /** @param active attempts of the account that are open */
  constructor(
    private readonly active: () => number,
    private readonly maxPerOrigin: number,
  ) {}

  setRoom(parallelism: number, spare: number): void {
    this.#parallelism = parallelism;
    this.#spare = spare;
  }

  /** The one that is kept, or a new one, which is kept once something is under way or waits there. */
  gateOf(origin: string): OriginGate {
    return this.#gates.get(origin) ?? new OriginGate(origin, this.#remembered.get(origin) ?? 'untried');
  }

  /** May another message of the origin start? */
  hasRoom({ taken, standing }: OriginGate): boolean {
    if (taken >= this.maxPerOrigin) return false;
    const active = this.active();
    const spare = Math.min(this.#parallelism - active, this.#spare);
    const free = spare - this.#woken;
    if (free < 1) return false;
    const places = active + spare;
    if (standing === 'answers') return taken === 0 || taken < (ANSWERING_WEIGHT * free * free) / places;
    const eighth = Math.floor(places * EIGHTH);
    const { untried, silent } = this.#taken;
    const ofSilent = standing === 'silent' ? Math.ceil(places / 2) - silent : free;
    const unheld = Math.min(free, ofSilent, places - eighth - untried - silent);
    if (taken === 0) return unheld >= 1;
    const shared = Math.min(free, ofSilent, places - 2 * eighth - untried - silent);
    return shared >= 1 && taken < (UNANSWERED_WEIGHT * shared * shared) / places;
  }

  /** The gate that shall let a lane go now. */
  next(): OriginGate | undefined {
    let next: OriginGate | undefined;
    for (const { top } of this.#heaps) {
      if (top !== undefined && this.hasRoom(top) && (next === undefined || hasFewer(top, next))) next = top;
    }
    return next;
  }

  /** Would some origin have more if the process had more room? */
  get waitsForSpare(): boolean {
    if (this.#spare >= this.#parallelism - this.active()) return false;
    return this.#heaps.some(({ size }) => size > 0);
  }

  /** A lane was parked at it, or left it. */
  parkedChanged(gate: OriginGate): void {
    this.#lift(gate);
    this.#settle(gate);
  }

  /** A lane that was parked has its place from now on; `by` -1: it has had it, or lost it. */
  woke(gate: OriginGate, by: 1 | -1): void {
    this.#lift(gate);
    this.#woken += by;
    this.#turns += 1;
    gate.turn = this.#turns;
    gate.woken += by;
    this.#taken[gate.standing] += by;
    this.#settle(gate);
  }

  started(gate: OriginGate): void {
    this.#lift(gate);
    this.#spare -= 1;
    gate.inFlight += 1;
    this.#taken[gate.standing] += 1;
    this.#settle(gate);
  }

  /** @param standing what the call has shown of the origin; undefined: nothing */
  ended(gate: OriginGate, standing: Standing | undefined): void {
    this.#lift(gate);
    this.#spare += 1;
    gate.inFlight -= 1;
    this.#taken[gate.standing] -= 1;
    if (standing !== undefined && standing !== gate.standing) {
      this.#taken[gate.standing] -= gate.taken;
      this.#taken[standing] += gate.taken;
      gate.standing = standing;
      this.#remember(gate.origin, standing);
    }
    this.#settle(gate);
  }

  /** Out of its heap: what its place there follows from is about to change. */
  #lift(gate: OriginGate): void {
    if (gate.heapIndex !== -1) this.#held[gate.standing].delete(gate);
  }

  #settle(gate: OriginGate): void {
    const isHeld = gate.parked.first !== undefined;
    if (isHeld) this.#held[gate.standing].push(gate);
    const isUsed = isHeld || gate.taken > 0;
    if (isUsed === gate.isKept) return;
    gate.isKept = isUsed;
    if (isUsed) this.#gates.set(gate.origin, gate);
    else this.#gates.delete(gate.origin);
  }

  #remember(origin: string, standing: Standing): void {
    this.#remembered.delete(origin);
    this.#remembered.set(origin, standing);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value as string);
  }
}

function hasFewer(a: OriginGate, b: OriginGate): boolean {
  if (a.taken !== b.taken) return a.taken < b.taken;
  return a.turn < b.turn || (a.turn === b.turn && a.origin < b.origin);
}
