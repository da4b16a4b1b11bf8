/** Proves GB1, GB2. */
import { expect } from 'chai';
import { GrowingBytes } from '../../../src/kernel/index.js';

const MANY = 300_000;

describe('a growing byte buffer', () => {
  it('has the appended bytes and texts in order', () => {
    const growing = new GrowingBytes();
    let all = '';
    for (let i = 0; growing.length < MANY; i += 1) {
      const piece = `${i}\xff`.repeat((i % 50) + 1);
      if (i % 2 === 0) growing.appendLatin1(piece);
      else growing.append(Buffer.from(piece, 'latin1'));
      all += piece;
    }
    expect(growing.length).to.equal(all.length);
    expect(growing.take().toString('latin1') === all).to.equal(true);
  });

  it('starts empty after take, and does not change the taken bytes', () => {
    const growing = new GrowingBytes();
    growing.appendLatin1('first');
    const taken = growing.take();
    growing.appendLatin1('other and longer');
    expect([taken.toString(), growing.length, growing.take().toString()]).to.deep.equal([
      'first',
      16,
      'other and longer',
    ]);
  });

  it('drops the bytes that are cut off', () => {
    const growing = new GrowingBytes();
    growing.appendLatin1('kept and dropped');
    growing.cut(4);
    growing.appendLatin1('!');
    expect(growing.take().toString()).to.equal('kept!');
  });

  it('allocates exactly the announced size once a quarter has arrived, so that at most that quarter is moved', () => {
    const memoryAfter = (bytes: number, announcedBytes: number) => {
      const growing = new GrowingBytes(0, announcedBytes);
      for (let i = 0; i < bytes; i += 100) growing.appendLatin1('x'.repeat(100));
      return growing.take().buffer.byteLength;
    };
    const announced = 1_000_000;
    expect(memoryAfter(announced / 4 + 64 * 1024, announced)).to.equal(announced);
    expect(memoryAfter(announced, announced)).to.equal(announced);
    expect(memoryAfter(100, announced), 'what only says so').to.be.lessThan(announced / 4);
    expect(memoryAfter(announced, 100), 'more than was announced').to.be.at.least(announced);
  });

  it('uses at most twice the memory of its contents, and a little more', () => {
    const growing = new GrowingBytes();
    for (let i = 0; i < MANY; i += 100) growing.appendLatin1('x'.repeat(100));
    const { length, buffer } = growing.take();
    expect(buffer.byteLength).to.be.lessThan(2 * length + 128 * 1024);
  });
});
