/** Plain SETs are applied from the bytes of a block, with the same resulting state as one by one. */
import { expect } from 'chai';
import fc from 'fast-check';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { encodeCommand, MalformedRespError } from '../../../src/codec/resp/index.js';
import { repetitions } from '../../support/depth.js';

const keyOf = (n: number) => (n % 7 === 0 ? `${n}`.padEnd(300, 'x') : `key:${n}`);
const key = fc.nat(1500).map(keyOf);
const value = fc.constantFrom('', 'v', '\x00\xff', 'v'.repeat(16), 'w'.repeat(64), 'x'.repeat(1024), 'y'.repeat(1025));
const set = fc.tuple(key, value).map(([name, text]) => ['SET', name, text]);
/** Commands that create or remove a value that a plain SET has to respect. */
const other = fc.oneof(
  key.map((name) => ['DEL', name]),
  fc.tuple(key, value).map(([name, text]) => ['SET', name, text, 'PXAT', '4102444800000']),
  key.map((name) => ['PERSIST', name]),
  key.map((name) => ['DEL', name]),
  fc.constant(['FLUSHALL']),
);
/** Enough keys for several segments, because a small keyspace is a Map. */
const FULL = Array.from({ length: 1200 }, (_, n) => ['SET', keyOf(n), `first ${n}`]);

const blockOf = (commands: readonly (readonly string[])[]) =>
  Buffer.from(commands.map(encodeCommand).join(''), 'latin1');

function held(fold: ReturnType<typeof replayFold>) {
  const { keyspace } = fold.engine;
  return {
    digest: fold.digest(),
    size: fold.size,
    bytes: keyspace.bytes,
    expiring: keyspace.expiring,
    segments: Buffer.concat([...fold.segments(64 * 1024)]).toString('latin1'),
  };
}

describe('the fold of a database', () => {
  it('gives the same state for a block of commands as for its commands one by one', () => {
    const commands = fc.array(fc.oneof({ weight: 20, arbitrary: set }, other), { maxLength: 400, size: 'max' });
    fc.assert(
      fc.property(commands, (behind) => {
        const all = [...FULL, ...behind];
        const atOnce = replayFold();
        atOnce.apply(blockOf(all));
        const inSlices = replayFold();
        for (const _ of inSlices.applyInSlices(blockOf(all)));
        const oneByOne = replayFold();
        for (const words of all) oneByOne.engine.replay(words);
        expect(held(atOnce)).to.deep.equal(held(oneByOne));
        expect(held(inSlices)).to.deep.equal(held(oneByOne));
      }),
      { numRuns: repetitions(40) },
    );
  });

  it('replaces a collection, and a string changed in place, by the string of a SET', () => {
    const commands = [...FULL, ['RPUSH', 'key:1201', 'a', 'b'], ['SETRANGE', 'key:1', '3000', 'z']];
    const set = ['key:1201', 'key:1'].map((name) => ['SET', name, 'now a string']);
    const fold = replayFold();
    fold.apply(blockOf([...commands, ...set]));
    const { keyspace } = fold.engine;
    expect([keyspace.stored('key:1201'), keyspace.stored('key:1')]).to.deep.equal(['now a string', 'now a string']);
    const other = replayFold();
    for (const words of [...commands, ...set]) other.engine.replay(words);
    expect(held(fold)).to.deep.equal(held(other));
  });

  for (const cut of [
    '*3\r\n$3\r\nSET\r\n',
    '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nval',
    '*3\r\n$3\r\nSET\r\n$1\r\nkk\r\n$1\r\nv\r\n',
  ]) {
    it(`reports ${JSON.stringify(cut)} as damaged`, () => {
      expect(() => replayFold().apply(Buffer.from(cut))).to.throw(MalformedRespError);
    });
  }
});
