/**
 * The differences between our time and that of other processes, computed from heartbeats in both directions. Transport
 * and waiting times are never taken for a difference.
 *
 *  PC1 a difference is known between two bounds, because a heartbeat cannot arrive before it was sent in either
 *      direction; delays widen the bounds but do not falsify them, and the fastest heartbeat of the last seconds
 *      counts
 *  PC2 measurements from before either clock was set are dropped
 */
import type { ClockReading } from '../../codec/leases/index.js';
import type { SessionId } from '../../kernel/index.js';

/** Two windows are kept: long enough for a fast heartbeat of a busy process, too short for drift to matter. */
const WINDOW_MS = 5000;
/** Bounds the size of heartbeats for any number of processes. */
const MAX_TOLD = 64;

/** Our time minus theirs is between the two, milliseconds. */
interface Skew {
  readonly lowMs: number;
  readonly highMs: number;
}

export interface PeerView extends Skew {
  readonly isSure: boolean;
  readonly isBehindJournal: boolean;
}

interface Peer {
  generation: number;
  windowSinceMs: number;
  /** Our time at the arrival minus theirs at the sending: the minimum of this window and of the one before. */
  leastMs: number;
  leastBeforeMs: number;
  /** The same minimum as they measured it for our heartbeats. */
  toldMs: number | undefined;
  isSure: boolean;
  isBehindJournal: boolean;
}

export class PeerClocks {
  #generation = 0;
  #toldUpTo = 0;
  readonly #peers = new Map<SessionId, Peer>();

  constructor(private readonly ownProcess: () => SessionId) {}

  /** Increases each time our clock is set. */
  get generation(): number {
    return this.#generation;
  }

  /** Our clock was set. */
  beginAnew(): void {
    this.#generation += 1;
    this.#peers.clear();
  }

  /** @param nowMs  our time. @param monotonicMs  the same instant on the monotonic clock */
  hear(process: SessionId, reading: ClockReading, nowMs: number, monotonicMs: number): void {
    let peer = this.#peers.get(process);
    const tookMs = nowMs - reading.nowMs;
    if (peer === undefined || peer.generation !== reading.generation) {
      peer = newPeer(reading.generation, monotonicMs);
      this.#peers.set(process, peer);
    }
    if (monotonicMs - peer.windowSinceMs >= WINDOW_MS) {
      peer.leastBeforeMs = monotonicMs - peer.windowSinceMs < 2 * WINDOW_MS ? peer.leastMs : Number.POSITIVE_INFINITY;
      peer.leastMs = Number.POSITIVE_INFINITY;
      peer.windowSinceMs = monotonicMs;
    }
    peer.leastMs = Math.min(peer.leastMs, tookMs);
    peer.isSure = reading.isSure;
    peer.isBehindJournal = reading.isBehindJournal;
    const told = reading.heard.find(([of, generation]) => of === this.ownProcess() && generation === this.#generation);
    if (told !== undefined) peer.toldMs = told[2];
  }

  /**
   * The values from which others compute the other bound: process, its clock's generation, the minimum of its
   * heartbeats. With many processes, some now and the others next time.
   */
  heard(): (readonly [SessionId, number, number])[] {
    const peers = [...this.#peers];
    const from = peers.length <= MAX_TOLD ? 0 : this.#toldUpTo % peers.length;
    this.#toldUpTo = from + MAX_TOLD;
    return [...peers.slice(from), ...peers.slice(0, from)]
      .slice(0, MAX_TOLD)
      .map(([process, peer]) => [process, peer.generation, leastOf(peer)]);
  }

  /** Undefined until a heartbeat of each has reached the other. */
  viewOf(process: SessionId): PeerView | undefined {
    const peer = this.#peers.get(process);
    if (peer?.toldMs === undefined) return undefined;
    const { isSure, isBehindJournal } = peer;
    return { lowMs: -peer.toldMs, highMs: leastOf(peer), isSure, isBehindJournal };
  }

  forget(process: SessionId): void {
    this.#peers.delete(process);
  }

  processes(): SessionId[] {
    return [...this.#peers.keys()];
  }
}

function newPeer(generation: number, windowSinceMs: number): Peer {
  return {
    generation,
    windowSinceMs,
    leastMs: Number.POSITIVE_INFINITY,
    leastBeforeMs: Number.POSITIVE_INFINITY,
    toldMs: undefined,
    isSure: false,
    isBehindJournal: false,
  };
}

function leastOf({ leastMs, leastBeforeMs }: Peer): number {
  return Math.min(leastMs, leastBeforeMs);
}

/**
 * The certain error of our clock against the processes that count, in milliseconds; 0: no certain one. Those that count
 * are the processes sure of their clocks, otherwise those not behind the journal, otherwise all.
 *
 *  PC3 a process that does not count yields to those that do, and among them the minority yields
 *  PC4 of two that contradict each other, the one ahead yields, because the earlier clock does not make keys expire
 *      early
 */
export function offBy(
  own: { readonly isSure: boolean; readonly isBehindJournal: boolean },
  peers: readonly PeerView[],
  maxSkewMs: number,
): number {
  const counts = [...peers, own].some(({ isSure }) => isSure)
    ? ({ isSure }: typeof own) => isSure
    : [...peers, own].some(({ isBehindJournal }) => !isBehindJournal)
      ? ({ isBehindJournal }: typeof own) => !isBehindJournal
      : () => true;
  const judges = peers.filter(counts);
  const others = judges.filter(({ lowMs, highMs }) => lowMs > maxSkewMs || highMs < -maxSkewMs);
  const skews = others.map(({ lowMs, highMs }) => (lowMs + highMs) / 2).sort((a, b) => a - b);
  const skewMs = skews[Math.floor(skews.length / 2)] ?? 0;
  const mates = judges.length - others.length + (counts(own) ? 1 : 0);
  if (others.length > mates || (others.length === mates && (!counts(own) || skewMs > 0))) return skewMs;
  return 0;
}
