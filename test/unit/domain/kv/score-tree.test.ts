/** Proves SCT1–SCT3. */
import { expect } from 'chai';
import { ScoreTree } from '../../../../src/domain/kv/types/score-tree.js';
import { seededRandom } from '../../../support/kv-bench.js';

type Entry = [number, string];

const inOrder = (one: Entry, other: Entry): number => one[0] - other[0] || (one[1] < other[1] ? -1 : 1);

function contents(tree: ScoreTree): Entry[] {
  const entries: Entry[] = [];
  tree.walk(0, tree.size, (member, score) => entries.push([score, member]));
  return entries;
}

describe('score tree', () => {
  it('agrees with a sorted list through thousands of insertions and deletions, growing and shrinking', () => {
    const random = seededRandom(7);
    const pick = (below: number): number => Math.floor(random.float() * below);
    const tree = new ScoreTree();
    const entries = new Map<string, Entry>();
    for (let step = 0; step < 40_000; step += 1) {
      const isGrowing = step < 20_000;
      const member = `m${pick(8000)}`;
      const known = entries.get(member);
      if (known !== undefined) {
        expect(tree.delete(known[0], member)).to.equal(true);
        entries.delete(member);
      } else if (isGrowing || pick(4) === 0) {
        const score = pick(50) - 25;
        tree.insert(score, member);
        entries.set(member, [score, member]);
      }
    }
    const sorted = [...entries.values()].sort(inOrder);
    expect(tree.size).to.equal(sorted.length);
    expect(contents(tree)).to.deep.equal(sorted);
    for (let rank = 0; rank < sorted.length; rank += 1) {
      const [score, member] = sorted[rank] as Entry;
      expect(tree.rankOf(score, member)).to.equal(rank);
    }
    for (let bound = -26; bound <= 26; bound += 1) {
      expect(tree.countWhile((score) => score < bound)).to.equal(sorted.filter(([score]) => score < bound).length);
    }
    for (const [score, member] of sorted) expect(tree.delete(score, member)).to.equal(true);
    expect(tree.size).to.equal(0);
    expect(contents(tree)).to.deep.equal([]);
  });

  it('walks any range both ways', () => {
    const tree = new ScoreTree();
    for (let i = 0; i < 1000; i += 1) tree.insert(i, `m${i}`);
    for (const [from, to] of [
      [0, 1000],
      [63, 66],
      [500, 500],
      [990, 2000],
    ] as const) {
      const forth: number[] = [];
      const back: number[] = [];
      tree.walk(from, to, (_, score) => forth.push(score));
      tree.walkBack(from, to, (_, score) => back.push(score));
      expect(forth).to.deep.equal(Array.from({ length: Math.min(to, 1000) - from }, (_, i) => from + i));
      expect(back.reverse()).to.deep.equal(forth);
    }
  });

  it('reports a missing entry', () => {
    const tree = new ScoreTree();
    tree.insert(1, 'a');
    expect(tree.delete(2, 'a')).to.equal(false);
    expect(tree.delete(1, 'b')).to.equal(false);
    expect(tree.size).to.equal(1);
  });
});
