/** Proves SEM4. */
import { expect } from 'chai';
import { Effects, hashSlot, Keyspace, partitionOfSlot } from '../../../../src/domain/kv/index.js';
import { seededRandom } from '../../../support/kv-bench.js';

describe('the keyspace', () => {
  it('counts the bytes of names and strings through every change', () => {
    const keyspace = new Keyspace(new Effects());
    const { float } = seededRandom(7);
    for (let i = 0; i < 5000; i += 1) {
      const key = `k${Math.floor(float() * 50)}`;
      const value = 'x'.repeat(Math.floor(float() * 100));
      const choice = float();
      if (choice < 0.5) keyspace.set(key, value, choice < 0.2 ? 5 : undefined);
      else if (choice < 0.7) keyspace.replace(key, value);
      else keyspace.delete(key);
    }
    let bytes = 0;
    for (const [key, value] of keyspace.entries()) bytes += key.length + (value as string).length;
    expect(keyspace.bytes).to.equal(bytes);
    keyspace.clear();
    expect([keyspace.bytes, keyspace.size, keyspace.expiring]).to.deep.equal([0, 0, 0]);
  });

  it('finds the due keys, and no others, up to the given number', () => {
    const keyspace = new Keyspace(new Effects());
    for (let i = 0; i < 3000; i += 1) keyspace.set(`k${i}`, '', i + 1);
    expect(keyspace.dueKeys(0, 10)).to.deep.equal([]);
    expect(keyspace.dueKeys(100, 10_000).length).to.equal(100);
    expect(keyspace.dueKeys(100, 7).length).to.equal(7);
    for (const key of keyspace.dueKeys(100, 10_000)) keyspace.delete(key);
    expect(keyspace.dueKeys(100, 10_000)).to.deep.equal([]);
    expect(keyspace.dueKeys(3000, 10_000).length).to.equal(2900);
  });

  it('finds a key with an expiry that was moved forward', () => {
    const keyspace = new Keyspace(new Effects());
    keyspace.set('k', '', 1000);
    expect(keyspace.dueKeys(500, 10)).to.deep.equal([]);
    keyspace.expireAt('k', 400);
    expect(keyspace.dueKeys(500, 10)).to.deep.equal(['k']);
  });

  it('lists only keys that have not expired', () => {
    const keyspace = new Keyspace(new Effects());
    keyspace.set('gone', '', 5);
    keyspace.set('there', '', 6);
    keyspace.nowMs = 5;
    expect([...keyspace.keys()]).to.deep.equal(['there']);
    expect(keyspace.randomKey(() => 0)).to.equal('there');
    expect(keyspace.size).to.equal(2);
  });
});

describe('hash slots', () => {
  const rows: [string, number][] = [
    ['123456789', 12739],
    ['foo', 12182],
    ['', 0],
    ['{user1000}.following', 3443],
    ['{user1000}.followers', 3443],
    ['user1000', 3443],
  ];
  for (const [key, slot] of rows)
    it(`of ${JSON.stringify(key)} is ${slot}`, () => expect(hashSlot(key)).to.equal(slot));

  it('hash the whole key where there is no tag', () => {
    expect(hashSlot('{}a')).not.to.equal(hashSlot('{}b'));
    expect(hashSlot('{a')).not.to.equal(hashSlot('{b'));
    expect(hashSlot('a{{b}}c')).to.equal(hashSlot('{b'));
  });

  it('spread evenly over partitions', () => {
    expect([0, 5461, 5462, 16383].map((slot) => partitionOfSlot(slot, 3))).to.deep.equal([0, 0, 1, 2]);
  });
});
