/** What `/readyz` looks at. */
import type { ShardHost, Work } from '../actors/runtime/index.js';
import type { Check } from '../adapters/http-health/index.js';
import type { ControlRole } from './control-role.js';
import type { NatsWorld } from './nats-world.js';
import type { ProjectionRole } from './projection-role.js';
import type { SearchRole } from './search-role.js';

type OwnedShards = Pick<ShardHost<Work>, 'stoppedShards' | 'lookFailures' | 'isSettled'>;

export interface CheckedParts {
  readonly hosts: readonly OwnedShards[];
  readonly control: ControlRole;
  /** Undefined in a process that keeps none. */
  readonly readModels: ProjectionRole | undefined;
  readonly searches: SearchRole | undefined;
}

export function healthChecks(
  world: NatsWorld,
  { hosts, control, readModels, searches }: CheckedParts,
): () => Record<string, Check> {
  return () => {
    const isConnected = world.connections.appends.isConnected();
    const checks: Record<string, Check> = {
      nats: isConnected ? { ok: true } : { ok: false, detail: 'not connected' },
      control: control.isFresh() ? { ok: true } : { ok: false, detail: 'nothing heard from the control stream' },
    };
    if (hosts.length > 0) checks.shards = shardsCheck(hosts);
    if (readModels !== undefined) checks['read-models'] = readModels.check();
    if (searches !== undefined) checks.search = searches.check();
    return checks;
  };
}

function shardsCheck(hosts: readonly OwnedShards[]): Check {
  const stopped = hosts.flatMap((host) => [...host.stoppedShards().keys()]);
  if (stopped.length > 0) return { ok: false, detail: `stopped, the journal is in doubt: ${stopped.join(', ')}` };
  if (!hosts.every((host) => host.isSettled())) {
    const why = hosts.flatMap((host) => [...host.lookFailures()].map(([shard, reason]) => `; ${shard}: ${reason}`));
    return { ok: false, detail: `shards are loading or moving${why.join('')}` };
  }
  return { ok: true };
}
