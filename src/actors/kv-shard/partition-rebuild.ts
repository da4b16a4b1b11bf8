/** Rebuilds one partition from the newest snapshot and every later entry. */
import { describeError, type PartitionName } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { entrySections, type ManifestPartition } from '../../protocol/index.js';
import type { RecoveryStep, YieldBudget } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';

export interface RebuildPorts {
  readonly log: Log;
  /** The newest snapshot and every later entry up to the last stored one. */
  history(): AsyncIterable<RecoveryStep>;
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: KvFold): Promise<void>;
}

const MAX_REBUILDS = 3;

/** A snapshot made during the rebuild may replace the history being read; then the history is requested again. */
export async function rebuiltFold(
  ports: RebuildPorts,
  partition: PartitionName,
  createFold: () => KvFold,
  budget: YieldBudget,
): Promise<KvFold> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await foldOf(ports, partition, createFold, budget);
    } catch (error) {
      if (tries === MAX_REBUILDS) throw error;
      ports.log.warn('partition.rebuild-failed', { partition, error: describeError(error) });
    }
  }
}

async function foldOf(
  ports: RebuildPorts,
  partition: PartitionName,
  createFold: () => KvFold,
  budget: YieldBudget,
): Promise<KvFold> {
  let fold = createFold();
  for await (const step of ports.history()) {
    if (step.kind === 'manifest') {
      const snapshot = step.manifest?.partitions.find(({ name }) => name === partition);
      if (snapshot !== undefined) {
        fold = createFold();
        await ports.loadPartition(snapshot, fold);
      }
      continue;
    }
    for (const { entry } of step.reads) {
      for (const section of entrySections(entry)) {
        if (section.partition !== partition) continue;
        for (const _ of fold.applyInSlices(section.effects)) if (budget.isSpent) await budget.yield();
      }
      if (budget.isSpent) await budget.yield();
    }
  }
  return fold;
}
