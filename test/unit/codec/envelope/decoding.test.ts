import { Encoder } from '@msgpack/msgpack';
import { expect } from 'chai';
import fc from 'fast-check';
import { decodeHotBatch } from '../../../../src/codec/envelope/hot-batch.js';
import {
  decodeManifest,
  decodeMessage,
  EntryAssembler,
  encodeEntry,
  encodeForJournal,
  encodeManifest,
} from '../../../../src/codec/envelope/index.js';
import type { CommandId, PartitionName, ShardName } from '../../../../src/kernel/index.js';
import { isMillraceError, isUnreadable } from '../../../../src/kernel/index.js';
import { type Entry, entrySections } from '../../../../src/protocol/index.js';
import { repetitions } from '../../../support/depth.js';
import { goldenEntries, goldenManifest } from './golden-values.js';

const encoder = new Encoder();
const HASH = new Uint8Array(32);
const WRITER = new Uint8Array(16);
const HEADER = ['KV_0', 1, WRITER, 1, HASH, 5];

describe('codec/envelope: bytes that are not a message', () => {
  const malformed: Readonly<Record<string, unknown>> = {
    'no list': { version: 1 },
    'an empty list': [],
    'a version below the first': [0, 0, ...HEADER, ['c']],
    'a version that is a text': ['1', 0, ...HEADER, ['c']],
    'a shard that is a number': [1, 0, 3, 1, WRITER, 1, HASH, 5, ['c']],
    'an epoch that is a fraction': [1, 0, 'KV_0', 1.5, WRITER, 1, HASH, 5, ['c']],
    'an epoch beyond exact integers': [1, 0, 'KV_0', 2 ** 60, WRITER, 1, HASH, 5, ['c']],
    'a writer of 15 bytes': [1, 0, 'KV_0', 1, new Uint8Array(15), 1, HASH, 5, ['c']],
    'a hash of 31 bytes': [1, 0, 'KV_0', 1, WRITER, 1, new Uint8Array(31), 5, ['c']],
    'no clock': [1, 0, 'KV_0', 1, WRITER, 1, HASH],
    'no body': [1, 0, ...HEADER],
    'a claim without a cluster': [1, 0, ...HEADER, []],
    'a batch without sections': [1, 1, ...HEADER, [['id']]],
    'a command id that is a number': [1, 1, ...HEADER, [[1], []]],
    'a section that is no list': [1, 1, ...HEADER, [[], ['section']]],
    'a section without effects': [1, 1, ...HEADER, [[], [['p', 1, HASH]]]],
    'effects that are a text': [1, 1, ...HEADER, [[], [['p', 1, HASH, 'SET']]]],
    'a snapshot without its digest': [1, 2, ...HEADER, ['manifest']],
    'a chunk without bytes': [1, 3, 'KV_0', 1, WRITER, 1, 0],
    'a commit with a short hash': [1, 4, 'KV_0', 1, WRITER, 1, 2, 3, new Uint8Array(3), 5],
    'a commit without a clock': [1, 4, 'KV_0', 1, WRITER, 1, 2, 3, HASH],
  };
  for (const [fault, value] of Object.entries(malformed)) {
    it(`are refused as damage: ${fault}`, () => expectDamage(() => decodeMessage(encoder.encode(value))));
  }

  it('are refused as written by a newer release: a later version, and a later kind', () => {
    const newer =
      /^a journal message was written by a newer release \((version 2|kind 9), this program reads up to \d\): install/;
    for (const value of [
      [2, 0, ...HEADER, ['c']],
      [1, 9, ...HEADER, []],
    ]) {
      expect(() => decodeMessage(encoder.encode(value)))
        .to.throw(newer)
        .with.property('code', 'NEWER_FORMAT');
    }
  });

  it('are refused as damage: an empty message, and half a message', () => {
    expectDamage(() => decodeMessage(new Uint8Array(0)));
    const whole = encodeEntry(goldenEntries.batch as Entry);
    for (const length of [1, 20, whole.length - 1]) expectDamage(() => decodeMessage(whole.subarray(0, length)));
  });

  it('are refused as damage without another error, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expectDamageOrNothing(() => decodeMessage(bytes));
        expectDamageOrNothing(() => decodeManifest(bytes));
      }),
      { numRuns: repetitions(500) },
    );
  });

  it('are refused as damage without another error, when a message has some changed bytes', () => {
    const whole = encodeEntry(goldenEntries.batch as Entry);
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(changes, (edits) => {
        const edited = Uint8Array.from(whole);
        for (const [at, byte] of edits) edited[at] = byte;
        expectDamageOrNothing(() => decodeMessage(edited));
      }),
      { numRuns: repetitions(500) },
    );
  });

  it('of a manifest are refused when any one bit is flipped', () => {
    const whole = encodeManifest(goldenManifest);
    for (let at = 0; at < whole.length; at += 1) {
      const edited = Uint8Array.from(whole);
      edited[at] = (edited[at] as number) ^ (1 << (at % 8));
      expect(refusalOf(() => decodeManifest(edited))).to.satisfy(isUnreadable);
    }
  });
});

describe('codec/envelope: any entry', () => {
  const integer = fc.nat(Number.MAX_SAFE_INTEGER);
  const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const section = fc.record({
    partition: fc.string() as unknown as fc.Arbitrary<PartitionName>,
    index: integer,
    previousHash: bytesOf(32),
    effects: fc.uint8Array({ maxLength: 400 }),
  });
  const authors = fc.tuple(fc.array(fc.string(), { maxLength: 3 }), fc.array(integer, { maxLength: 4 }));
  const known = fc.tuple(section, authors).map(([unknown, of]) => ({ ...unknown, authors: of }));
  const entry: fc.Arbitrary<Entry> = fc.record({
    shard: fc.string() as unknown as fc.Arbitrary<ShardName>,
    epoch: integer,
    writer: bytesOf(16),
    number: integer,
    previousHash: bytesOf(32),
    clockMs: integer,
    body: fc.record({
      kind: fc.constant('batch' as const),
      commandIds: fc.array(fc.string(), { maxLength: 4 }) as unknown as fc.Arbitrary<CommandId[]>,
      sections: fc.array(fc.oneof(section, known), { maxLength: 4 }),
    }),
  });

  it('is read back unchanged, for any chunk size', () => {
    fc.assert(
      fc.property(entry, fc.integer({ min: 1, max: 600 }), (written, chunkBytes) => {
        const { messages, hash, totalBytes } = encodeForJournal(written, chunkBytes);
        const assembler = new EntryAssembler();
        const reads = messages.map((message, i) => assembler.add(i + 1, message));
        expect(reads.slice(0, -1).every((read) => read === undefined)).to.equal(true);
        const read = reads.at(-1);
        expect(Buffer.from(encodeEntry(read?.entry as Entry)).equals(encodeEntry(written))).to.equal(true);
        expect(Buffer.from(read?.hash as Uint8Array).equals(hash)).to.equal(true);
        expect([read?.totalBytes, read?.firstPosition, read?.position]).to.deep.equal([totalBytes, 1, messages.length]);
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('is read by the hand-written decoder if it is a batch, and by it alone if it is complete', () => {
    fc.assert(
      fc.property(entry, fc.nat(), (written, at) => {
        const bytes = encodeEntry(written);
        expect(plain(decodeHotBatch(bytes))).to.deep.equal(plain(written));
        expect(decodeHotBatch(bytes.subarray(0, at % bytes.length))).to.equal(undefined);
        expect(decodeHotBatch(Buffer.concat([bytes, Uint8Array.of(0)]))).to.equal(undefined);
      }),
      { numRuns: repetitions(200) },
    );
    for (const name of ['claim', 'snapshot'])
      expect(decodeHotBatch(encodeEntry(goldenEntries[name] as Entry))).to.equal(undefined);
  });

  it('is read without the fields of a section that a later release has added', () => {
    const section = ['p', 1, HASH, new Uint8Array(2), null, 'later'];
    const bytes = encoder.encode([1, 1, ...HEADER, [['id'], [section]]]);
    expect(decodeHotBatch(bytes)).to.equal(undefined);
    const message = decodeMessage(bytes);
    expect(message.kind === 'entry' && entrySections(message.entry)).to.have.length(1);
  });
});

/** With bytes as arrays of numbers. */
function plain(entry: Entry | undefined): unknown {
  return JSON.parse(
    JSON.stringify(entry, (_, value) => {
      const bytes = value?.type === 'Buffer' ? value.data : value;
      return bytes instanceof Uint8Array ? [...bytes] : bytes;
    }),
  );
}

function expectDamage(decode: () => unknown): void {
  try {
    decode();
  } catch (error) {
    expect(isMillraceError(error, 'JOURNAL_DAMAGED'), String(error)).to.equal(true);
    return;
  }
  expect.fail('it was taken for a message');
}

/** A changed byte may be that of the version. */
function expectDamageOrNothing(decode: () => unknown): void {
  const thrown = refusalOf(decode);
  expect(thrown === undefined || isUnreadable(thrown), String(thrown)).to.equal(true);
}

function refusalOf(decode: () => unknown): unknown {
  try {
    decode();
  } catch (error) {
    return error;
  }
  return undefined;
}
