/** Proves SE2–SE4, SH2, SH3, SH5, SH6. */
import { expect } from 'chai';
import { rendezvousOwner } from '../../../src/actors/runtime/index.js';
import { markSessionDead, sessionKey } from '../../../src/actors/runtime/session.js';
import { decodeSessionRecord, decodeShardLease } from '../../../src/codec/leases/index.js';
import { OK } from '../../../src/domain/kv/index.js';
import type { SessionId, ShardName } from '../../../src/kernel/index.js';
import { KvClusterStand, type KvProcess, SHARD, TIMES } from '../../support/kv-cluster-stand.js';

describe('ownership of a shard', () => {
  let stand: KvClusterStand;

  beforeEach(() => {
    stand = new KvClusterStand();
  });

  afterEach(() => stand.end());

  async function lease() {
    const record = await stand.leases.get(SHARD);
    return record === undefined ? undefined : decodeShardLease(record.value);
  }

  it('is taken by the first process, with an epoch of its own', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    expect(stand.owners()).to.deep.equal([first]);
    expect(await lease()).to.include({ epoch: 1, session: first.session.id, isReleased: false });
  });

  it('is never with two processes at once', async () => {
    await stand.start();
    await stand.start();
    for (let i = 0; i < 40; i += 1) {
      await stand.time.advance(250);
      expect(stand.owners().length).to.be.lessThan(2);
    }
    expect(stand.owners()).to.have.length(1);
  });

  it('is reached from every process', async () => {
    const first = await stand.start();
    const second = await stand.start();
    await stand.time.advance(5000);
    expect(await first.run('SET a 1')).to.deep.equal(OK);
    expect(await second.run('INCR a')).to.equal(2);
    expect(await first.run('GET a')).to.equal('2');
  });

  it('goes to a successor when its owner stops in order, without a wait', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(500);
    const [owner] = stand.owners();
    const other = owner === first ? second : first;
    await owner?.run('SET a 1');
    const stopped = owner?.host.stop();
    await stand.time.advance(200);
    // It was told of at once: no look was due by then.
    expect(stand.owners()).to.deep.equal([other]);
    await stopped;
    expect(await lease()).to.include({ epoch: 2, session: other.session.id });
    await owner?.session.close();
    expect(await other.run('GET a')).to.equal('1');
  });

  it('needs no right to remove a record where nothing is owned: a session ends with a mark that it is over (SE2)', async () => {
    const owner = await stand.start();
    const edge = await stand.start(0, []);
    await stand.time.advance(500);
    const recordOf = ({ session }: typeof owner) => stand.leases.get(sessionKey(session.id));
    for (const { session } of [owner, edge]) await session.close();
    expect(await recordOf(owner)).to.equal(undefined);
    const record = await recordOf(edge);
    expect(record && decodeSessionRecord(record.value)).to.include({ isDead: true, hasEnded: true });
  });

  it('says of one that removed its record that it has ended, and of one that was killed that it may come back (SE2)', async () => {
    const [killed, ended] = [await stand.start(), await stand.start()];
    await stand.time.advance(500);
    killed.kill();
    await ended.session.close();
    const marked = async ({ session: { id } }: typeof killed) => {
      await markSessionDead(stand.leases, id);
      const record = await stand.leases.get(sessionKey(id));
      return record && decodeSessionRecord(record.value);
    };
    expect(await marked(ended)).to.include({ isDead: true, hasEnded: true });
    expect(await marked(killed))
      .to.include({ isDead: true })
      .and.not.to.have.property('hasEnded');
  });

  it('goes to a successor after its owner has been silent for the takeover time, not before', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(TIMES.takeoverMs + 1000);
    const [owner] = stand.owners();
    const other = owner === first ? second : first;
    await owner?.run('SET a 1');
    owner?.disconnect();
    await stand.time.advance(TIMES.takeoverMs - 1000);
    expect(other.host.actorOf(SHARD)).to.equal(undefined);
    await stand.time.advance(2000);
    expect(other.host.actorOf(SHARD)?.state).to.equal('serving');
    expect(other.host.actorOf(SHARD)?.epoch).to.be.greaterThan(1);
    expect(await other.run('GET a')).to.equal('1');
  });

  async function twoProcesses() {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(TIMES.takeoverMs + 1000);
    const [owner] = stand.owners();
    return { owner: owner as typeof first, other: owner === first ? second : first };
  }

  it('is written to again soon after a kill: its owner was seen to renew nothing while it was silent', async () => {
    const { owner, other } = await twoProcesses();
    owner.kill();
    const killedAtMs = stand.time.monotonicMs();
    await stand.time.advance(TIMES.takeoverMs);
    expect(await other.run('SET a 1')).to.deep.equal(OK);
    const afterMs = stand.time.monotonicMs() - killedAtMs;
    // A quarter of the silence, two looks at the leases, the read lease and its margin.
    const { takeoverMs, readLeaseMs, marginMs } = TIMES;
    expect(afterMs).to.be.at.most(Math.max(takeoverMs, takeoverMs / 4 + readLeaseMs + marginMs) + 600);
  });

  for (const [what, showsLife] of [
    ['stored something', (owner: KvProcess) => owner.run('SET b 1')],
    ['renewed its session', async () => undefined],
  ] as const) {
    it(`is not written to before the read lease of a silent owner is over that ${what} after it was looked at`, async () => {
      const { owner, other } = await twoProcesses();
      // It is not heard, and goes on renewing by itself.
      if (what === 'stored something') owner.kill();
      else owner.disconnect();
      await stand.time.advance(TIMES.takeoverMs / 2);
      await showsLife(owner);
      while (other.host.actorOf(SHARD) === undefined) await stand.time.advance(50);
      const takenAtMs = stand.time.monotonicMs();
      expect(await other.run('SET a 1')).to.deep.equal(OK);
      expect(stand.time.monotonicMs() - takenAtMs).to.be.at.least(TIMES.readLeaseMs + TIMES.marginMs - 50);
    });
  }

  it('is lost with the session: an owner that was taken for dead answers nothing, and begins again', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(TIMES.takeoverMs + 1000);
    const [owner] = stand.owners();
    const id = owner?.session.id;
    owner?.disconnect();
    await stand.time.advance(TIMES.takeoverMs + 2000);
    expect(stand.owners()).to.deep.equal([owner === first ? second : first]);
    expect(owner?.session.id).to.not.equal(id);
    expect(owner?.session.processId).to.equal(id);
  });

  it('is not left with a process that may not own it: a lease in its name is let go', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const actor = first.host.actorOf(SHARD);
    const second = await stand.start();
    await stand.time.advance(5000);
    const [owner] = stand.owners();
    expect(owner === first || owner === second).to.equal(true);
    // Whoever rendezvous hashing prefers has it in the end, with the other's lease released for it.
    const ids = [first.session.id, second.session.id];
    expect(owner?.session.id).to.equal(rendezvousOwner(SHARD, ids));
    expect(actor === undefined).to.equal(false);
  });

  it('is given up when the machine was suspended', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const id = first.session.id;
    stand.time.jumpWallClock(60_000);
    await stand.time.advance(600);
    expect(first.session.id === id && first.session.isLive).to.equal(false);
    await stand.time.advance(3000);
    expect(stand.owners()).to.deep.equal([first]);
    expect(first.session.id).to.not.equal(id);
  });

  it('says in the lease which entry a successor must find', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    await first.run('SET a 1');
    await stand.time.advance(3000);
    const head = first.host.actorOf(SHARD)?.head;
    expect((await lease())?.highWater).to.deep.include({ number: head?.number, position: head?.position });
  });
});

describe('placement', () => {
  const shards = Array.from({ length: 64 }, (_, i) => `KV_${i}` as ShardName);
  const sessions = ['node-a', 'node-b', 'node-c', 'node-d'] as SessionId[];

  it('is the same whatever order the processes are heard in', () => {
    for (const shard of shards) {
      expect(rendezvousOwner(shard, [...sessions].reverse())).to.equal(rendezvousOwner(shard, sessions));
    }
  });

  it('moves only the shards of a process that goes', () => {
    const left = sessions.slice(0, 3);
    for (const shard of shards) {
      const before = rendezvousOwner(shard, sessions);
      if (before !== 'node-d') expect(rendezvousOwner(shard, left)).to.equal(before);
    }
  });

  it('gives every process a share', () => {
    const owners = new Set(shards.map((shard) => rendezvousOwner(shard, sessions)));
    expect(owners.size).to.equal(sessions.length);
  });

  it('gives nobody what nobody is there to take', () => {
    expect(rendezvousOwner('KV_0' as ShardName, [])).to.equal(undefined);
  });
});
