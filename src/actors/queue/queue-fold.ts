/**
 * An account's queue as a fold: the engine that runs live commands, fed with events. Recovery, the
 * compactor, the audit commands and the live actor hold the same object, so they end alike.
 */
import { createHash } from 'node:crypto';
import { decodeQueueEvents, encodeQueueEvent } from '../../codec/queue/index.js';
import { type BodySink, type EngineOptions, QueueEngine } from '../../domain/queue/index.js';
import { appliedInSlices, type BodySource, joinedInSegments, type PartitionFold } from '../../journal/index.js';
import { contentOf, type KeptBody, keptBody } from './body-page.js';

/** An event takes some five microseconds to read and to apply: a slice stays below two milliseconds. */
const SLICE_EVENTS = 256;
const DIGEST_WORDS = 8;

export class QueuePartitionFold implements PartitionFold {
  readonly engine: QueueEngine;
  /** There in a fold that keeps the bodies itself. */
  declare readonly bodies?: BodySource;

  /** @param sink where the bodies go; left out: they are kept here, for a compaction to write down */
  constructor(sink?: BodySink, options?: EngineOptions) {
    if (sink !== undefined) {
      this.engine = new QueueEngine(sink, options);
      return;
    }
    const kept = new KeptBodies();
    const engine = new QueueEngine(kept);
    this.engine = engine;
    this.bodies = {
      fresh: () => kept.inOrder(),
      forgetFresh: () => kept.clear(),
      isNeeded: (number) => engine.isNeeded(number),
    };
  }

  apply(effects: Uint8Array): void {
    for (const event of decodeQueueEvents(effects)) this.engine.evolve(event);
  }

  applyInSlices(effects: Uint8Array): Iterable<void> {
    return appliedInSlices(decodeQueueEvents(effects), SLICE_EVENTS, (event) => this.engine.evolve(event));
  }

  segments(segmentBytes: number): Iterable<Uint8Array> {
    return joinedInSegments(this.#pieces(), segmentBytes);
  }

  *#pieces(): Iterable<Uint8Array> {
    for (const event of this.engine.rebuildingEvents()) yield encodeQueueEvent(event);
  }

  /** The sum of the hashes of all events that rebuild the state: in whatever order they come. */
  digest(): string {
    const sum = new Uint32Array(DIGEST_WORDS);
    for (const piece of this.#pieces()) {
      const hash = createHash('sha256').update(piece).digest();
      for (let word = 0; word < DIGEST_WORDS; word += 1) {
        sum[word] = (sum[word] as number) + hash.readUInt32LE(word * 4);
      }
    }
    return Buffer.from(sum.buffer).toString('hex');
  }

  get size(): number {
    return this.engine.size;
  }
}

/**
 * Contents that came with the events applied so far, until nothing refers to them any more. As strings where they are
 * short: a million small arrays outside the heap leave holes in the process's memory that stay when they have gone.
 */
class KeptBodies implements BodySink {
  readonly #contentsByNumber = new Map<number, KeptBody>();

  put(number: number, content: Uint8Array): void {
    this.#contentsByNumber.set(number, keptBody(content));
  }

  drop(number: number): void {
    this.#contentsByNumber.delete(number);
  }

  clear(): void {
    this.#contentsByNumber.clear();
  }

  *inOrder(): Iterable<readonly [number, Uint8Array]> {
    for (const number of [...this.#contentsByNumber.keys()].sort((a, b) => a - b)) {
      const kept = this.#contentsByNumber.get(number);
      if (kept !== undefined) yield [number, contentOf(kept)];
    }
  }
}
