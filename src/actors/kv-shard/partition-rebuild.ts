/** The state of one partition, from the newest snapshot and every entry behind it. */
import { describeError, type PartitionName } from '../../kernel/index.js';
import { entrySections, type ManifestPartition } from '../../messages/index.js';
import type { Log } from '../../ports/index.js';
import type { Breathing, RecoveryStep } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';

export interface RebuildPorts {
  readonly log: Log;
  /** The newest snapshot and every entry behind it, up to the last that is stored. */
  history(): AsyncIterable<RecoveryStep>;
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: KvFold): Promise<void>;
}

const MAX_REBUILDS = 3;

/** A snapshot that is made meanwhile may know more than the history it was asked for; then it is asked again. */
export async function rebuiltFold(
  ports: RebuildPorts,
  partition: PartitionName,
  createFold: () => KvFold,
  breathing: Breathing,
): Promise<KvFold> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await foldOf(ports, partition, createFold, breathing);
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
  breathing: Breathing,
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
    for (const section of entrySections(step.read.entry)) {
      if (section.partition !== partition) continue;
      for (const _ of fold.applyInSlices(section.effects)) if (breathing.isDue) await breathing.take();
    }
    if (breathing.isDue) await breathing.take();
  }
  return fold;
}
