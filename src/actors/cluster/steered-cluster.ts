/** Wishes of people who see the cluster from one of its processes: judged by what is there, written, and not waited for. */
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { Clock, ClusterSteering, ClusterWatch, LeaseStore } from '../../ports/index.js';
import { Steering } from './steering.js';
import { answersIn, refusalOfDrain, refusalOfMove } from './steering-rules.js';

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
