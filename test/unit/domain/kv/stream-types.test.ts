/** Proves SO1. */
import { expect } from 'chai';
import { parseUnsigned64 } from '../../../../src/domain/kv/numbers.js';
import { OrderedBlocks } from '../../../../src/domain/kv/types/ordered-blocks.js';
import {
  formatId,
  idAfter,
  idBefore,
  MAX_ID,
  MIN_ID,
  nextInMillisecond,
  packId,
} from '../../../../src/domain/kv/types/stream-id.js';
import { seededRandom } from '../../../support/kv-bench.js';

const MAX_64 = (1n << 64n) - 1n;

describe('key-value types: stream ids', () => {
  it('keep 64 bits of both parts and their order', () => {
    const texts = [
      '0-0',
      '0-1',
      '1-0',
      '255-256',
      '4294967295-4294967296',
      '9007199254740993-7',
      `${MAX_64}-${MAX_64}`,
    ];
    const ids = texts.map((text) => {
      const [ms = '', sequence = ''] = text.split('-');
      return packId(parseUnsigned64(ms) ?? 0, parseUnsigned64(sequence) ?? 0);
    });
    expect(ids.map(formatId)).to.deep.equal(texts);
    expect([...ids].reverse().sort()).to.deep.equal(ids);
  });

  it('have neighbours, except at the ends', () => {
    expect(formatId(idAfter(packId(5, MAX_64)) as string)).to.equal('6-0');
    expect(formatId(idBefore(packId(6, 0)) as string)).to.equal(`5-${MAX_64}`);
    expect(formatId(idAfter(packId(9007199254740991, 9007199254740991)) as string)).to.equal(
      '9007199254740991-9007199254740992',
    );
    expect(idAfter(MAX_ID)).to.equal(undefined);
    expect(idBefore(MIN_ID)).to.equal(undefined);
    expect(nextInMillisecond(packId(5, MAX_64))).to.equal(undefined);
  });

  it('are parsed as C parses numbers, up to 64 bits', () => {
    expect(parseUnsigned64('007')).to.equal(7);
    expect(parseUnsigned64(String(MAX_64))).to.equal(MAX_64);
    for (const text of ['', '-1', 'x', '1.5', String(MAX_64 + 1n)])
      expect(parseUnsigned64(text), text).to.equal(undefined);
  });
});

describe('key-value types: values in the order of ids', () => {
  it('equal a plain sorted list after random changes', () => {
    const { float } = seededRandom(7);
    const order = new OrderedBlocks<number>();
    const model = new Map<string, number>();
    for (let i = 0; i < 6000; i += 1) {
      const id = packId(Math.floor(float() * 3000), 0);
      if (float() < 0.7) {
        order.set(id, i);
        model.set(id, i);
      } else {
        expect(order.delete(id)).to.equal(model.get(id));
        model.delete(id);
      }
    }
    const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(order.size).to.equal(sorted.length);
    expect([...order.entries()]).to.deep.equal(sorted);
    expect([...order.clone((value) => value).entries()]).to.deep.equal(sorted);
    const from = packId(700, 0);
    const to = packId(2200, 0);
    const between = sorted.filter(([id]) => id >= from && id <= to).map(([, value]) => value);
    const met: number[] = [];
    order.walk(from, to, (_, value) => met.push(value) > 0);
    expect(met).to.deep.equal(between);
    const back: number[] = [];
    order.walkBack(from, to, (_, value) => back.push(value) > 0);
    expect(back).to.deep.equal(between.reverse());
  });

  it('know the highest id of each block after an insertion split a block', () => {
    const order = new OrderedBlocks<number>();
    for (let i = 2; i <= 256; i += 2) order.append(packId(i, 0), i);
    expect(order.blockCount).to.equal(1);
    order.set(packId(3, 0), 3);
    expect(order.blockCount).to.equal(2);
    expect(order.firstBlockLastMetId).to.equal([...order.blocks()][0]?.at(-1));
    order.shiftBlock();
    expect(order.firstBlockLastMetId).to.equal(packId(256, 0));
  });

  it('drop whole blocks from the front', () => {
    const order = new OrderedBlocks<number>();
    const limits = { maxEntries: 10, maxBytes: 1000 };
    for (let i = 1; i <= 2000; i += 1) order.append(packId(i, 0), i, 1, limits);
    expect(order.blockCount).to.equal(200);
    for (let i = 0; i < 150; i += 1) expect(order.shiftBlock()).to.have.length(10);
    expect(order.size).to.equal(500);
    expect(order.firstId).to.equal(packId(1501, 0));
    expect(order.get(packId(1500, 0))).to.equal(undefined);
    expect(order.get(packId(1777, 0))).to.equal(1777);
    while (order.size > 0) order.shiftBlock();
    expect(order.firstId).to.equal(undefined);
    order.append(packId(3000, 0), 3000, 1, limits);
    expect(order.lastId).to.equal(packId(3000, 0));
  });
});
