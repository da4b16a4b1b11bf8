/** The state that the journal alone gives, from its first entry, as a digest of each partition. */
import type { ReadEntry } from '../../src/codec/envelope/index.js';
import type { PartitionFold } from '../../src/journal/index.js';
import type { PartitionName } from '../../src/kernel/index.js';
import { SeededRandom } from './seeded-random.js';
import { newFold } from './sim-node.js';

export function replayedDigests(entries: readonly ReadEntry[]): Map<PartitionName, string> {
  const folds = new Map<PartitionName, PartitionFold>();
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
