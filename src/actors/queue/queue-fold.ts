/**
 * An account's queue as a fold: the engine of live commands, fed with events. Recovery, compaction, the audit commands
 * and the live actor use the same class, so they reach the same state.
 */
import { createHash } from 'node:crypto';
import { decodeQueueEvents, encodeQueueEvent } from '../../codec/queue/index.js';
import { type BodySink, type EngineOptions, QueueEngine } from '../../domain/queue/index.js';
import { appliedInSlices, type BodySource, joinedInSegments, type PartitionFold } from '../../journal/index.js';
import { contentOf, type KeptBody, keptBody } from './body-page.js';

/** Reading and applying an event takes about five microseconds: a slice stays below two milliseconds. */
const SLICE_EVENTS = 256;
const DIGEST_WORDS = 8;

export class QueuePartitionFold implements PartitionFold {
  readonly engine: QueueEngine;
  /** Set in a fold that keeps the bodies itself. */
  declare readonly bodies?: BodySource;

  /** @param sink  receives the bodies; undefined: the fold keeps them, for a compaction to write */
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

  /** The sum of the hashes of all events that rebuild the state; it does not depend on their order. */
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
 * Bodies of the applied events while they are referred to. Short ones are strings, because a million small arrays
 * outside the heap leave holes in the process's memory after they are freed.
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
