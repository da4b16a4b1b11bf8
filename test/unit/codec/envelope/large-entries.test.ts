/** An entry that is encoded in steps has the same bytes and hashes as one encoded in one call. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type BatchEntry,
  encodeForJournal,
  encodeInSteps,
  hashSection,
  hashSectionInSteps,
  joinedInSteps,
} from '../../../../src/codec/envelope/index.js';
import type { CommandId, PartitionName, ShardName } from '../../../../src/kernel/index.js';
import type { Section } from '../../../../src/protocol/index.js';
import { repetitions } from '../../../support/depth.js';

function ended<Result>(steps: Iterator<void, Result>): { readonly result: Result; readonly pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, pauses };
  }
}

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const section = fc.record({
  partition: fc.string().map((name) => name as PartitionName),
  index: fc.nat(),
  previousHash: hash,
  effects: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom(255, 256, 65_535, 65_536, 600_000).map((bytes) => new Uint8Array(bytes).fill(7)),
  ),
  authors: fc.option(fc.tuple(fc.array(fc.string()), fc.array(fc.nat())), { nil: undefined }),
});
const entry = fc.record({
  shard: fc.string().map((name) => name as ShardName),
  epoch: fc.nat(),
  writer: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  number: fc.maxSafeNat(),
  previousHash: hash,
  clockMs: fc.maxSafeNat(),
  body: fc.record({
    kind: fc.constant('batch' as const),
    commandIds: fc.array(fc.string().map((id) => id as CommandId)),
    sections: fc.array(section, { maxLength: 20 }),
  }),
});

function expectSame(given: BatchEntry, chunkBytes: number): void {
  const made = ended(encodeInSteps(given, chunkBytes)).result;
  const expected = encodeForJournal(given, chunkBytes);
  expect(made.totalBytes).to.equal(expected.totalBytes);
  expect(Buffer.from(made.hash).equals(expected.hash)).to.equal(true);
  expect(made.messages.map((message) => message.length)).to.deep.equal(expected.messages.map(({ length }) => length));
  for (const [at, message] of made.messages.entries()) {
    expect(Buffer.from(message).equals(expected.messages[at] as Uint8Array), `message ${at}`).to.equal(true);
  }
}

describe('codec/envelope: large entries', () => {
  it('have the same bytes as others, in one message or in chunks', () => {
    fc.assert(
      fc.property(entry, fc.constantFrom(100, 255, 256, 70_000, 10_000_000), (given, chunkBytes) => {
        expectSame(given, chunkBytes);
      }),
      { numRuns: repetitions(100) },
    );
  });

  it('may have more sections than a short list has items', () => {
    const one = fc.sample(entry, 1)[0] as BatchEntry;
    const part = fc.sample(section, 1)[0] as Section;
    for (const count of [15, 16, 70_000]) {
      const sections = Array.from({ length: count }, () => ({
        ...part,
        effects: new Uint8Array(3),
        authors: undefined,
      }));
      expectSame({ ...one, body: { ...one.body, sections } }, 512 * 1024);
    }
  });

  it('have the hashes of their sections', () => {
    fc.assert(
      fc.property(section, (given) => {
        expect(Buffer.from(ended(hashSectionInSteps(given)).result).equals(hashSection(given))).to.equal(true);
      }),
    );
  });

  it('are hashed and cut without blocking the loop', () => {
    const one = fc.sample(entry, 1)[0] as BatchEntry;
    const part = fc.sample(section, 1)[0] as Section;
    const large = { ...part, effects: new Uint8Array(8 * 1024 * 1024).fill(1) };
    const { result, pauses } = ended(encodeInSteps({ ...one, body: { ...one.body, sections: [large] } }, 512 * 1024));
    expect(result.messages).to.have.length(18);
    expect(pauses).to.be.at.least(32);
    expect(ended(hashSectionInSteps(large)).pauses).to.equal(16);
  });

  it('are joined from pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(section), (given) => {
        const pieces = given.map(({ effects }) => effects);
        expect(Buffer.from(ended(joinedInSteps(pieces)).result).equals(Buffer.concat(pieces))).to.equal(true);
      }),
      { numRuns: repetitions(30) },
    );
  });

  it('are joined without blocking the loop, and a single piece is not copied', () => {
    const megabyte = new Uint8Array(1024 * 1024).fill(1);
    expect(ended(joinedInSteps([new Uint8Array(10), ...Array(8).fill(megabyte)])).pauses).to.be.at.least(16);
    expect(ended(joinedInSteps([megabyte]))).to.deep.equal({ result: megabyte, pauses: 0 });
  });
});
