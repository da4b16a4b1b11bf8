/** Memory adapters together, with the helpers of every snapshot test. */
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import {
  type AuditRetention,
  type CompactionLimits,
  compactShard,
  recover,
  SnapshotStore,
} from '../../../src/journal/index.js';
import type { PartitionName } from '../../../src/kernel/index.js';
import type { CompactionResult, Journal, ObjectStore } from '../../../src/ports/index.js';
import { entrySections, type ManifestPartition } from '../../../src/protocol/index.js';
import { ManualTime, MemoryJournal, MemoryObjectStore } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';
import { CLUSTER, SHARD, ShardHistory } from './shard-history.js';

/** Keeps only the history that recovery needs. */
export const KEEP_NOTHING: AuditRetention = { maxAgeMs: 0, maxBytes: 0 };

export const SMALL_LIMITS: CompactionLimits = { stepBytes: 100, segmentBytes: 60, retention: KEEP_NOTHING };

export class JournalStand {
  readonly time = new ManualTime();
  readonly memoryJournal = new MemoryJournal({ clock: this.time, timers: this.time });
  readonly memoryObjects = new MemoryObjectStore();
  journal: Journal = this.memoryJournal;
  objects: ObjectStore = this.memoryObjects;
  readonly history: ShardHistory;

  constructor({ chunkBytes }: { chunkBytes?: number } = {}) {
    this.memoryJournal.createStream(SHARD);
    this.history = new ShardHistory(this.memoryJournal, chunkBytes === undefined ? {} : { chunkBytes });
  }

  get ports() {
    return { journal: this.journal, objects: this.objects, clock: this.time, log: silentLog };
  }

  compact(limits: CompactionLimits = SMALL_LIMITS): Promise<CompactionResult> {
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: this.history.head.position };
    return compactShard(this.ports, job, replayFold, limits);
  }

  /** Compacts and then truncates the front of the journal like the owner. */
  async compactAndPurge(limits?: CompactionLimits): Promise<CompactionResult> {
    const result = await this.compact(limits);
    await this.purge(result);
    return result;
  }

  async purge({ purgeBelow }: CompactionResult): Promise<void> {
    const { first } = await this.memoryJournal.tail(SHARD);
    if (purgeBelow > first) await this.memoryJournal.truncateFront(SHARD, purgeBelow);
  }

  /** The state of an owner after its claim: the digest of each partition. */
  async recoveredDigests(avoid: ReadonlySet<string> = new Set()): Promise<Record<string, string>> {
    const ports = { journal: this.memoryJournal, objects: this.memoryObjects, log: silentLog };
    const store = new SnapshotStore(this.memoryObjects, silentLog);
    const snapshots = new Map<PartitionName, ManifestPartition>();
    const folds = new Map<PartitionName, ReturnType<typeof replayFold>>();
    const foldOf = async (partition: PartitionName) => {
      const known = folds.get(partition);
      if (known !== undefined) return known;
      const fold = replayFold();
      const snapshot = snapshots.get(partition);
      if (snapshot !== undefined) await store.loadWhole(snapshot, fold, { checkDigest: true });
      folds.set(partition, fold);
      return fold;
    };
    for await (const step of recover(ports, SHARD, this.history.head, this.history.head, avoid).steps) {
      if (step.kind === 'manifest') {
        for (const partition of step.manifest?.partitions ?? []) snapshots.set(partition.name, partition);
      } else {
        for (const { partition, effects } of step.reads.flatMap(({ entry }) => entrySections(entry)))
          (await foldOf(partition)).apply(effects);
      }
    }
    for (const partition of snapshots.keys()) await foldOf(partition);
    return Object.fromEntries([...folds].map(([name, fold]) => [name, fold.digest()] as const).sort());
  }

  async objectNames(prefix = ''): Promise<string[]> {
    return (await this.memoryObjects.list(prefix)).map(({ name }) => name);
  }
}
