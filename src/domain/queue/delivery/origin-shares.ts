/**
 * Shares of an account's places among origins. A started call cannot be taken back and may last for its message's
 * time limit, so the share of one origin must leave enough for later ones.
 *
 *  ORS1 an origin gets its first call as soon as a place is free for it. It gets another one while it holds less than
 *       a share that falls with the square of the free places: the first of many origins gets most, each later one so
 *       much less that only hundreds of them can take all
 *  ORS2 origins that have not answered hold at most seven eighths of the places together and share three quarters:
 *       one eighth is kept for answering origins, one for first calls. Origins with an unanswered last call hold at
 *       most half
 *  ORS3 no origin holds more than its own limit
 *  ORS4 a freed place goes to the waiting origin with the fewest places; equal ones take turns
 *
 * Shares are derived and not stored: after a replay no origin counts as tried.
 */
import { IndexedHeap } from '../collections/indexed-heap.js';
import { OriginGate, type Standing } from './lanes.js';

const EIGHTH = 1 / 8;
/** Factor of (free places)² / all places: an answering origin alone holds seven eighths of the places. */
const ANSWERING_WEIGHT = 64;
/** An unanswering origin alone holds two fifths: of 500 places the default limit of one origin. */
const UNANSWERED_WEIGHT = 4;
/** Origins with a remembered standing that have no open or parked work; the oldest change is forgotten first. */
const MAX_REMEMBERED = 1000;

export class OriginShares {
  /** Origins with open calls or parked lanes. */
  readonly #gates = new Map<string, OriginGate>();
  /** Gates with parked lanes. */
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

  /** @param active number of open attempts of the account */
  constructor(
    private readonly active: () => number,
    private readonly maxPerOrigin: number,
  ) {}

  setRoom(parallelism: number, spare: number): void {
    this.#parallelism = parallelism;
    this.#spare = spare;
  }

  /** The stored gate, or a new one; a new one is stored once it has open calls or parked lanes. */
  gateOf(origin: string): OriginGate {
    return this.#gates.get(origin) ?? new OriginGate(origin, this.#remembered.get(origin) ?? 'untried');
  }

  /** Whether another message of the origin may start. */
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

  /** The gate that wakes its next lane. */
  next(): OriginGate | undefined {
    let next: OriginGate | undefined;
    for (const { top } of this.#heaps) {
      if (top !== undefined && this.hasRoom(top) && (next === undefined || hasFewer(top, next))) next = top;
    }
    return next;
  }

  /** Whether an origin would get more if the process had more room. */
  get waitsForSpare(): boolean {
    if (this.#spare >= this.#parallelism - this.active()) return false;
    return this.#heaps.some(({ size }) => size > 0);
  }

  /** Called after a lane parked at the gate or left it. */
  parkedChanged(gate: OriginGate): void {
    this.#lift(gate);
    this.#settle(gate);
  }

  /** Reserves a place for a woken lane; `by` -1 ends the reservation. */
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

  /** @param standing the new standing after the call; undefined: unchanged */
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

  /** Removes the gate from its heap before its sort key changes. */
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
