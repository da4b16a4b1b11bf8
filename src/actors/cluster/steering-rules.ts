/** Who may be drained and where a shard may go, given what is there: a wish that cannot come true is refused at once. */
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { ClusterStatus, ProcessStatus } from '../../ports/index.js';

/** @returns why not, for people; undefined: it may be */
export function refusalOfDrain({ processes }: ClusterStatus, process: SessionId): string | undefined {
  const mayOwn = (one: ProcessStatus) => one.process !== process && !one.isDrained && ownsShards(one);
  if (processes.some(mayOwn)) return undefined;
  return `nobody else could own the shards of ${process}: no other process answers that may`;
}

/** As `refusalOfDrain`. */
export function refusalOfMove({ processes }: ClusterStatus, process: SessionId, shard: ShardName): string | undefined {
  const target = processes.find((one) => one.process === process);
  if (target === undefined || !answers(target)) return `${process} does not answer`;
  if (target.isDrained) return `${process} is drained: undrain it first`;
  const role = shard.startsWith('KV_') ? 'kv' : shard.startsWith('QUEUE_') ? 'queue' : undefined;
  if (role === undefined ? ownsShards(target) : target.roles?.includes(role)) return undefined;
  return `${process} has not the role that ${shard} takes: it has ${target.roles?.join(', ')}`;
}

export function answersIn({ processes }: ClusterStatus): (process: SessionId) => boolean {
  return (process) => processes.some((one) => one.process === process && answers(one));
}

function answers({ state }: ProcessStatus): boolean {
  return state === 'ready' || state === 'not-ready';
}

function ownsShards(one: ProcessStatus): boolean {
  return answers(one) && one.roles?.some((role) => role === 'kv' || role === 'queue') === true;
}
