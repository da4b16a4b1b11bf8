/** States of partitions: an empty state, and the states that a replay of the whole journal gives. */
import { KvFold } from '../../src/actors/kv-shard/index.js';
import type { ReadEntry } from '../../src/codec/envelope/index.js';
import { KvEngine } from '../../src/domain/kv/index.js';
import type { PartitionName } from '../../src/kernel/index.js';
import type { Random } from '../../src/ports/index.js';
import { SeededRandom } from './seeded-random.js';

export function newFold(random: Random, nowMs: () => number): KvFold {
  return new KvFold(new KvEngine(random, { nowMicros: () => nowMs() * 1000, info: () => new Map() }));
}

/** The digest of each partition after a complete replay. */
export function replayedDigests(entries: readonly ReadEntry[]): Map<PartitionName, string> {
  const folds = new Map<PartitionName, KvFold>();
  for (const { entry } of entries) {
    if (entry.body.kind !== 'batch') continue;
    for (const { partition, effects } of entry.body.sections) {
      const fold = folds.get(partition) ?? newFold(new SeededRandom(0), () => 0);
      folds.set(partition, fold);
      fold.apply(effects);
    }
  }
  return new Map([...folds].map(([partition, fold]) => [partition, fold.digest()]));
}
