/** The shards of one plane in this process, with what is the same for every plane. */
import type { DependencyContainer } from 'tsyringe';
import { type OwnedPlane, OwnedShards, type ShardPlane, type Work } from '../actors/runtime/index.js';
import { DefiniteAppender } from '../journal/index.js';
import { APPEND_RETRY, actorLimitsOf, hostTimesOf, runtimeMetricsOf, snapshotPolicyOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

export function ownedShards<W extends Work, P extends ShardPlane<W>>(
  c: DependencyContainer,
  plane: OwnedPlane<W, P>,
): OwnedShards<W, P> {
  const config = c.resolve(tokens.CONFIG);
  const { timers, journal } = tokens.portsOf(c);
  return new OwnedShards<W, P>(
    {
      journal,
      appender: new DefiniteAppender(journal, timers, APPEND_RETRY),
      objects: c.resolve(tokens.OBJECTS),
      leases: c.resolve(tokens.LEASES),
      compactor: c.resolve(tokens.COMPACTOR),
      clock: c.resolve(tokens.CLOCK),
      timers,
      random: c.resolve(tokens.RANDOM),
      log: c.resolve(tokens.LOG),
      metrics: runtimeMetricsOf(c.resolve(tokens.METRICS)),
      session: c.resolve(tokens.SESSION),
      membership: c.resolve(tokens.MEMBERSHIP),
    },
    {
      clusterId: c.resolve(tokens.LAYOUT).clusterId,
      isExclusive: c.resolve(tokens.WORLD).isExclusive,
      readsNeedBarrier: config.ownership.reads === 'barrier',
      actor: actorLimitsOf(config),
      times: hostTimesOf(config),
      snapshots: snapshotPolicyOf(config),
    },
    plane,
  );
}
