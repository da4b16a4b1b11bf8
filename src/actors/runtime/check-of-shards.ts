/** Whether the shards of a process are served, in a line for a person. */
import type { Check } from '../../ports/index.js';
import type { ShardHost } from './shard-host.js';
import type { Work } from './work.js';

/** @param hosts of every plane that this process may own shards of */
export function checkOfShards(
  hosts: readonly Pick<ShardHost<Work>, 'stoppedShards' | 'lookFailures' | 'isSettled'>[],
): Check {
  const stopped = hosts.flatMap((host) => [...host.stoppedShards().keys()]);
  if (stopped.length > 0) {
    return { ok: false, isStuck: true, detail: `stopped, the journal is in doubt: ${stopped.join(', ')}` };
  }
  if (!hosts.every((host) => host.isSettled())) {
    const why = hosts.flatMap((host) => [...host.lookFailures()].map(([shard, reason]) => `; ${shard}: ${reason}`));
    return { ok: false, detail: `shards are loading or moving${why.join('')}` };
  }
  return { ok: true };
}
