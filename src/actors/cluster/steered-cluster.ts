/**
 * Checks the wishes of operators against the cluster's status, and stores them. The answer does not wait until the
 * cluster has followed.
 */
import type { SessionId, ShardName } from '../../kernel/index.js';
import type {
  Clock,
  ClusterStatus,
  ClusterSteering,
  ClusterWatch,
  LeaseStore,
  ProcessStatus,
} from '../../ports/index.js';
import { Steering } from './steering.js';

interface SteeredPorts {
  readonly leases: Pick<LeaseStore, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
}

export class SteeredCluster implements ClusterSteering {
  constructor(
    private readonly ports: SteeredPorts,
    private readonly cluster: ClusterWatch,
  ) {}

  async drain(process: SessionId, by: string): Promise<string | undefined> {
    const now = await this.cluster.look();
    const refusal = now.processes.some((one) => one.process === process)
      ? refusalOfDrain(now, process)
      : `there is no process ${process}`;
    if (refusal === undefined) await this.#steering(by).drain(process, answersIn(now));
    return refusal;
  }

  undrain(process: SessionId, by: string): Promise<void> {
    return this.#steering(by).undrain(process);
  }

  async move(shard: ShardName, process: SessionId | undefined, by: string): Promise<string | undefined> {
    const now = await this.cluster.look();
    if (!now.shards.some((one) => one.shard === shard)) return `there is no shard ${shard}`;
    const refusal = process === undefined ? undefined : refusalOfMove(now, process, shard);
    if (refusal === undefined) await this.#steering(by).move(shard, process);
    return refusal;
  }

  #steering(by: string): Steering {
    return new Steering(this.ports, by);
  }
}

/** @returns the reason of a refusal, for people; undefined when the drain is possible */
export function refusalOfDrain({ processes }: ClusterStatus, process: SessionId): string | undefined {
  const mayOwn = (one: ProcessStatus) => one.process !== process && !one.isDrained && ownsShards(one);
  if (processes.some(mayOwn)) return undefined;
  return `no process can take over the shards of ${process}: no other process that may own shards answers`;
}

/** @returns the reason of a refusal, for people; undefined when the move is possible */
export function refusalOfMove({ processes }: ClusterStatus, process: SessionId, shard: ShardName): string | undefined {
  const target = processes.find((one) => one.process === process);
  if (target === undefined || !answers(target)) return `${process} does not answer`;
  if (target.isDrained) return `${process} is drained: undrain it first`;
  const role = shard.startsWith('KV_') ? 'kv' : shard.startsWith('QUEUE_') ? 'queue' : undefined;
  if (role === undefined ? ownsShards(target) : target.roles?.includes(role)) return undefined;
  return `${process} does not have the role that ${shard} needs; its roles are ${target.roles?.join(', ')}`;
}

/** Rules for draining a process and moving a shard: a wish that the present cluster cannot fulfil is refused. */
export function answersIn({ processes }: ClusterStatus): (process: SessionId) => boolean {
  return (process) => processes.some((one) => one.process === process && answers(one));
}

function answers({ state }: ProcessStatus): boolean {
  return state === 'ready' || state === 'not-ready';
}

function ownsShards(one: ProcessStatus): boolean {
  return answers(one) && one.roles?.some((role) => role === 'kv' || role === 'queue') === true;
}
