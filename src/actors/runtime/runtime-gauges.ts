/** The gauges of the runtime, read when metrics are collected. */
import { describeError, type ShardName } from '../../kernel/index.js';
import { type Check, inSeconds, type Metrics } from '../../ports/index.js';
import { ClockWatch, type ClockWatchOptions, type ClockWatchPorts } from './clock-watch.js';
import type { Membership } from './membership.js';
import type { ShardHost } from './shard-host.js';
import type { Work } from './work.js';

/** The gauges for an alarm on clocks. */
export function watchedClocks(
  { metrics, ...ports }: Omit<ClockWatchPorts, 'jumps'> & { readonly metrics: Metrics },
  options: ClockWatchOptions,
  membership: Membership,
): ClockWatch {
  const jumps = metrics.counter('millrace_clock_jumps_total');
  const clocks = new ClockWatch({ ...ports, jumps }, options, membership);
  metrics.gauge('millrace_clock_ahead_seconds', () => clocks.machineAheadMs / 1000);
  metrics.gauge('millrace_clock_journal_ahead_seconds', () => clocks.journalAheadMs / 1000);
  metrics.gauge('millrace_clock_in_doubt', () => (clocks.isInDoubt ? 1 : 0));
  metrics.gauge('millrace_clock_owns_nothing', () => (clocks.isExcluded ? 1 : 0));
  return clocks;
}

/**
 * Gauges read from the actors: whether a shard is owned here, its depth, epoch and position; 0 for shards not owned
 * here.
 */
export function watchShards<W extends Work>(metrics: Metrics, host: ShardHost<W>, shards: readonly ShardName[]): void {
  for (const shard of shards) {
    metrics.gauge('millrace_shard_owned', () => (host.serves(shard) ? 1 : 0), shard);
    metrics.gauge('millrace_shard_load', () => host.actorOf(shard)?.load ?? 0, shard);
    metrics.gauge('millrace_shard_stopped', () => (host.stoppedShards().has(shard) ? 1 : 0), shard);
    metrics.gauge('millrace_mailbox_commands', () => host.actorOf(shard)?.mailboxSize ?? 0, shard);
    metrics.gauge('millrace_mailbox_bytes', () => host.actorOf(shard)?.mailboxBytes ?? 0, shard);
    metrics.gauge('millrace_shard_epoch', () => host.actorOf(shard)?.epoch ?? 0, shard);
    metrics.gauge('millrace_shard_position', () => host.actorOf(shard)?.head?.position ?? 0, shard);
    metrics.gauge('millrace_snapshot_timestamp_seconds', () => inSeconds(host.actorOf(shard)?.snapshotAtMs), shard);
  }
}

/** @param hosts  of every plane that this process may own shards of */
export function checkOfShards(
  hosts: readonly Pick<ShardHost<Work>, 'stoppedShards' | 'lookFailures' | 'isSettled'>[],
): Check {
  const stopped = hosts.flatMap((host) => [...host.stoppedShards()]);
  const notes = [
    ['stopped, the journal is in doubt', 'JOURNAL_DAMAGED'],
    ['stopped, written by a newer release', 'NEWER_FORMAT'],
  ].flatMap(([state, wanted]) => {
    const those = stopped.filter(([, { code }]) => code === wanted);
    const named = those.map(([shard, reason]) => `${shard} (${describeError(reason)})`);
    return named.length === 0 ? [] : [`${state}: ${named.join(', ')}`];
  });
  if (!hosts.every((host) => host.isSettled())) {
    const failures = hosts.flatMap((host) => [...host.lookFailures()].map(([shard, reason]) => `${shard}: ${reason}`));
    return { ok: false, detail: [...notes, 'shards are loading or moving', ...failures].join('; ') };
  }
  return notes.length === 0 ? { ok: true } : { ok: false, isStuck: true, detail: notes.join('; ') };
}
