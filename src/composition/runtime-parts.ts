/** Settings and metrics in the shape the actor runtime takes them. */
import type {
  ActorLimits,
  CallLimits,
  ClockWatch,
  ClockWatchOptions,
  GuardedClockLimits,
  HostTimes,
  RuntimeMetrics,
  SessionTimes,
  ShardHost,
  SilenceWatch,
  SnapshotPolicy,
  Work,
} from '../actors/runtime/index.js';
import type { Config } from '../config/index.js';
import type { ShardName } from '../kernel/index.js';
import type { Behind, Clock, Metrics, Timers } from '../ports/index.js';

/** Between two tries of an append that was not answered, milliseconds: at first, and at most. */
export const APPEND_RETRY = { firstRetryMs: 20, maxRetryMs: 1000 };
/** Answers kept for callers in other processes that ask again. */
export const ANSWER_MEMORY = { maxAnswers: 10_000, maxBytes: 16 * 1024 * 1024 };
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

/** What an alarm on clocks is written for. */
export function watchClocks(metrics: Metrics, clocks: ClockWatch): void {
  metrics.gauge('millrace_clock_ahead_seconds', () => clocks.machineAheadMs / 1000);
  metrics.gauge('millrace_clock_journal_ahead_seconds', () => clocks.journalAheadMs / 1000);
  metrics.gauge('millrace_clock_in_doubt', () => (clocks.isInDoubt ? 1 : 0));
  metrics.gauge('millrace_clock_owns_nothing', () => (clocks.isExcluded ? 1 : 0));
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

export function silenceWatchOf(config: Config, clock: Clock, timers: Timers): SilenceWatch {
  return { clock, timers, silenceMs: CALLER_SILENCE_TRIES * callLimitsOf(config).tryMs };
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

export function runtimeMetricsOf(metrics: Metrics): RuntimeMetrics {
  const entries = metrics.counter('millrace_entries_appended_total');
  const effects = metrics.counter('millrace_entry_effects_total');
  const bytes = metrics.counter('millrace_entry_bytes_total');
  const ack = metrics.histogram('millrace_append_ack_seconds');
  const unknown = metrics.counter('millrace_append_unknown_total');
  const full = metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL');
  const takeovers = metrics.counter('millrace_takeovers_total');
  const turn = metrics.histogram('millrace_turn_seconds');
  const replay = metrics.histogram('millrace_replay_seconds');
  const refused = metrics.counter('millrace_append_refused_total');
  const snapshots = metrics.counter('millrace_snapshots_total');
  return {
    entryStored: (_shard, ackMs, entryEffects, entryBytes) => {
      entries.add();
      effects.add(entryEffects);
      bytes.add(entryBytes);
      ack.observe(ackMs / 1000);
    },
    appendUnknown: () => unknown.add(),
    mailboxFull: () => full.add(),
    takeover: () => takeovers.add(),
    drained: (ms) => turn.observe(ms / 1000),
    replayed: (ms) => replay.observe(ms / 1000),
    refused: () => refused.add(),
    snapshotted: () => snapshots.add(),
  };
}

/** What is asked of the actors only when somebody looks: depth, epoch and position of every shard. */
export function watchShards<W extends Work>(metrics: Metrics, host: ShardHost<W>, shards: readonly ShardName[]): void {
  for (const shard of shards) {
    metrics.gauge('millrace_mailbox_commands', () => host.actorOf(shard)?.mailboxSize ?? 0, shard);
    metrics.gauge('millrace_mailbox_bytes', () => host.actorOf(shard)?.mailboxBytes ?? 0, shard);
    metrics.gauge('millrace_shard_epoch', () => host.actorOf(shard)?.epoch ?? 0, shard);
    metrics.gauge('millrace_shard_position', () => host.actorOf(shard)?.head?.position ?? 0, shard);
  }
}

/** Counts what a read model answers without having everything that was asked for. */
export function countStale(metrics: Metrics, model: 'messages' | 'statistics'): (behind: Behind) => void {
  const answers = metrics.counter('millrace_stale_answers_total', model);
  const seconds = metrics.histogram('millrace_stale_answer_seconds');
  return ({ ms }) => {
    answers.add();
    if (ms !== undefined) seconds.observe(ms / 1000);
  };
}

/** For gauges; undefined stays so. */
export function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
