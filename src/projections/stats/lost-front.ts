/**
 * Statistics of a queue journal with a missing front: the rest is counted, and the newest snapshot provides pending
 * messages and the number of DLQ entries. Earlier counts are lost, because these snapshots carry no statistics. An
 * interrupted run starts again.
 */
import { decodeQueueEvents } from '../../codec/queue/index.js';
import { SnapshotStore } from '../../journal/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { Journal, Log, ObjectStore, Timers } from '../../ports/index.js';
import { isQueuePartition, type ManifestPartition, parseQueuePartition } from '../../protocol/index.js';
import type { StatsCheckpoint, StatsStore } from './stats-store.js';

export interface LostFrontPorts {
  readonly journal: Pick<Journal, 'tail'>;
  readonly objects: ObjectStore;
  readonly timers: Timers;
  readonly log: Log;
}

const STEP_EVENTS = 1000;

/**
 * @returns the checkpoint at the first message left in the journal
 * @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED
 */
export async function numbersFromSnapshot(
  ports: LostFrontPorts,
  store: StatsStore,
  shard: ShardName,
): Promise<StatsCheckpoint> {
  const snapshots = new SnapshotStore(ports.objects, ports.log);
  const stored = await snapshots.newest(shard);
  const { first, createdAt } = await ports.journal.tail(shard);
  ports.log.warn('read-model.incomplete', {
    model: 'statistics',
    shard,
    first,
    reason: 'the first entries of the journal were removed',
  });
  for (const partition of stored?.manifest.partitions ?? []) await takeNumbers(ports, snapshots, store, partition);
  const dlqFrom = stored?.manifest.head.number ?? 0;
  return { createdAt, position: first - 1, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: true, dlqFrom };
}

async function takeNumbers(
  ports: LostFrontPorts,
  snapshots: SnapshotStore,
  store: StatsStore,
  partition: ManifestPartition,
): Promise<void> {
  if (!isQueuePartition(partition.name)) return;
  const account = parseQueuePartition(partition.name);
  store.restore(account, [], true);
  for await (const bytes of snapshots.segmentBytes(partition)) {
    const events = [...decodeQueueEvents(bytes)];
    for (let at = 0; at < events.length; at += STEP_EVENTS) {
      store.restore(account, events.slice(at, at + STEP_EVENTS), false);
      await ports.timers.yieldToEventLoop();
    }
  }
}
