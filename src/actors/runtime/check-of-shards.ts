/** The readiness of a process's shards, in one line for people. */
import { describeError } from '../../kernel/index.js';
import type { Check } from '../../ports/index.js';
import type { ShardHost } from './shard-host.js';
import type { Work } from './work.js';

/** @param hosts  of every plane that this process may own shards of */
export function checkOfShards(
  hosts: readonly Pick<ShardHost<Work>, 'stoppedShards' | 'lookFailures' | 'isSettled'>[],
): Check {
  const stopped = hosts.flatMap((host) => [...host.stoppedShards()]);
  const notes = [
    ['stopped, the journal is in doubt', 'JOURNAL_DAMAGED'],
    ['stopped, written by a newer release', 'NEWER_FORMAT'],
  ].flatMap(([what, wanted]) => {
    const those = stopped.filter(([, { code }]) => code === wanted);
    const named = those.map(([shard, why]) => `${shard} (${describeError(why)})`);
    return named.length === 0 ? [] : [`${what}: ${named.join(', ')}`];
  });
  if (!hosts.every((host) => host.isSettled())) {
    const why = hosts.flatMap((host) => [...host.lookFailures()].map(([shard, reason]) => `${shard}: ${reason}`));
    return { ok: false, detail: [...notes, 'shards are loading or moving', ...why].join('; ') };
  }
  return notes.length === 0 ? { ok: true } : { ok: false, isStuck: true, detail: notes.join('; ') };
}
