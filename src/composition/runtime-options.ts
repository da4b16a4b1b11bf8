/** Settings in the shape that the actor runtime takes them. */
import type {
  ActorLimits,
  CallLimits,
  ClockWatchOptions,
  GuardedClockLimits,
  HostTimes,
  SessionTimes,
  SnapshotPolicy,
} from '../actors/runtime/index.js';
import type { Config } from '../config/index.js';

/** Between two tries of an append that was not answered, milliseconds: at first, and at most. */
export const APPEND_RETRY = { firstRetryMs: 20, maxRetryMs: 1000 };
/** Answers kept for callers in other processes that ask again. */
export const ANSWER_MEMORY = { maxAnswers: 10_000, maxBytes: 16 * 1024 * 1024 };
/** Between two looks for an owner, while a request is held. */
export const ROUTE_RETRY_MS = 50;
/** One try to ask another process's read models or indexes: a wait, a search and the way. */
export const REMOTE_TRY_MS = 5000;
/** Cost that one database may spend before the next one's turn: about one large pipeline. */
const FAIR_QUANTUM = 64 * 1024;

export function actorLimitsOf({ bounds, ownership }: Config): ActorLimits {
  return {
    mailbox: { maxWorks: bounds.mailboxCommands, maxBytes: bounds.mailboxBytes, quantum: FAIR_QUANTUM },
    turn: { maxCommands: bounds.turnCommands, maxEffectBytes: bounds.turnBytes, maxMs: bounds.turnMs },
    chunkBytes: bounds.entryChunkBytes,
    holdMs: ownership.requestHoldMs,
    commandMemoryMs: ownership.commandMemoryMs,
  };
}

export function sessionTimesOf({ ownership }: Config): SessionTimes {
  return {
    heartbeatMs: ownership.sessionHeartbeatMs,
    renewMs: ownership.leaseRenewalMs,
    readLeaseMs: ownership.readLeaseMs,
  };
}

export function guardedClockLimitsOf({ ownership }: Config): GuardedClockLimits {
  return { jumpMs: ownership.clockJumpMs, maxSkewMs: ownership.clockSkewMs };
}

export function clockWatchOptionsOf({ ownership }: Config, isAlone: boolean): ClockWatchOptions {
  const { clockSkewMs: maxSkewMs, takeoverSilenceMs: takeoverMs, clockTrust } = ownership;
  return { maxSkewMs, takeoverMs, isAlone, trustsMachine: clockTrust === 'machine' };
}

export function hostTimesOf({ ownership }: Config): HostTimes {
  return {
    lookEveryMs: Math.max(20, Math.floor(ownership.sessionHeartbeatMs / 2)),
    takeoverMs: ownership.takeoverSilenceMs,
    readLeaseMs: ownership.readLeaseMs,
    marginMs: ownership.readLeaseMarginMs,
    highWaterEveryMs: ownership.readLeaseMs,
    settleMs: ownership.sessionHeartbeatMs * 4,
    restartBackoffMs: Math.max(50, Math.floor(ownership.sessionHeartbeatMs / 2)),
  };
}

/** How long a command is asked after once it may not be begun any more; its client waits so much longer at most. */
const SETTLE_MS = 1000;

export function callLimitsOf({ ownership }: Config): CallLimits {
  const { requestHoldMs: deadlineMs } = ownership;
  return { deadlineMs, tryMs: Math.max(200, deadlineMs / 4), pauseMs: 50, settleMs: SETTLE_MS };
}

/** A caller that has not asked again for so many of its tries waits no more. */
const CALLER_SILENCE_TRIES = 4;

export function silenceMsOf(config: Config): number {
  return CALLER_SILENCE_TRIES * callLimitsOf(config).tryMs;
}

export function snapshotPolicyOf({ storage }: Config): SnapshotPolicy {
  return {
    entries: storage.snapshotEntries,
    bytes: storage.snapshotBytes,
    idleMs: 600_000,
    retainMs: 3_600_000,
    retryMs: 10_000,
  };
}
