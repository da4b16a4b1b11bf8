/** The ports of a shard's actor over a journal in memory. */
import type { ShardActor } from '../../src/actors/runtime/index.js';
import { DefiniteAppender, recover, recoverFollowing } from '../../src/journal/index.js';
import type { Journal, ObjectStore, Timers } from '../../src/ports/index.js';
import { NO_METRICS } from './no-metrics.js';
import { silentLog } from './silent-log.js';

type ActorPorts = ConstructorParameters<typeof ShardActor>[0];

export function actorPorts(
  journal: Journal,
  objects: ObjectStore,
  timers: Timers,
  { clock, random }: Pick<ActorPorts, 'clock' | 'random'>,
): ActorPorts {
  const stored = { journal, objects, log: silentLog };
  return {
    journal,
    appender: new DefiniteAppender(journal, timers, { firstRetryMs: 20, maxRetryMs: 100 }),
    clock,
    timers,
    random,
    log: silentLog,
    metrics: NO_METRICS,
    recover: (shard, claim, highWater) => recover(stored, shard, claim, highWater),
    follow: (shard, coming) => recoverFollowing(stored, shard, coming),
  };
}
