/** A shard with a state that refers to bodies: its journal, its snapshots, and a reader of the bodies in both. */
import { decodeManifest } from '../../src/codec/envelope/index.js';
import { BodyReader, type BodyReaderLimits, type CompactionLimits, compactShard } from '../../src/journal/index.js';
import type { PartitionName } from '../../src/kernel/index.js';
import type { Clock, CompactionResult, Journal, ObjectStore } from '../../src/ports/index.js';
import type { BodySegmentRef, Manifest } from '../../src/protocol/index.js';
import { CLUSTER, ShardHistory } from '../spec/journal/shard-history.js';
import { BodyFold, bodiesPut } from './body-fold.js';
import { realTime } from './real-time.js';
import { silentLog } from './silent-log.js';

export const QUEUE = 'queue:ac-aaaaaaaaaaaaaaaa' as PartitionName;

export class BodyStand {
  readonly history: ShardHistory;
  #next = 1;

  constructor(
    readonly journal: Journal,
    readonly objects: ObjectStore,
    readonly limits: CompactionLimits,
    options: ConstructorParameters<typeof ShardHistory>[1] & { clock?: Clock } = {},
  ) {
    this.history = new ShardHistory(journal, options);
    this.clock = options.clock ?? realTime;
  }

  private readonly clock: Clock;

  /** Appends an entry with these bodies. @returns their numbers and the end of the entry */
  async put(...contents: readonly string[]): Promise<{ readonly numbers: number[]; readonly position: number }> {
    const numbers = contents.map(() => this.#next++);
    const puts = numbers.map((number, i) => ['PUT', String(number), contents[i] as string]);
    const { position } = await this.history.batch({ [QUEUE]: puts });
    return { numbers, position };
  }

  async drop(...numbers: readonly number[]): Promise<void> {
    await this.history.batch({ [QUEUE]: numbers.map((number) => `DROP ${number}`) });
  }

  compact(objects: ObjectStore = this.objects): Promise<CompactionResult> {
    const { shard, head } = this.history;
    const ports = { journal: this.journal, objects, clock: this.clock, log: silentLog };
    const job = { shard, clusterId: CLUSTER, upToPosition: head.position };
    return compactShard(ports, job, () => new BodyFold(), this.limits);
  }

  /**
   * Makes two snapshots and removes the front of the journal as the owner does. The second is needed because the
   * journal before a single snapshot is kept.
   */
  async compactAndPurge(): Promise<Manifest> {
    await this.compact();
    await this.history.claim();
    const { manifest, purgeBelow } = await this.compact();
    await this.journal.truncateFront(this.history.shard, purgeBelow);
    return this.manifest(manifest);
  }

  async manifest(name: string): Promise<Manifest> {
    return decodeManifest((await this.objects.get(name)) as Uint8Array);
  }

  async segments(name: string): Promise<readonly BodySegmentRef[]> {
    return (await this.manifest(name)).partitions[0]?.bodySegments ?? [];
  }

  reader(
    limits?: BodyReaderLimits,
    objects: ObjectStore = this.objects,
    journal: Pick<Journal, 'readAt'> = this.journal,
  ) {
    const reader = new BodyReader({ journal, objects, timers: realTime, log: silentLog }, bodiesPut, limits);
    const read = async (number: number, at?: number) =>
      Buffer.from(await reader.read(this.history.shard, QUEUE, number, at)).toString('latin1');
    return { reader, read };
  }
}
