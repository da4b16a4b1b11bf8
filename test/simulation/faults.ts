/**
 * The faults of a run and their frequency. Each seed enables some faults and disables the others (swarm testing),
 * because a run with every fault enabled never gets far into any of them.
 */
import type { SeededRandom } from './seeded-random.js';

/** Chances are per request or message; 0 is off. */
export interface Faults {
  /** A request to the server vanishes: the caller waits for its timeout. */
  readonly requestLost: number;
  /** A request sits somewhere for seconds and arrives after its caller gave up. */
  readonly requestLate: number;
  /** The server acts, its answer vanishes. */
  readonly replyLost: number;
  /** An answer takes seconds. */
  readonly replySlow: number;
  /** A conditional append is turned away because another is in flight (error 10164). */
  readonly appendBusy: number;
  /** A conflict does not say where the journal is. */
  readonly conflictWithoutNumber: number;
  /** A read is answered by a replica that lags. */
  readonly staleRead: number;
  readonly lagMs: number;
  /** A bus message vanishes or dawdles. */
  readonly busLost: number;
  readonly busSlow: number;
  /** Mean time between occurrences; 0 is off. */
  readonly leaderGapEveryMs: number;
  readonly pauseEveryMs: number;
  readonly suspendEveryMs: number;
  readonly crashEveryMs: number;
  /** A process is told to stop and hands its shards over. */
  readonly leaveEveryMs: number;
  readonly cutEveryMs: number;
  readonly partitionEveryMs: number;
  readonly clockJumpEveryMs: number;
  readonly largestJumpMs: number;
  /** How far each process's clocks may be off. */
  readonly wallSkewMs: number;
  readonly rateSkew: number;
}

export const NO_FAULTS: Faults = {
  requestLost: 0,
  requestLate: 0,
  replyLost: 0,
  replySlow: 0,
  appendBusy: 0,
  conflictWithoutNumber: 0,
  staleRead: 0,
  lagMs: 0,
  busLost: 0,
  busSlow: 0,
  leaderGapEveryMs: 0,
  pauseEveryMs: 0,
  suspendEveryMs: 0,
  crashEveryMs: 0,
  leaveEveryMs: 0,
  cutEveryMs: 0,
  partitionEveryMs: 0,
  clockJumpEveryMs: 0,
  largestJumpMs: 0,
  wallSkewMs: 0,
  rateSkew: 0,
};

/** About half of the faults, each at a strength of its own. */
export function swarm(random: SeededRandom): Faults {
  // Evenly over the orders of magnitude: many runs with few faults get far, few with many get stuck.
  const sometimes = (low: number, high: number): number =>
    random.chance(0.5) ? Math.exp(random.between(Math.log(low), Math.log(high))) : 0;
  return {
    requestLost: sometimes(0.0005, 0.08),
    requestLate: sometimes(0.0005, 0.08),
    replyLost: sometimes(0.0005, 0.08),
    replySlow: sometimes(0.0005, 0.05),
    appendBusy: sometimes(0.01, 0.1),
    conflictWithoutNumber: sometimes(0.1, 1),
    staleRead: sometimes(0.05, 0.6),
    lagMs: random.between(10, 3000),
    busLost: sometimes(0.0005, 0.05),
    busSlow: sometimes(0.0005, 0.05),
    leaderGapEveryMs: sometimes(12_000, 60_000),
    pauseEveryMs: sometimes(6_000, 30_000),
    suspendEveryMs: sometimes(10_000, 60_000),
    crashEveryMs: sometimes(8_000, 40_000),
    leaveEveryMs: sometimes(8_000, 40_000),
    cutEveryMs: sometimes(8_000, 40_000),
    partitionEveryMs: sometimes(8_000, 40_000),
    clockJumpEveryMs: sometimes(5_000, 30_000),
    largestJumpMs: 3_600_000,
    wallSkewMs: random.chance(0.5) ? random.pick([50, 1000, 3_600_000]) : 0,
    rateSkew: random.chance(0.3) ? 0.002 : 0,
  };
}
