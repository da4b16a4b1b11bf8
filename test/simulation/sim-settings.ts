/**
 * Settings of the simulated processes. Times are the product's defaults, since virtual time costs no real time; sizes
 * are small, therefore a short run includes full turns, chunk sets, snapshots and truncation.
 */
import type { ActorLimits, HostTimes, SessionTimes } from '../../src/actors/runtime/index.js';

export const CLUSTER_ID = 'simulated';

export const SESSION: SessionTimes = { heartbeatMs: 500, renewMs: 1000, readLeaseMs: 2000 };
export const CLOCK_WATCH = { maxSkewMs: 2000, takeoverMs: 3000, isAlone: false, trustsMachine: false };
export const CLOCK = { jumpMs: 500, maxSkewMs: 2000 };

export const HOST: HostTimes = {
  lookEveryMs: 500,
  takeoverMs: 3000,
  readLeaseMs: 2000,
  marginMs: 250,
  highWaterEveryMs: 1000,
  settleMs: 5000,
  restartBackoffMs: 500,
  followedWithinMs: 6000,
};

export const CALLS = { deadlineMs: 5000, tryMs: 1000, pauseMs: 50, settleMs: 1000, storingMs: 10_000 };
export const GATEWAY = { holdMs: 5000, retryEveryMs: 50 };
export const ANSWERS = { maxAnswers: 1000, maxBytes: 1 << 20 };
export const APPEND_RETRIES = { firstRetryMs: 20, maxRetryMs: 1000 };
export const PLANE = { expiryKeysPerTick: 20, expiryEveryMs: 100, passivateAfterMs: 60_000 };

export const ACTOR: ActorLimits = {
  mailbox: { maxWorks: 1000, maxBytes: 1 << 20, quantum: 1000 },
  turn: { maxCommands: 8, maxEffectBytes: 4096, maxMs: 5 },
  chunkBytes: 900,
  holdMs: 5000,
  commandMemoryMs: 120_000,
};

export const SNAPSHOTS = { entries: 40, bytes: 1 << 20, idleMs: 4000, retainMs: 3000, retryMs: 1000 };
/** No entries are kept for audits, so that every second snapshot truncates the journal. */
export const COMPACTION = { stepBytes: 2000, segmentBytes: 500, retention: { maxAgeMs: 0, maxBytes: 0 } };

export const QUEUE_GATEWAY = { holdMs: 5000, retryEveryMs: 50, tellAfterMs: 1000, maxIntakeBytes: 1 << 16 };
export const QUEUE_PLANE = { startsPerTurn: 4, turnEffects: 40, turnEffectBytes: 4096, shareMs: 4, holdMs: 5000 };
/** A queue's state is larger than a key's; with pieces of this size a snapshot has several pieces of each kind. */
export const QUEUE_COMPACTION = { ...COMPACTION, stepBytes: 6000, segmentBytes: 6000 };
export const QUEUE_SNAPSHOTS = { ...SNAPSHOTS, entries: 120 };
export const QUEUE_CONCURRENCY = 24;
/** A limit so small that most bodies are read from the journal or a snapshot. */
export const QUEUE_BODY_MEMORY_BYTES = 600;
