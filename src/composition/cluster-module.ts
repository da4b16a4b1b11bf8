/** The view of the cluster from this process, and this process's own report. */
import { hostname } from 'node:os';
import type { DependencyContainer } from 'tsyringe';
import { ClusterLook, LoadBalancer, ProcessReporter, type SaidOfItself } from '../actors/cluster/index.js';
import { natsStatus } from '../adapters/nats/index.js';
import { NodeReadings, VERSION } from '../adapters/node/index.js';
import * as tokens from './tokens.js';

export function registerCluster(c: DependencyContainer): void {
  tokens.once(c, tokens.CLUSTER_LOOK, () => {
    const { connections, names, layout } = c.resolve(tokens.NATS);
    const nats = natsStatus(connections, names, layout);
    const ports = { ...tokens.portsOf(c), membership: c.resolve(tokens.MEMBERSHIP), nats };
    return new ClusterLook(ports, { ...layout, shards: c.resolve(tokens.JOURNAL_TOTAL).shards });
  });
}

/** @param said  the checks of `/readyz`, and the owners of shards */
export async function startCluster(c: DependencyContainer, said: SaidOfItself): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  const { roles } = c.resolve(tokens.CONFIG).process;
  const ports = { ...tokens.portsOf(c), clocks: c.resolve(tokens.CLOCK_WATCH), session: c.resolve(tokens.SESSION) };
  const worker = tokens.ifRegistered(c, tokens.WORKER)?.start.number;
  const facts = { version: VERSION, host: hostname(), pid: new NodeReadings().pid, roles, ...(worker && { worker }) };
  await life.run(new ProcessReporter({ ...ports, ...said }, facts));
  const isOwner = () => !c.resolve(tokens.NATS).isExclusive && c.resolve(tokens.CONTROL).isOwner();
  const moves = ports.metrics.counter('millrace_placement_moves_total');
  const { placementLoadMs } = c.resolve(tokens.CONFIG).ownership;
  await life.run(
    new LoadBalancer({ ...ports, cluster: c.resolve(tokens.CLUSTER_LOOK), moves, isOwner }, placementLoadMs),
  );
}
