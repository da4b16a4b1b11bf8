/** The live state, the state of a full replay, and the state of a snapshot plus the rest of the journal are equal. */
import { QueuePartitionFold } from '../../src/actors/queue/index.js';
import { SnapshotStore } from '../../src/journal/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import { entriesOf } from './journal-checks.js';
import type { QueueNode } from './queue-node.js';
import type { SimKit } from './sim-kit.js';
import { Violation } from './violation.js';

type Folds = Map<PartitionName, QueuePartitionFold>;

/** @throws Violation if the states differ */
export async function checkStates(
  kit: SimKit,
  shards: readonly ShardName[],
  nodes: readonly QueueNode[],
): Promise<void> {
  const folds: Folds = new Map();
  for (const shard of shards) applyEntries(kit, shard, 0, folds);
  const replayed = digestsOf(folds);
  for (const node of nodes) compare(node.name, node.digests(), replayed);
  for (const shard of shards) compare(`the snapshot of ${shard}`, await fromSnapshot(kit, shard), replayed);
}

async function fromSnapshot(kit: SimKit, shard: ShardName): Promise<Map<PartitionName, string>> {
  const { objects, process } = kit.addMember('reader');
  const store = new SnapshotStore(objects, process.log);
  const folds: Folds = new Map();
  const load = async () => {
    const stored = await store.newest(shard);
    for (const partition of stored?.manifest.partitions ?? []) {
      const fold = newFold();
      folds.set(partition.name, fold);
      for await (const _ of store.loadPartition(partition, fold));
    }
    return stored?.manifest.head.number ?? 0;
  };
  applyEntries(kit, shard, await kit.settle(load()), folds);
  return digestsOf(folds);
}

function applyEntries(kit: SimKit, shard: ShardName, after: number, folds: Folds): void {
  for (const { entry } of entriesOf(kit.server, shard)) {
    if (entry.body.kind !== 'batch' || entry.number <= after) continue;
    for (const { partition, effects } of entry.body.sections) {
      const fold = folds.get(partition) ?? newFold();
      folds.set(partition, fold);
      fold.apply(effects);
    }
  }
}

function newFold(): QueuePartitionFold {
  return new QueuePartitionFold({ put: () => {}, drop: () => {} });
}

function digestsOf(folds: Folds): Map<PartitionName, string> {
  return new Map([...folds].map(([partition, fold]) => [partition, fold.digest()]));
}

function compare(
  whose: string,
  digests: ReadonlyMap<PartitionName, string>,
  expected: ReadonlyMap<PartitionName, string>,
): void {
  for (const [partition, digest] of digests) {
    const replayed = expected.get(partition);
    if (replayed === undefined || replayed === digest) continue;
    throw new Violation('replay gives the live state', `${partition} at ${whose}: ${digest}, not ${replayed}`);
  }
}
