/** Proves PIX2: indexing takes at most half of the time of a busy event loop, and two thirds of that of an idle one. */
import { expect } from 'chai';
import type { OwnedPartition } from '../../../src/actors/kv-shard/owned-partition.js';
import { PartitionIndexing } from '../../../src/actors/kv-shard/partition-indexing.js';

/** One step of the work of an index. */
const STEP_MS = 0.05;
const ROUNDS = 2000;

describe('the slices of indexing', () => {
  let nowMs: number;
  let indexedMs: number;
  let indexing: PartitionIndexing;

  beforeEach(() => {
    nowMs = 0;
    indexedMs = 0;
    const searches = {
      size: 1,
      hasWork: true,
      workUntil(isOver: () => boolean) {
        while (!isOver()) {
          nowMs += STEP_MS;
          indexedMs += STEP_MS;
        }
      },
    };
    const graphs = { size: 0, hasWork: false, workUntil: () => undefined };
    const owned = {
      engine: { searches, graphs },
      indexWaits: { size: 0, takeReady: () => [] },
      underway: undefined,
      isInDoubt: false,
    } as unknown as OwnedPartition;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    indexing = new PartitionIndexing(
      clock,
      () => undefined,
      () => undefined,
    );
    indexing.look(owned);
  });

  /** @returns the share of the time that indexing takes when each round of the event loop has so much other work */
  function shareBeside(otherMs: number): number {
    let longestMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = indexedMs;
      indexing.run();
      longestMs = Math.max(longestMs, indexedMs - before);
      nowMs += otherMs === 0 ? 0.01 : otherMs;
      const { inMs = 0 } = indexing;
      // A timer of one millisecond fires when other work has taken longer.
      if (otherMs === 0) nowMs += inMs;
    }
    expect(longestMs).to.be.below(1 + 2 * STEP_MS);
    return indexedMs / nowMs;
  }

  it('take at most two thirds of the time while the event loop has no other work', () => {
    expect(shareBeside(0)).to.be.within(0.45, 0.67);
  });

  it('take a quarter of a millisecond each while clients send a request every few milliseconds', () => {
    let longestMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = indexedMs;
      indexing.run();
      // The first slices come before the first request.
      if (round > 10) longestMs = Math.max(longestMs, indexedMs - before);
      nowMs += round % 10 === 0 ? 0.2 : 0.01;
      if (round % 10 !== 0) nowMs += indexing.inMs ?? 0;
    }
    expect(longestMs).to.be.below(0.25 + 2 * STEP_MS);
    expect(indexedMs / nowMs).to.be.within(0.3, 0.67);
  });

  for (const otherMs of [0.15, 0.5, 1, 5]) {
    it(`take at most half of the time when each round has ${otherMs} ms of other work`, () => {
      const share = shareBeside(otherMs);
      expect(share).to.be.within(0.1, 0.55);
    });
  }
});
