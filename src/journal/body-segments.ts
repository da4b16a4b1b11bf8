/**
 * Body segments of a partition's snapshot: bodies to which the state refers by number, and which the journal may soon
 * not hold, are copied into separate immutable segments, and from segment to segment while they are needed.
 *
 *  BSE1 every needed body that was in a segment, or is new, is in exactly one segment afterwards
 *  BSE2 a segment with a needed share below half is rewritten, one without a needed body is dropped, all others are
 *       kept without reading: at most twice the needed bytes are stored
 *  BSE3 smaller segments are joined when at least as many bytes are written anyway, so there are few segments and each
 *       byte moves a logarithmic number of times
 *  BSE4 one old and one new segment are in memory at a time
 */
import { type BodyIndex, decodeBodyIndex, encodeBodyIndex } from '../codec/envelope/index.js';
import { MillraceError, type PartitionName } from '../kernel/index.js';
import type { BodySegmentRef } from '../protocol/index.js';
import { BodyBlock } from './body-block.js';
import type { BodySource } from './partition-fold.js';
import type { PartitionTarget } from './snapshot-partition.js';
import type { SnapshotStore } from './snapshot-store.js';

/** Bounds the index of tiny bodies to half a megabyte. */
const MAX_BODIES = 64 * 1024;
/** The size of a joint copy of small bodies. */
const PIECE_BYTES = 64 * 1024;
/** Differences of numbers are stored in 32 bits. */
const MAX_SPREAD = 2 ** 32 - 1;

/**
 * @param before  the segments of the snapshot before
 * @returns the segments of the next one, in order of first number
 * @throws JOURNAL_DAMAGED when one of `before` is missing or has other bytes; JOURNAL_UNAVAILABLE
 */
export async function writeBodySegments(
  store: SnapshotStore,
  target: PartitionTarget,
  before: readonly BodySegmentRef[],
  bodies: BodySource,
  segmentBytes: number,
): Promise<BodySegmentRef[]> {
  const { partition } = target;
  let movedBytes = 0;
  for (const [, content] of bodies.fresh()) movedBytes += content.length;
  const carried: BodySegmentRef[] = [];
  const rewritten: BodySegmentRef[] = [];
  const small: { readonly ref: BodySegmentRef; readonly liveBytes: number }[] = [];
  for (const ref of before) {
    const { count, liveBytes } = liveOf(await readBodyIndex(store, partition, ref), bodies);
    if (count === 0) continue;
    if (2 * liveBytes < ref.bodies.bytes) {
      rewritten.push(ref);
      movedBytes += liveBytes;
    } else if (2 * liveBytes < segmentBytes) small.push({ ref, liveBytes });
    else carried.push(ref);
  }
  for (const { ref, liveBytes } of small.sort((a, b) => a.liveBytes - b.liveBytes)) {
    if (liveBytes > movedBytes) carried.push(ref);
    else {
      rewritten.push(ref);
      movedBytes += liveBytes;
    }
  }
  const writer = new BodySegmentWriter(store, target, segmentBytes, before.length);
  for (const ref of rewritten) {
    for (const [number, content] of await readBodySegment(store, partition, ref)) {
      if (bodies.isNeeded(number)) await writer.add(number, content);
    }
  }
  for (const [number, content] of bodies.fresh()) await writer.add(number, content);
  return [...carried, ...(await writer.close())].sort((a, b) => a.firstNumber - b.firstNumber);
}

/**
 * Writes new bodies only, without changing the existing segments; a later `writeBodySegments` receives both as
 * `before`.
 * @param before  the number of existing segments, from which new names continue. @throws JOURNAL_UNAVAILABLE
 */
export async function writeFreshBodies(
  store: SnapshotStore,
  target: PartitionTarget,
  before: number,
  bodies: BodySource,
  segmentBytes: number,
): Promise<readonly BodySegmentRef[]> {
  const writer = new BodySegmentWriter(store, target, segmentBytes, before);
  for (const [number, content] of bodies.fresh()) await writer.add(number, content);
  return writer.close();
}

/** @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function readBodyIndex(
  store: SnapshotStore,
  partition: PartitionName,
  { index, bodies }: BodySegmentRef,
  pause?: () => Promise<void>,
): Promise<BodyIndex> {
  const decoded = decodeBodyIndex(await store.readObject(partition, index, pause));
  if (decoded.ends.at(-1) === bodies.bytes) return decoded;
  throw new MillraceError('JOURNAL_DAMAGED', `${partition}: a body segment is not as long as its index says`, {
    partition,
    segment: bodies.object,
  });
}

/** @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function readBodySegment(
  store: SnapshotStore,
  partition: PartitionName,
  ref: BodySegmentRef,
  pause?: () => Promise<void>,
): Promise<BodyBlock> {
  const index = await readBodyIndex(store, partition, ref, pause);
  return new BodyBlock(index, await store.readObject(partition, ref.bodies, pause));
}

function liveOf({ numbers, ends }: BodyIndex, bodies: BodySource): { count: number; liveBytes: number } {
  let count = 0;
  let liveBytes = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    if (!bodies.isNeeded(numbers[i] as number)) continue;
    count += 1;
    liveBytes += (ends[i] as number) - (i === 0 ? 0 : (ends[i - 1] as number));
  }
  return { count, liveBytes };
}

class BodySegmentWriter {
  readonly #written: BodySegmentRef[] = [];
  /**
   * Copies, because a view would keep its whole segment in memory; many in one piece, because thousands of small arrays
   * leave holes in the process's memory.
   */
  #open: [number: number, content: Uint8Array][] = [];
  /** The unused rest of the latest piece. */
  #piece = new Uint8Array(0);
  #openBytes = 0;
  #lowest = Number.POSITIVE_INFINITY;
  #highest = 0;

  constructor(
    private readonly store: SnapshotStore,
    private readonly target: PartitionTarget,
    private readonly segmentBytes: number,
    /** The ordinal of the first segment that it writes. */
    private readonly firstOrdinal: number,
  ) {}

  async add(number: number, content: Uint8Array): Promise<void> {
    const spread = Math.max(this.#highest, number) - Math.min(this.#lowest, number);
    if (this.#open.length > 0 && (this.#isFull(content.length) || spread > MAX_SPREAD)) await this.#flush();
    if (content.length > this.#piece.length) this.#piece = new Uint8Array(Math.max(PIECE_BYTES, content.length));
    this.#piece.set(content);
    this.#open.push([number, this.#piece.subarray(0, content.length)]);
    this.#piece = this.#piece.subarray(content.length);
    this.#openBytes += content.length;
    this.#lowest = Math.min(this.#lowest, number);
    this.#highest = Math.max(this.#highest, number);
  }

  async close(): Promise<readonly BodySegmentRef[]> {
    if (this.#open.length > 0) await this.#flush();
    return this.#written;
  }

  #isFull(nextBytes: number): boolean {
    return this.#openBytes + nextBytes > this.segmentBytes || this.#open.length >= MAX_BODIES;
  }

  async #flush(): Promise<void> {
    const { index, contents } = BodyBlock.of(this.#open);
    const { shard, number, partition } = this.target;
    const ordinal = this.firstOrdinal + this.#written.length;
    this.#written.push({
      bodies: await this.store.writeSegment(shard, number, partition, `b${ordinal}`, contents),
      index: await this.store.writeSegment(shard, number, partition, `i${ordinal}`, encodeBodyIndex(index)),
      firstNumber: this.#lowest,
      lastNumber: this.#highest,
    });
    this.#open = [];
    this.#openBytes = 0;
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#highest = 0;
  }
}
