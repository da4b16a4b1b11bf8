/** Settings and metrics in the shape the actor runtime takes them. */
import type {
  ActorLimits,
  CallLimits,
  HostTimes,
  RuntimeMetrics,
  SessionTimes,
  SnapshotPolicy,
} from '../actors/runtime/index.js';
import type { Config } from '../config/index.js';
import type { Metrics } from '../ports/index.js';

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
    clockJumpMs: ownership.clockJumpMs,
  };
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

export function callLimitsOf({ ownership }: Config): CallLimits {
  return { deadlineMs: ownership.requestHoldMs, tryMs: Math.max(200, ownership.requestHoldMs / 4), pauseMs: 50 };
}

export function snapshotPolicyOf({ storage }: Config): SnapshotPolicy {
  return { entries: storage.snapshotEntries, bytes: storage.snapshotBytes, idleMs: 600_000, retryMs: 10_000 };
}

export function runtimeMetricsOf(metrics: Metrics): RuntimeMetrics {
  const entries = metrics.counter('millrace_entries_appended_total');
  const commands = metrics.counter('millrace_entry_commands_total');
  const bytes = metrics.counter('millrace_entry_bytes_total');
  const ack = metrics.histogram('millrace_append_ack_seconds');
  const unknown = metrics.counter('millrace_append_unknown_total');
  const full = metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL');
  const takeovers = metrics.counter('millrace_takeovers_total');
  return {
    entryStored: (_shard, ackMs, entryCommands, entryBytes) => {
      entries.add();
      commands.add(entryCommands);
      bytes.add(entryBytes);
      ack.observe(ackMs / 1000);
    },
    appendUnknown: () => unknown.add(),
    mailboxFull: () => full.add(),
    takeover: () => takeovers.add(),
  };
}
