/** Proves NO1. */
import { expect } from 'chai';
import { NextOwners } from '../../../../src/actors/runtime/next-owners.js';
import type { SessionId, ShardName } from '../../../../src/kernel/index.js';
import { ManualTime } from '../../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;
const OTHER = 'KV_1' as ShardName;
const NEXT = 'next' as SessionId;
const EPOCH = 3;

describe('a shard that is to move', () => {
  let time: ManualTime;
  const ownersOf = (follows = true) => new NextOwners(time, { follows: () => follows }, 300_000);
  beforeEach(() => {
    time = new ManualTime();
  });

  it('is handed over once the next owner reports that it has replayed it', () => {
    const owners = ownersOf();
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
    owners.hear(SHARD, { session: NEXT, epoch: EPOCH });
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(true);
  });

  it('is not handed over after a report of another process, or about another epoch', () => {
    const owners = ownersOf();
    owners.hear(SHARD, { session: 'other' as SessionId, epoch: EPOCH });
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
    owners.hear(SHARD, { session: NEXT, epoch: EPOCH - 1 });
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
  });

  it('is handed over immediately to a process of an earlier version, which replays it afterwards', () => {
    expect(ownersOf(false).mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(true);
  });

  it('waits for a minute after the last report of the next owner, about any shard', async () => {
    const owners = ownersOf();
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
    await time.advance(59_000);
    owners.hear(OTHER, { session: NEXT, epoch: 1 });
    await time.advance(59_000);
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
    await time.advance(1000);
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(true);
  });

  it('waits for a bounded time, even if its next owner keeps reporting other shards', async () => {
    const owners = ownersOf();
    for (let waitedMs = 0; waitedMs < 300_000; waitedMs += 50_000) {
      expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(false);
      owners.hear(OTHER, { session: NEXT, epoch: 1 });
      await time.advance(50_000);
    }
    expect(owners.mayHaveIt(NEXT, SHARD, EPOCH)).to.equal(true);
  });
});
