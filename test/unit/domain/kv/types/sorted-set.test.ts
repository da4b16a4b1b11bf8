/** Proves ZS2, ZS3. */
import { expect } from 'chai';
import { MAX_LEAF_ENTRIES } from '../../../../../src/domain/kv/types/score-tree.js';
import { SortedSet } from '../../../../../src/domain/kv/types/sorted-set.js';
import { UndoLog } from '../../../../../src/domain/kv/undo-log.js';
import { seededRandom } from '../../../../support/kv-bench.js';

describe('sorted sets', () => {
  it('have no index while they fit into one leaf, and are then scanned in one step (ZS2)', () => {
    const set = new SortedSet();
    for (let i = 0; i < MAX_LEAF_ENTRIES; i += 1) set.put(`m${i}`, i);
    expect(set.scan(0, 1)).to.deep.include({ cursor: 0 });
    expect(set.scan(0, 1).entries.length).to.equal(MAX_LEAF_ENTRIES);
    set.put('one more', 0);
    const { cursor, entries } = set.scan(0, 1);
    expect(cursor).not.to.equal(0);
    expect(entries.length).to.be.below(MAX_LEAF_ENTRIES);
    for (let i = 0; i < MAX_LEAF_ENTRIES; i += 1) expect(set.scoreOf(`m${i}`)).to.equal(i);
  });

  it('count bytes that follow from their contents alone, after any changes and undos (ZS3)', () => {
    const { float } = seededRandom(15);
    const below = (limit: number): number => Math.floor(float() * limit);
    const set = new SortedSet();
    for (let i = 0; i < 4000; i += 1) {
      const undo = new UndoLog();
      if (float() < 0.2) undo.follow(set);
      const member = `m${below(120)}`.padEnd(below(3) * 20, '.');
      if (float() < 0.7) set.put(member, below(9));
      else set.remove(member);
      if (set.undo !== undefined) undo.revertCollections();
      if (i % 100 > 0) continue;
      const again = new SortedSet();
      for (const [name, score] of [...set].reverse()) again.put(name, score);
      for (const other of [again, set.clone()]) {
        expect([other.bytes, other.payloadBytes]).to.deep.equal([set.bytes, set.payloadBytes]);
      }
    }
    for (const [member] of [...set]) set.remove(member);
    expect([set.bytes, set.payloadBytes]).to.deep.equal([0, 0]);
  });
});
