/** The common parts of all planes: shard ownership, and dependencies of the owners of databases and queues. */
import type { DependencyContainer } from 'tsyringe';
import { KvDeliveries } from '../actors/kv-shard/index.js';
import { type OwnedPlane, OwnedShards, runtimeMetricsOf, type ShardPlane, type Work } from '../actors/runtime/index.js';
import { httpOutOf } from '../adapters/http-delivery/index.js';
import { JetStreamIntakeLog } from '../adapters/nats/index.js';
import { ProcessCompactor, watchedDisk } from '../adapters/node/index.js';
import { smtpSenderOf } from '../adapters/smtp/index.js';
import { DEFAULT_COMPACTION_LIMITS, DefiniteAppender } from '../journal/index.js';
import { actorLimitsOf, hostTimesOf, snapshotPolicyOf } from './runtime-options.js';
import { threadTaskOf } from './thread-container.js';
import type { CompactorTask } from './thread-tasks.js';
import * as tokens from './tokens.js';

export function registerShards(c: DependencyContainer): void {
  tokens.once(c, tokens.COMPACTOR, compactor);
  // Only an embedded server's disk is watched; the operators of a cluster watch the disks of its servers.
  tokens.once(c, tokens.STORAGE, () => {
    const { isEmbedded, storage } = c.resolve(tokens.CONFIG);
    const { dataDir: directory, diskReserveBytes } = storage;
    const reserveBytes = isEmbedded ? diskReserveBytes : 0;
    return watchedDisk({ ...tokens.storagePortsOf(c), directory, reserveBytes }, c.resolve(tokens.LIFETIME));
  });
  tokens.once(c, tokens.DELIVERIES, () => new KvDeliveries(c.resolve(tokens.BUS)));
  tokens.once(c, tokens.INTAKE, () => {
    return new JetStreamIntakeLog(c.resolve(tokens.CONNECTIONS), c.resolve(tokens.NAMES), c.resolve(tokens.JOURNAL));
  });
  tokens.once(c, tokens.HTTP_OUT, () => httpOutOf(c.resolve(tokens.CONFIG), c.resolve(tokens.METRICS)));
  tokens.once(c, tokens.MAIL_SENDER, () => smtpSenderOf(c.resolve(tokens.CONFIG), c.resolve(tokens.LIFETIME)));
}

/** The shards of one plane in this process. */
export function ownedShards<W extends Work, P extends ShardPlane<W>>(
  c: DependencyContainer,
  plane: OwnedPlane<W, P>,
): OwnedShards<W, P> {
  const config = c.resolve(tokens.CONFIG);
  const { layout, isExclusive } = c.resolve(tokens.NATS);
  const ports = tokens.storagePortsOf(c);
  return new OwnedShards<W, P>(
    {
      ...ports,
      appender: new DefiniteAppender(ports.journal, ports.timers),
      compactor: c.resolve(tokens.COMPACTOR),
      metrics: runtimeMetricsOf(c.resolve(tokens.METRICS)),
      session: c.resolve(tokens.SESSION),
      membership: c.resolve(tokens.MEMBERSHIP),
    },
    {
      clusterId: layout.clusterId,
      isExclusive,
      readsNeedBarrier: config.ownership.reads === 'barrier',
      actor: actorLimitsOf(config),
      times: hostTimesOf(config),
      snapshots: snapshotPolicyOf(config),
    },
    plane,
  );
}

function compactor(c: DependencyContainer): ProcessCompactor<CompactorTask> {
  const { ageMs, bytes } = c.resolve(tokens.CONFIG).storage.auditRetention;
  const retention = { maxAgeMs: ageMs ?? Number.POSITIVE_INFINITY, maxBytes: bytes ?? Number.POSITIVE_INFINITY };
  const limits = { ...DEFAULT_COMPACTION_LIMITS, retention, total: c.resolve(tokens.JOURNAL_TOTAL) };
  return new ProcessCompactor({
    entry: new URL('./compactor-worker.js', import.meta.url),
    installation: { ...threadTaskOf(c), limits },
    log: c.resolve(tokens.LOG),
  });
}
