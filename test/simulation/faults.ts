/**
 * The faults of a run and their frequency. Each seed enables some faults and disables the others (swarm testing),
 * because a run with every fault enabled never gets far into any of them.
 */
import type { SeededRandom } from './seeded-random.js';

/** Probabilities per request or message; 0 disables a fault. */
export interface Faults {
  /** A request to the server is lost: the caller waits for its timeout. */
  readonly requestLost: number;
  /** A request is delayed by seconds and arrives after its caller has given up. */
  readonly requestLate: number;
  /** The server executes a request and its answer is lost. */
  readonly replyLost: number;
  /** An answer is delayed by seconds. */
  readonly replySlow: number;
  /** A conditional append is refused because another one is in progress (error 10164). */
  readonly appendBusy: number;
  /** A conflict without the last position of the journal. */
  readonly conflictWithoutNumber: number;
  /** A read is answered by a replica that lags. */
  readonly staleRead: number;
  readonly lagMs: number;
  /** A bus message is lost or delayed. */
  readonly busLost: number;
  readonly busSlow: number;
  /** The mean time between two faults; 0 disables the fault. */
  readonly leaderGapEveryMs: number;
  readonly pauseEveryMs: number;
  readonly suspendEveryMs: number;
  readonly crashEveryMs: number;
  /** A process is stopped gracefully and hands over its shards. */
  readonly leaveEveryMs: number;
  readonly cutEveryMs: number;
  readonly partitionEveryMs: number;
  readonly clockJumpEveryMs: number;
  readonly largestJumpMs: number;
  /** The maximum error of each process's wall clock. */
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

/** Selects about half of the faults, each with a random strength. */
export function randomFaults(random: SeededRandom): Faults {
  // Strengths are uniform over orders of magnitude: many runs with few faults get far, and few runs have many faults.
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
