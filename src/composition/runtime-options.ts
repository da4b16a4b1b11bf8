/** Settings in the shape that the actor runtime takes them. */
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
  const { sessionHeartbeatMs: heartbeatMs, leaseRenewalMs: renewMs, readLeaseMs } = ownership;
  return { heartbeatMs, renewMs, readLeaseMs };
}

export function clockWatchOptionsOf({ ownership }: Config, isAlone: boolean): ClockWatchOptions {
  const { clockSkewMs: maxSkewMs, takeoverSilenceMs: takeoverMs, clockTrust } = ownership;
  return { maxSkewMs, takeoverMs, isAlone, trustsMachine: clockTrust === 'machine' };
}

export function hostTimesOf({ ownership }: Config): HostTimes {
  const { sessionHeartbeatMs, takeoverSilenceMs: takeoverMs, readLeaseMs, readLeaseMarginMs: marginMs } = ownership;
  return hostTimes(sessionHeartbeatMs, { takeoverMs, readLeaseMs, marginMs });
}

export function snapshotPolicyOf({ storage }: Config): SnapshotPolicy {
  return { ...DEFAULT_SNAPSHOT_POLICY, entries: storage.snapshotEntries, bytes: storage.snapshotBytes };
}
