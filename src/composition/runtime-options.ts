/** Settings in the form that the actor runtime expects. */
import {
  type ActorLimits,
  type ClockWatchOptions,
  DEFAULT_SNAPSHOT_POLICY,
  type HostTimes,
  hostTimes,
  type SessionTimes,
  type SnapshotPolicy,
} from '../actors/runtime/index.js';
import type { Config } from '../config/index.js';

/** Cost that one database may use before the next one's turn: about one large pipeline. */
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
  const { sessionHeartbeatMs: heartbeatMs, leaseRenewalMs: renewMs, readLeaseMs } = ownership;
  return { heartbeatMs, renewMs, readLeaseMs };
}

export function clockWatchOptionsOf({ ownership }: Config, isAlone: boolean): ClockWatchOptions {
  const { clockSkewMs: maxSkewMs, takeoverSilenceMs: takeoverMs, clockTrust } = ownership;
  return { maxSkewMs, takeoverMs, isAlone, trustsMachine: clockTrust === 'machine' };
}

/** Share of the shutdown time; the rest is for releasing the shards. */
const FOLLOWED_SHARE = 0.6;

export function hostTimesOf({ ownership, process: { shutdownMs } }: Config): HostTimes {
  const { sessionHeartbeatMs, takeoverSilenceMs: takeoverMs, readLeaseMs, readLeaseMarginMs: marginMs } = ownership;
  return hostTimes(sessionHeartbeatMs, {
    takeoverMs,
    readLeaseMs,
    marginMs,
    followedWithinMs: shutdownMs * FOLLOWED_SHARE,
  });
}

export function snapshotPolicyOf({ storage }: Config): SnapshotPolicy {
  return { ...DEFAULT_SNAPSHOT_POLICY, entries: storage.snapshotEntries, bytes: storage.snapshotBytes };
}
