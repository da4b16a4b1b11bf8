/**
 * Reads the bytes of a body by its number: from the entry that brought it while the journal has it, otherwise from the
 * body segments of the newest snapshot.
 *
 *  BRE1 an entry is removed from the journal only after a snapshot covers it, so a body that is in neither is damage
 *  BRE2 bodies that are stored together are fetched together: many reads of one entry or segment cost one fetch
 *  BRE3 kept and fetched bytes are bounded, and the event loop is not held for long
 */

import type { BodyIndex } from '../codec/envelope/index.js';
import { isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Journal, Log, ObjectStore, Timers } from '../ports/index.js';
import { type BodySegmentRef, entrySections, type Manifest, type SegmentRef } from '../protocol/index.js';
import { BodyBlock, bytesOfIndex, placeIn } from './body-block.js';
import { readBodyIndex } from './body-segments.js';
import { readEntryAt } from './entry-at.js';
import { LoadCache } from './load-cache.js';
import { SnapshotStore } from './snapshot-store.js';

/**
 * The bodies within effects, in order; one step for each effect, undefined for those without a body.
 * @throws JOURNAL_DAMAGED
 */
export type CarriedBodies = (
  effects: Uint8Array,
) => Iterable<readonly [number: number, content: Uint8Array] | undefined>;

export interface BodyReaderPorts {
  readonly journal: Pick<Journal, 'readAt'>;
  readonly objects: ObjectStore;
  readonly timers: Pick<Timers, 'yieldToEventLoop'>;
  readonly log: Log;
}

export interface BodyReaderLimits {
  /** The memory for recently fetched bodies and their neighbours. */
  readonly cacheBytes: number;
  /** The memory for indexes of segments, about 12 bytes for each body. */
  readonly indexBytes: number;
  /** Entries and segments fetched in parallel. */
  readonly loads: number;
}

export const DEFAULT_BODY_READER_LIMITS: BodyReaderLimits = {
  cacheBytes: 32 * 1024 * 1024,
  indexBytes: 16 * 1024 * 1024,
  loads: 4,
};

/** Effects decoded between two pauses: less than a millisecond. */
const SLICE_EFFECTS = 128;

interface Known {
  readonly coveredNumber: number;
  readonly segments: ReadonlyMap<PartitionName, readonly BodySegmentRef[]>;
}

export class BodyReader {
  readonly #store: SnapshotStore;
  readonly #blocks: LoadCache<BodyBlock>;
  readonly #contents: LoadCache<BodyBlock>;
  readonly #indexes: LoadCache<BodyIndex>;
  readonly #known = new Map<ShardName, Known>();
  readonly #refreshing = new Map<ShardName, Promise<Known | undefined>>();

  constructor(
    private readonly ports: BodyReaderPorts,
    private readonly carriedBodies: CarriedBodies,
    { cacheBytes, indexBytes, loads }: BodyReaderLimits = DEFAULT_BODY_READER_LIMITS,
  ) {
    this.#store = new SnapshotStore(ports.objects, ports.log);
    this.#blocks = new LoadCache(({ bytes }) => bytes, cacheBytes / 2, loads);
    this.#contents = new LoadCache(({ bytes }) => bytes, cacheBytes / 2, loads);
    this.#indexes = new LoadCache(bytesOfIndex, indexBytes, loads);
  }

  /** Takes a verified snapshot from a caller that has one; otherwise it is searched for when it is needed. */
  adopt({ shard, head, partitions }: Manifest): void {
    if ((this.#known.get(shard)?.coveredNumber ?? -1) >= head.number) return;
    const segments = new Map(partitions.map(({ name, bodySegments = [] }) => [name, bodySegments]));
    this.#known.set(shard, { coveredNumber: head.number, segments });
  }

  /**
   * @param at  position of the entry that brought it; undefined: unknown, because it came with the snapshot
   * @returns a copy
   * @throws JOURNAL_DAMAGED when it is missing; JOURNAL_UNAVAILABLE
   */
  async read(shard: ShardName, partition: PartitionName, number: number, at: number | undefined): Promise<Uint8Array> {
    const brought = at === undefined ? undefined : await this.#fromEntry(shard, partition, number, at);
    if (brought !== undefined) return brought;
    const known = this.#known.get(shard);
    const kept =
      known === undefined ? undefined : await this.#unlessReplaced(() => this.#fromSegments(known, partition, number));
    if (kept !== undefined) return kept;
    // A snapshot that this reader was not told of has written or moved the body.
    const newest = await this.#refresh(shard);
    const found = newest === undefined ? undefined : await this.#fromSegments(newest, partition, number);
    if (found !== undefined) return found;
    throw new MillraceError('JOURNAL_DAMAGED', `${partition}: a body is neither in the journal nor in the snapshot`, {
      shard,
      partition,
      number,
      at,
    });
  }

  async #fromEntry(
    shard: ShardName,
    partition: PartitionName,
    number: number,
    at: number,
  ): Promise<Uint8Array | undefined> {
    const block = await this.#blocks.get(`${shard} ${at} ${partition}`, () => this.#loadEntry(shard, partition, at));
    return block?.find(number);
  }

  async #loadEntry(shard: ShardName, partition: PartitionName, at: number): Promise<BodyBlock | undefined> {
    const entry = await readEntryAt(this.ports.journal, shard, at, this.#pause);
    if (entry === undefined) return undefined;
    const bodies: (readonly [number, Uint8Array])[] = [];
    let count = 0;
    for (const section of entrySections(entry)) {
      if (section.partition !== partition) continue;
      for (const body of this.carriedBodies(section.effects)) {
        if (body !== undefined) bodies.push(body);
        count += 1;
        if (count % SLICE_EFFECTS === 0) await this.ports.timers.yieldToEventLoop();
      }
    }
    return BodyBlock.of(bodies);
  }

  async #fromSegments({ segments }: Known, partition: PartitionName, number: number): Promise<Uint8Array | undefined> {
    for (const ref of segments.get(partition) ?? []) {
      if (number < ref.firstNumber || number > ref.lastNumber) continue;
      const index = await this.#indexes.get(keyOf(ref.index), () =>
        readBodyIndex(this.#store, partition, ref, this.#pause),
      );
      if (index === undefined || placeIn(index, number) === undefined) continue;
      const block = await this.#contents.get(keyOf(ref.bodies), async () => {
        return new BodyBlock(index, await this.#store.readObject(partition, ref.bodies, this.#pause));
      });
      return block?.find(number);
    }
    return undefined;
  }

  /** A missing segment was rewritten: the newest snapshot has the new location. */
  async #unlessReplaced(read: () => Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
    try {
      return await read();
    } catch (error) {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) return undefined;
      throw error;
    }
  }

  #refresh(shard: ShardName): Promise<Known | undefined> {
    const running = this.#refreshing.get(shard);
    if (running !== undefined) return running;
    const refreshing = this.#store
      .newest(shard)
      .then((stored) => {
        // The adopted snapshot is dropped even when it is newer, because it may no longer be valid.
        this.#known.delete(shard);
        if (stored !== undefined) this.adopt(stored.manifest);
        return this.#known.get(shard);
      })
      .finally(() => this.#refreshing.delete(shard));
    this.#refreshing.set(shard, refreshing);
    return refreshing;
  }

  readonly #pause = () => this.ports.timers.yieldToEventLoop();
}

/** After a damaged snapshot the same name may be written again with other bytes. */
function keyOf({ object, sha256 }: SegmentRef): string {
  return `${object} ${Buffer.from(sha256).toString('latin1')}`;
}
