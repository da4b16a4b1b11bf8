/** Proves LB1, LB2, LI1. */
import { expect } from 'chai';
import { List } from '../../../../src/domain/kv/types/list.js';
import { BLOCK_ELEMENTS, ListBlocks } from '../../../../src/domain/kv/types/list-blocks.js';
import { UndoLog } from '../../../../src/domain/kv/undo-log.js';
import { Dice } from '../../../support/random-programs/index.js';

describe('a list in blocks', () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    it(`equals an array after random changes (seed ${seed})`, () => {
      const dice = new Dice(seed);
      const blocks = new ListBlocks();
      let model: string[] = [];
      const item = () => dice.pick(['a', 'bb', '17', 'c'.repeat(70), `n${dice.below(20)}`]);
      for (let step = 0; step < 4000; step += 1) {
        const choice = dice.float();
        const index = dice.below(model.length);
        if (choice < 0.25) {
          for (let i = 0; i < 40; i += 1) {
            const pushed = item();
            blocks.push('tail', pushed);
            model.push(pushed);
          }
        } else if (choice < 0.4) {
          const pushed = item();
          blocks.push('head', pushed);
          model.unshift(pushed);
        } else if (choice < 0.6) {
          const inserted = item();
          blocks.insert(index, inserted);
          model.splice(index, 0, inserted);
        } else if (choice < 0.7 && model.length > 0) {
          const put = item();
          blocks.replace(index, put);
          model[index] = put;
        } else if (choice < 0.75) {
          expect(blocks.pop('head')).to.equal(model.shift());
          expect(blocks.pop('tail')).to.equal(model.pop());
        } else if (choice < 0.8) {
          const dropped = Math.min(model.length, dice.below(300));
          blocks.drop('head', dropped);
          model = model.slice(dropped);
        } else if (choice < 0.83) {
          const dropped = Math.min(model.length, dice.below(300));
          blocks.drop('tail', dropped);
          model.length -= dropped;
        } else if (choice < 0.86) {
          const removed = item();
          const limit = 1 + dice.below(200);
          const from = dice.pick(['head', 'tail'] as const);
          expect(remove(blocks, removed, limit, from)).to.equal(removeFrom(model, removed, limit, from));
        } else if (model.length > 0) {
          expect(blocks.at(index)).to.equal(model[index]);
        }
        if (step % 200 === 0) expectAlike(blocks, model);
      }
      expectAlike(blocks, model);
      expectAlike(blocks.clone(), model);
    });
  }

  it('finds its elements in many chapters', () => {
    const blocks = new ListBlocks();
    const count = BLOCK_ELEMENTS * 512 * 3;
    for (let i = count / 2; i < count; i += 1) blocks.push('tail', String(i));
    for (let i = count / 2 - 1; i >= 0; i -= 1) blocks.push('head', String(i));
    for (let i = 0; i < count; i += 997) expect(blocks.at(i)).to.equal(String(i));
    blocks.drop('head', count / 2);
    expect(blocks.at(0)).to.equal(String(count / 2));
    const from = count / 4;
    const [, first] = blocks.blocks('tail', from).next().value as [unknown, number];
    expect(first).to.be.within(from - BLOCK_ELEMENTS, from);
  });

  it('has no empty block or chapter, nor one above its bound, after growth and shrinking (LB1, LB2)', () => {
    const blocks = new ListBlocks();
    const chapter = BLOCK_ELEMENTS * CHAPTER_BLOCKS;
    for (let i = 0; i < chapter + 1; i += 1) blocks.push('tail', 'old');
    for (let i = 0; i < chapter + 1; i += 1) blocks.push('head', 'new');
    expectBounds(blocks, 4);
    // Blocks that are split double in number: the chapter that they stand in becomes two.
    for (let i = 0; i < CHAPTER_BLOCKS; i += 1) blocks.insert(chapter + 1 + BLOCK_ELEMENTS * i, 'between');
    expectBounds(blocks, 5);
    expect(remove(blocks, 'old', Number.POSITIVE_INFINITY, 'tail')).to.equal(chapter + 1);
    expectBounds(blocks, 4);
    blocks.drop('head', chapter);
    while (blocks.count > BLOCK_ELEMENTS + 1) blocks.take(BLOCK_ELEMENTS);
    expectBounds(blocks, 3);
    while (blocks.count > 1) blocks.pop('tail');
    expectBounds(blocks, 1);
    blocks.take(0);
    expectBounds(blocks, 0);
  });
});

describe('the bytes of a list', () => {
  it('follow from its elements alone, after any changes and undos (LI1)', () => {
    const dice = new Dice(3);
    const item = () => dice.pick(['', 'a', '17', 'c'.repeat(300)]);
    const list = new List();
    for (let step = 0; step < 1500; step += 1) {
      const undo = new UndoLog();
      if (dice.float() < 0.3) undo.follow(list);
      change(list, dice, item);
      if (list.undo !== undefined) undo.revertCollections();
      if (step % 50 > 0) continue;
      const again = new List();
      for (const word of [...list.contents()].toReversed()) again.push('head', word);
      expect([again.bytes, list.clone().bytes]).to.deep.equal([list.bytes, list.bytes]);
    }
    expect(list.size).to.be.greaterThan(100);
  });
});

describe('the encoding of a list', () => {
  it('becomes quicklist when the packed form would exceed its limit, and listpack again at half of it', () => {
    const list = new List();
    list.willGrow(4, 4, 4);
    for (const item of 'abcd') list.push('tail', item);
    expect(list.encoding).to.equal('listpack');
    list.willGrow(4, 1, 1);
    list.push('tail', 'e');
    expect(list.encoding).to.equal('quicklist');
    list.drop('tail', 2);
    list.hasShrunk(4);
    expect(list.encoding).to.equal('quicklist');
    list.drop('tail', 1);
    list.hasShrunk(4);
    expect(list.encoding).to.equal('listpack');
  });

  it('follows the bytes where the limit is a size class', () => {
    const list = new List();
    list.willGrow(-1, 4000, 1);
    list.push('tail', 'x'.repeat(4000));
    expect(list.encoding).to.equal('listpack');
    list.willGrow(-1, 100, 1);
    expect(list.encoding).to.equal('quicklist');
  });
});

/** How many blocks a chapter has at most. */
const CHAPTER_BLOCKS = 512;

/** A removal stops after each chapter: with one marked element in each block, it counts the blocks. */
function expectBounds(list: ListBlocks, chapters: number): void {
  const blocks = list.clone();
  for (const [{ items }, first] of list.blocks()) {
    expect(items.length).to.be.within(1, BLOCK_ELEMENTS);
    blocks.replace(first, 'mark');
  }
  let marks = 0;
  let met = 0;
  const steps = blocks.remove('mark', Number.POSITIVE_INFINITY, 'head', () => {
    marks += 1;
  });
  while (steps.next().done !== true) {
    expect(marks).to.be.within(1, CHAPTER_BLOCKS);
    marks = 0;
    met += 1;
  }
  expect(met).to.equal(chapters);
}

function change(list: List, dice: Dice, item: () => string): void {
  const index = dice.below(list.size);
  const end = dice.pick(['head', 'tail'] as const);
  const choice = list.size === 0 ? 0 : dice.below(9);
  if (choice < 4) for (let i = 0; i < 5; i += 1) list.push(end, item());
  else if (choice === 4) list.insert(index, item());
  else if (choice === 5) list.replace(index, item());
  else if (choice === 6) list.pop(end);
  else if (choice === 7) list.drop(end, Math.min(list.size, dice.below(12)));
  else for (const _ of list.remove(item(), 3, end));
}

function remove(blocks: ListBlocks, item: string, limit: number, from: 'head' | 'tail'): number {
  const steps = blocks.remove(item, limit, from);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function removeFrom(model: string[], item: string, limit: number, from: 'head' | 'tail'): number {
  let removed = 0;
  while (removed < limit) {
    const at = from === 'head' ? model.indexOf(item) : model.lastIndexOf(item);
    if (at < 0) break;
    model.splice(at, 1);
    removed += 1;
  }
  return removed;
}

function expectAlike(blocks: ListBlocks, model: readonly string[]): void {
  const forwards: string[] = [];
  for (const [{ items }, first] of blocks.blocks()) {
    expect(first).to.equal(forwards.length);
    expect(items.length).to.be.within(1, BLOCK_ELEMENTS);
    forwards.push(...items);
  }
  expect(forwards).to.deep.equal(model);
  const backwards: string[] = [];
  for (const [{ items }, first] of blocks.blocks('tail')) {
    backwards.unshift(...items);
    expect(first).to.equal(model.length - backwards.length);
  }
  expect(backwards).to.deep.equal(model);
  expect(blocks.count).to.equal(model.length);
  expect(blocks.textBytes).to.equal(model.join('').length);
}
