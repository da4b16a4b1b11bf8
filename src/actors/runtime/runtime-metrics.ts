/** The counters of the runtime. */
import type { ShardName } from '../../kernel/index.js';
import type { Metrics } from '../../ports/index.js';

export interface RuntimeMetrics {
  entryStored(shard: ShardName, ackMs: number, effects: number, effectBytes: number): void;
  appendUnknown(shard: ShardName): void;
  mailboxFull(shard: ShardName): void;
  takeover(shard: ShardName): void;
  /** Synchronous work of one drain. */
  drained(ms: number): void;
  /** From the claim to serving. */
  replayed(ms: number): void;
  refused(shard: ShardName): void;
  snapshotted(shard: ShardName): void;
}

export function runtimeMetricsOf(metrics: Metrics): RuntimeMetrics {
  const entries = metrics.counter('millrace_entries_appended_total');
  const effects = metrics.counter('millrace_entry_effects_total');
  const bytes = metrics.counter('millrace_entry_bytes_total');
  const size = metrics.histogram('millrace_entry_size_bytes');
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
      size.observe(entryBytes);
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
