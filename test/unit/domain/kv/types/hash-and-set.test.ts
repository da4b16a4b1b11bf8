/** Proves FE1, FE2, HV1, HV2, SV1, PW1, PW2. */
import { expect } from 'chai';
import { FieldExpiries } from '../../../../../src/domain/kv/types/field-expiries.js';
import { HashValue } from '../../../../../src/domain/kv/types/hash-value.js';
import { findWord, packWord, unpackWords } from '../../../../../src/domain/kv/types/packed-words.js';
import { SetValue } from '../../../../../src/domain/kv/types/set-value.js';
import { bytesHeldBy } from '../../../../support/held-memory.js';
import { seededRandom } from '../../../../support/kv-bench.js';

const NO_TIME = Number.NEGATIVE_INFINITY;

function contentsOf(hash: HashValue): Map<string, string> {
  return new Map(hash.entries(NO_TIME));
}

describe('packed words', () => {
  it('find a word at the start of an entry, not in the middle of one', () => {
    const packed = ['a', 'b', 'b', 'c', '', 'a'].map(packWord).join('');
    expect(unpackWords(packed)).to.deep.equal(['a', 'b', 'b', 'c', '', 'a']);
    expect(findWord(packed, 'b', 2)).to.equal(4);
    expect(findWord(packed, 'b', 1)).to.equal(2);
    expect(findWord(packed, 'c', 2)).to.equal(-1);
    expect(findWord(packed, '', 2)).to.equal(8);
    expect(findWord('', '', 1)).to.equal(-1);
  });
});

describe('small hashes and sets', () => {
  it('do not keep the larger texts in memory from which their words were cut (PW1)', () => {
    const count = 50;
    const held = bytesHeldBy(() =>
      Array.from({ length: count }, (_, i) => {
        const large = Buffer.alloc(500_000, String(i)).toString('latin1');
        const hash = new HashValue();
        const set = new SetValue();
        for (let at = 0; at < 5; at += 1) {
          hash.set(large.slice(at, 20 + at * 2), large.slice(at, at + 50));
          set.add(large.slice(at, at + 30));
          set.add(large.slice(at, at + 31 + at));
          set.delete(large.slice(at, at + 30));
        }
        return [hash, set];
      }),
    );
    // If a small value kept its large source alive, each would hold half a megabyte.
    expect(held).to.be.below(count * 64 * 1024);
  });
});

describe('hash values', () => {
  it('agree with a Map through every change, small and large, with bytes that follow from the contents', () => {
    const { float } = seededRandom(11);
    const below = (limit: number): number => Math.floor(float() * limit);
    for (const fields of [5, 127, 130, 400]) {
      const hash = new HashValue();
      const expected = new Map<string, string>();
      for (let i = 0; i < 3000; i += 1) {
        const field = `f${below(fields)}`;
        if (float() < 0.7) {
          const value = 'v'.repeat(below(float() < 0.02 ? 400 : 20));
          hash.set(field, value);
          expected.set(field, value);
        } else {
          expect(hash.delete(field)).to.equal(expected.delete(field));
        }
        if (hash.has(field, NO_TIME) && float() < 0.1) hash.expireAt(field, 1 + below(1000));
        expect(hash.get(field, NO_TIME)).to.equal(expected.get(field));
        expect(hash.size).to.equal(expected.size);
      }
      expect(contentsOf(hash)).to.deep.equal(expected);
      const again = new HashValue();
      for (const [field, value] of [...hash.entries(NO_TIME)].reverse()) {
        again.set(field, value);
        const atMs = hash.expiryOf(field);
        if (atMs !== undefined) again.expireAt(field, atMs);
      }
      for (const other of [again, hash.clone()]) {
        expect(other.bytes).to.equal(hash.bytes);
        expect([...other.contents()].sort()).to.deep.equal([...hash.contents()].sort());
      }
    }
  });

  it('hold words of any length at the limit of the small form', () => {
    for (const length of [254, 255, 256, 300]) {
      const hash = new HashValue();
      hash.set('x'.repeat(length), 'v');
      hash.set('f', 'y'.repeat(length));
      expect(hash.get('x'.repeat(length), NO_TIME)).to.equal('v');
      expect(hash.get('f', NO_TIME)?.length).to.equal(length);
      expect(hash.delete('x'.repeat(length))).to.equal(true);
      expect([...hash.entries(NO_TIME)]).to.deep.equal([['f', 'y'.repeat(length)]]);
    }
    const full = new HashValue();
    for (let i = 0; i < 129; i += 1) {
      full.set(`f${i}`, 'z'.repeat(64));
      expect(full.drawField(() => 0.5) === undefined).to.equal(i < 118);
    }
    expect(full.size).to.equal(129);
    expect([...full.entries(NO_TIME)].length).to.equal(129);
  });

  it('hide expired fields, remove them in parts, and know the next expiry', () => {
    const hash = new HashValue();
    for (let i = 1; i <= 1000; i += 1) {
      hash.set(`f${i}`, 'v');
      hash.expireAt(`f${i}`, i);
    }
    expect([hash.visibleSize(0), hash.visibleSize(400), hash.visibleSize(1000)]).to.deep.equal([1000, 600, 0]);
    expect([hash.isAllExpired(999), hash.isAllExpired(1000)]).to.deep.equal([false, true]);
    expect(hash.removeExpired(400, 150).length).to.equal(150);
    expect(hash.earliestExpiryMs).to.be.most(400);
    expect(hash.removeExpired(400, 1000).length).to.equal(250);
    expect([hash.size, hash.earliestExpiryMs]).to.deep.equal([600, 401]);
    for (let i = 401; i <= 1000; i += 1) hash.persist(`f${i}`);
    expect(hash.fieldExpiry).to.equal(undefined);
  });

  it('are rebuilt by commands of bounded size', () => {
    const hash = new HashValue();
    for (let i = 0; i < 5000; i += 1) {
      hash.set(`field:${i}`, 'v'.repeat(50));
      hash.expireAt(`field:${i}`, 1 + (i % 3));
    }
    const commands = [...hash.rebuild('h')];
    for (const words of commands) expect(words.join('').length).to.be.most(64 * 1024);
    expect(commands.filter(([name]) => name === 'HSET').length).to.be.greaterThan(4);
  });
});

describe('expiry times of fields', () => {
  it('are all due exactly when the latest one is, after random changes (FE1, FE2)', () => {
    const { float } = seededRandom(14);
    const below = (limit: number): number => Math.floor(float() * limit);
    const expiries = new FieldExpiries();
    const expected = new Map<string, number>();
    for (let i = 0; i < 5000; i += 1) {
      const field = `f${below(12)}`;
      if (float() < 0.6) {
        const atMs = below(1000);
        expiries.set(field, atMs);
        expected.set(field, atMs);
      } else if (float() < 0.8) {
        expect(expiries.delete(field)).to.equal(expected.delete(field));
      } else {
        for (const due of expiries.takeDue(below(1000), 3)) expected.delete(due);
      }
      const instants = [...expected.values()];
      const nowMs = below(1000);
      expect(expiries.areAllDue(nowMs)).to.equal(instants.length > 0 && Math.max(...instants) <= nowMs);
      expect(expiries.earliestMs).to.be.most(Math.min(...instants));
    }
  });
});

describe('set values', () => {
  it('agree with a Set through every change, small and large, with bytes that follow from the contents', () => {
    const { float } = seededRandom(12);
    const below = (limit: number): number => Math.floor(float() * limit);
    for (const members of [5, 127, 130, 400]) {
      const set = new SetValue();
      const expected = new Set<string>();
      for (let i = 0; i < 3000; i += 1) {
        const member = `${below(members)}`.padEnd(float() < 0.001 ? 300 : 1, '.');
        if (float() < 0.7) {
          expect(set.add(member)).to.equal(!expected.has(member));
          expected.add(member);
        } else {
          expect(set.delete(member)).to.equal(expected.delete(member));
        }
        expect(set.has(member)).to.equal(expected.has(member));
        expect(set.size).to.equal(expected.size);
      }
      expect(new Set(set.members())).to.deep.equal(expected);
      const again = new SetValue();
      for (const member of [...expected].reverse()) again.add(member);
      expect(again.bytes).to.equal(set.bytes);
      expect(set.clone().bytes).to.equal(set.bytes);
    }
  });

  it('draw every member with about the same probability', () => {
    const { float } = seededRandom(13);
    for (let i = 0; i < 50; i += 1) float();
    const set = new SetValue();
    for (let i = 0; i < 10; i += 1) set.add(`m${i}`);
    const counts = new Map<string, number>();
    for (let i = 0; i < 10_000; i += 1) {
      const member = set.draw(float) as string;
      counts.set(member, (counts.get(member) ?? 0) + 1);
    }
    expect(counts.size).to.equal(10);
    for (const count of counts.values()) expect(count).to.be.within(850, 1150);
  });
});

describe('large hashes with expiring fields', () => {
  it('are checked and emptied in small steps when many fields expire together', () => {
    const hash = new HashValue();
    for (let i = 0; i < 100_000; i += 1) {
      hash.set(`f${i}`, 'v');
      hash.expireAt(`f${i}`, 1 + (i % 7));
    }
    hash.set('last', 'v');
    hash.expireAt('last', 9);
    expect([hash.isAllExpired(8), hash.isAllExpired(9)]).to.deep.equal([false, true]);
    hash.expireAt('last', 8);
    expect([hash.isAllExpired(7), hash.isAllExpired(8)]).to.deep.equal([false, true]);
    let removed = 0;
    let steps = 0;
    while (hash.earliestExpiryMs <= 7) {
      removed += hash.removeExpired(7, 1000).length;
      steps += 1;
    }
    expect([removed, hash.size, hash.earliestExpiryMs]).to.deep.equal([100_000, 1, 8]);
    expect(steps).to.be.within(100, 101);
  });
});
