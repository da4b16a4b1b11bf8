import { expect } from 'chai';
import { EntryAssembler, encodeForJournal } from '../../../../src/codec/envelope/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import type { Entry } from '../../../../src/protocol/index.js';
import { goldenEntries } from './golden-values.js';

const CHUNK_BYTES = 300;
const batch = goldenEntries.batch as Entry;
const small = goldenEntries.claim as Entry;
const set = encodeForJournal(batch, CHUNK_BYTES).messages;
const otherSet = encodeForJournal({ ...batch, epoch: batch.epoch + 1 }, CHUNK_BYTES).messages;
const single = encodeForJournal(small, CHUNK_BYTES).messages[0] as Uint8Array;

describe('codec/envelope: joining messages to entries', () => {
  it('has a set of more than two chunks to test with', () => expect(set.length).to.be.greaterThan(3));

  it('drops an incomplete chunk set when an entry follows', () => {
    const read = feed([...set.slice(0, 2), single]);
    expect(read.map(({ entry, firstPosition, position }) => [entry.number, firstPosition, position])).to.deep.equal([
      [small.number, 3, 3],
    ]);
  });

  it('drops an incomplete chunk set when another set follows', () => {
    const read = feed([...set.slice(0, 3), ...otherSet]);
    expect(read.map(({ entry, firstPosition }) => [entry.epoch, firstPosition])).to.deep.equal([[batch.epoch + 1, 4]]);
  });

  it('drops a set without its commit when the same owner starts it again', () => {
    expect(feed([...set.slice(0, -1), ...set])).to.have.length(1);
  });

  it('skips chunks without the purged start of their set', () => {
    expect(feed([...set.slice(1, -1), single])).to.have.length(1);
  });

  it('finds a missing chunk in the middle', () => {
    expectDamage([set[0], set[2]]);
  });

  it('finds a chunk of another owner in the middle', () => {
    expectDamage([set[0], otherSet[1]]);
  });

  it('finds a commit without its last chunk, without any chunk, and of another owner', () => {
    expectDamage([...set.slice(0, -2), set.at(-1)]);
    expectDamage([set.at(-1)]);
    expectDamage([...set.slice(0, -1), otherSet.at(-1)]);
  });

  it('finds a chunk with other bytes than the committed ones', () => {
    const edited = Uint8Array.from(set[1] as Uint8Array);
    edited[edited.length - 1] = (edited[edited.length - 1] as number) ^ 1;
    expectDamage([set[0], edited, ...set.slice(2)]);
  });

  it('continues with the next entry after damage', () => {
    const assembler = new EntryAssembler();
    expect(() => assembler.add(1, set.at(-1) as Uint8Array)).to.throw();
    expect(assembler.add(2, single)?.entry.number).to.equal(small.number);
  });
});

function feed(messages: readonly (Uint8Array | undefined)[]) {
  const assembler = new EntryAssembler();
  return messages.flatMap((bytes, i) => assembler.add(i + 1, bytes as Uint8Array) ?? []);
}

function expectDamage(messages: readonly (Uint8Array | undefined)[]): void {
  try {
    feed(messages);
  } catch (error) {
    expect(isMillraceError(error, 'JOURNAL_DAMAGED'), String(error)).to.equal(true);
    return;
  }
  expect.fail('nothing was found');
}
