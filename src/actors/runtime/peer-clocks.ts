/**
 * How far the times of other processes are from ours, by the heartbeats that go back and forth anyway. What a message
 * was under way, or waited for a busy process, is never taken for a difference.
 *
 *  PC1 a difference is known between two bounds: a heartbeat cannot arrive before it was sent, neither here nor there.
 *      Delays make the bounds wider and never wrong; the quickest of the last seconds counts
 *  PC2 what was measured before either clock was set counts for nothing
 */
import type { ClockReading } from '../../codec/leases/index.js';
import type { SessionId } from '../../kernel/index.js';

/** Two of these are remembered: long enough to hold a quick heartbeat of a busy process, too short to drift in. */
const WINDOW_MS = 5000;
/** Heartbeats stay small, however many processes there are. */
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
  /** Our time at the arrival minus theirs at the sending: the least of this window and of the one before. */
  leastMs: number;
  leastBeforeMs: number;
  /** The same as they measured it of our heartbeats. */
  toldMs: number | undefined;
  isSure: boolean;
  isBehindJournal: boolean;
}

export class PeerClocks {
  #generation = 0;
  #toldUpTo = 0;
  readonly #peers = new Map<SessionId, Peer>();

  constructor(private readonly ownProcess: () => SessionId) {}

  /** Our own clock gets another number each time that it was set. */
  get generation(): number {
    return this.#generation;
  }

  /** Our own clock was set. */
  beginAnew(): void {
    this.#generation += 1;
    this.#peers.clear();
  }

  /** @param nowMs our time, @param monotonicMs the same instant on the clock that is never set */
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
   * What others need to know the other bound: process, its clock's generation, the least that its heartbeats took.
   * Where they are many, some of them, the others the next time.
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
 * This says by how much we are off those who count, in milliseconds; 0: not so that it would be certain. Those who
 * count are the processes that are sure of their clocks, else those that are not behind the journal, else all.
 *
 *  PC3 who is not among those that count yields to them, and among them the minority does
 *  PC4 of two that contradict each other the one ahead yields: by the earlier clock nothing expires early
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
