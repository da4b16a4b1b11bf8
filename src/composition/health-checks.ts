/** What `/readyz` looks at. */
import type { KvWork } from '../actors/kv-shard/index.js';
import type { ShardHost } from '../actors/runtime/index.js';
import type { Check } from '../adapters/http-health/index.js';
import type { ControlRole } from './control-role.js';
import type { NatsWorld } from './nats-world.js';

export function healthChecks(
  world: NatsWorld,
  host: ShardHost<KvWork> | undefined,
  control: ControlRole,
): () => Record<string, Check> {
  return () => {
    const isConnected = world.connections.appends.isConnected();
    const checks: Record<string, Check> = {
      nats: isConnected ? { ok: true } : { ok: false, detail: 'not connected' },
      control: control.isFresh() ? { ok: true } : { ok: false, detail: 'nothing heard from the control stream' },
    };
    if (host !== undefined) checks.shards = shardsCheck(host);
    return checks;
  };
}

function shardsCheck(host: ShardHost<KvWork>): Check {
  const stopped = [...host.stoppedShards().keys()];
  if (stopped.length > 0) return { ok: false, detail: `stopped, the journal is in doubt: ${stopped.join(', ')}` };
  if (!host.isSettled()) return { ok: false, detail: 'shards are loading or moving' };
  return { ok: true };
}
