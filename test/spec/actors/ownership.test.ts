/** Proves SE2–SE4, SH2, SH3, SH5–SH7, FOL2. */
import { encode } from '@msgpack/msgpack';
import { expect } from 'chai';
import { announceGone, markAllGone, rendezvousOwner } from '../../../src/actors/runtime/index.js';
import { markSessionDead, sessionKey } from '../../../src/actors/runtime/session.js';
import { decodeSessionRecord, decodeShardLease } from '../../../src/codec/leases/index.js';
import { OK } from '../../../src/domain/kv/index.js';
import { MillraceError, type SessionId, type ShardName } from '../../../src/kernel/index.js';
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

  it('goes to the first process, with epoch 1', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    expect(stand.owners()).to.deep.equal([first]);
    expect(await lease()).to.include({ epoch: 1, session: first.session.id, isReleased: false });
  });

  it('is never held by two processes at the same time', async () => {
    await stand.start();
    await stand.start();
    for (let i = 0; i < 40; i += 1) {
      await stand.time.advance(250);
      expect(stand.owners().length).to.be.lessThan(2);
    }
    expect(stand.owners()).to.have.length(1);
  });

  it('is known to every process: each can send commands to the owner', async () => {
    const first = await stand.start();
    const second = await stand.start();
    await stand.time.advance(5000);
    expect(await first.run('SET a 1')).to.deep.equal(OK);
    expect(await second.run('INCR a')).to.equal(2);
    expect(await first.run('GET a')).to.equal('2');
  });

  it('goes to a successor immediately when its owner stops in order', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(500);
    const [owner] = stand.owners();
    const other = owner === first ? second : first;
    await owner?.run('SET a 1');
    const stopped = owner?.host.stop();
    // The successor needs one look to begin to follow, one to report that it follows, and then the message of the release.
    await stand.time.advance(700);
    expect(stand.owners()).to.deep.equal([other]);
    await stopped;
    expect(await lease()).to.include({ epoch: 2, session: other.session.id });
    await owner?.session.close();
    expect(await other.run('GET a')).to.equal('1');
  });

  it('moves to a process that has replayed the shard: only the newest entries are left to replay after the claim (SH7)', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    for (let n = 0; n < 50; n += 1) await first.run(`SET key-${n} 1`);
    const second = await stand.start();
    let count = 0;
    while (stand.owners()[0] !== second && stand.time.monotonicMs() < 60_000) {
      count += 1;
      expect(await first.run('INCR moved')).to.equal(count);
      await stand.time.advance(10);
    }
    expect(stand.owners()).to.deep.equal([second]);
    const { replayed } = second.host.actorOf(SHARD) as NonNullable<ReturnType<typeof second.host.actorOf>>;
    expect(replayed.entries).to.be.above(100);
    // The entries of the 100 ms between two looks, and the claim.
    expect(replayed.afterClaim).to.be.within(1, 40);
    expect(await first.run('INCR moved')).to.equal(count + 1);
    expect(await second.run('GET key-49')).to.equal('1');
  });

  it('moves during the notice of a process that announces its end, which still sends commands on (SH7)', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(500);
    const [owner] = stand.owners();
    const other = owner === first ? second : first;
    await owner?.run('SET a 1');
    owner?.session.leave();
    await stand.time.advance(1000);
    expect(stand.owners()).to.deep.equal([other]);
    const { replayed } = other.host.actorOf(SHARD) as NonNullable<ReturnType<typeof other.host.actorOf>>;
    expect(replayed.afterClaim).to.equal(1);
    expect(await owner?.run('INCR a')).to.equal(2);
  });

  for (const [how, fail, cause] of [
    ['has no answer', () => Promise.reject(new MillraceError('JOURNAL_UNAVAILABLE', 'no answer')), 'no answer'],
    ['is refused', async () => ({ kind: 'conflict' }) as const, 'the stored lease is another one'],
  ] as const) {
    it(`is released by a later check when the release ${how}, and the log has the line shard.release-failed (SH3)`, async () => {
      const { owner, other } = await twoProcesses();
      await owner.run('SET a 1');
      const { leases } = stand;
      const update = leases.update.bind(leases);
      let failures = 0;
      leases.update = async (key, value, revision) => {
        if (key !== SHARD || failures > 0 || !decodeShardLease(value).isReleased) return update(key, value, revision);
        failures += 1;
        return fail();
      };
      const epoch = owner.host.actorOf(SHARD)?.epoch;
      owner.session.leave();
      await stand.time.advance(2000);
      expect(owner.log.of('shard.release-failed')).to.deep.equal([
        { level: 'warn', event: 'shard.release-failed', fields: { shard: SHARD, epoch, cause } },
      ]);
      expect(stand.owners()).to.deep.equal([other]);
      expect(await other.run('GET a')).to.equal('1');
    });
  }

  it('needs no right to delete records in a process without shards: its session ends with a mark that it is over (SE2)', async () => {
    const owner = await stand.start();
    const edge = await stand.start(0, []);
    await stand.time.advance(500);
    const recordOf = ({ session }: typeof owner) => stand.leases.get(sessionKey(session.id));
    for (const { session } of [owner, edge]) await session.close();
    expect(await recordOf(owner)).to.equal(undefined);
    const record = await recordOf(edge);
    expect(record && decodeSessionRecord(record.value)).to.include({ isDead: true, hasEnded: true });
  });

  it('treats a process that removed its session record as ended, and a killed one as possibly alive (SE2)', async () => {
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

  it('goes to a successor immediately, without a quiet time, when a supervisor has announced the end of its owner (SH2)', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const second = await stand.start();
    await stand.time.advance(500);
    const [owner] = stand.owners();
    const other = owner === first ? second : first;
    await owner?.run('SET a 1');
    owner?.kill();
    const { id: session, processId: process } = owner?.session ?? first.session;
    await announceGone({ leases: stand.leases, bus: other.bus }, { session, process });
    await stand.time.advance(100);
    expect(stand.owners()).to.include(other);
    expect(await other.run('INCR a')).to.equal(2);
    expect(other.membership.liveProcesses(10_000)).to.deep.equal([other.session.processId]);
  });

  it('goes to a new process immediately when every earlier session is marked as ended (SH2)', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    await first.run('SET a 1');
    first.kill();
    await markAllGone(stand.leases);
    const second = await stand.start();
    await stand.time.advance(500);
    expect(stand.owners()).to.include(second);
    expect(await second.run('INCR a')).to.equal(2);
  });

  it('goes to a successor after its owner was silent for the takeover time, not before', async () => {
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

  it('allows writes soon after a kill, because the owner did not renew its lease while it was silent', async () => {
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

  for (const [sign, showsLife] of [
    ['stored something', (owner: KvProcess) => owner.run('SET b 1')],
    ['renewed its session', async () => undefined],
  ] as const) {
    it(`allows no writes before the read lease of a silent owner has expired, when that owner ${sign} after it was looked at`, async () => {
      const { owner, other } = await twoProcesses();
      // The owner's messages do not arrive, and it continues to renew its lease.
      if (sign === 'stored something') owner.kill();
      else owner.disconnect();
      await stand.time.advance(TIMES.takeoverMs / 2);
      await showsLife(owner);
      while (other.host.actorOf(SHARD) === undefined) await stand.time.advance(50);
      const takenAtMs = stand.time.monotonicMs();
      expect(await other.run('SET a 1')).to.deep.equal(OK);
      expect(stand.time.monotonicMs() - takenAtMs).to.be.at.least(TIMES.readLeaseMs + TIMES.marginMs - 50);
    });
  }

  it('is lost with the session: an owner that was declared dead answers no command and starts again under a new session', async () => {
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

  it('is released when the lease names a process that may not own the shard', async () => {
    const first = await stand.start();
    await stand.time.advance(500);
    const actor = first.host.actorOf(SHARD);
    const second = await stand.start();
    await stand.time.advance(5000);
    const [owner] = stand.owners();
    expect(owner === first || owner === second).to.equal(true);
    // The process that rendezvous hashing prefers gets the shard in the end; the other releases its lease.
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

  it('is stopped with an alarm when the end of its journal has been unreadable for ten seconds (SH4)', async () => {
    const { journal, time } = stand;
    const owner = await stand.start();
    await time.advance(500);
    await owner.run('SET a 1');
    await owner.host.stop();
    const readAt = journal.readAt.bind(journal);
    const lagging = await stand.start();
    journal.readAt = async () => undefined;
    owner.kill();
    await time.advance(9000);
    expect(lagging.host.stoppedShards().size, 'a server may lag').to.equal(0);
    expect([...lagging.host.lookFailures().values()]).to.deep.equal([
      `${SHARD}: the message at position 2 cannot be read`,
    ]);
    // Any answer of the journal starts the waiting time again.
    journal.readAt = async () => {
      throw new MillraceError('JOURNAL_UNAVAILABLE', 'no connection');
    };
    await time.advance(300);
    journal.readAt = async () => undefined;
    await time.advance(9000);
    expect(lagging.host.stoppedShards().size, 'and be away in between').to.equal(0);
    await time.advance(2000);
    expect(lagging.host.stoppedShards().get(SHARD)?.message).to.match(/the message at position 2 cannot be read/);
    expect(lagging.host.isSettled(), 'what is left is served').to.equal(true);
    expect(await lagging.run('GET a')).to.equal('JOURNAL_DAMAGED');
    journal.readAt = readAt;
    await time.advance(5000);
    expect(stand.owners(), 'until an operator has looked').to.deep.equal([]);
  });

  it('is stopped with an alarm when its lease has been unreadable for ten seconds (SH4)', async () => {
    const { leases, time } = stand;
    const owner = await stand.start();
    await time.advance(500);
    await owner.host.stop();
    const get = leases.get.bind(leases);
    leases.get = async (key) => (key === SHARD ? undefined : get(key));
    const next = await stand.start();
    await time.advance(9000);
    expect(next.host.stoppedShards().size).to.equal(0);
    await time.advance(3000);
    expect(next.host.stoppedShards().get(SHARD)?.message).to.match(/its lease cannot be read/);
  });

  it('is stopped immediately when a newer release has written its journal, and says so', async () => {
    const { journal, time } = stand;
    const later = encode([2, 1, SHARD]);
    await journal.append(SHARD, later, 0);
    const owner = await stand.start();
    await time.advance(500);
    const why = owner.host.stoppedShards().get(SHARD);
    expect(why?.code).to.equal('NEWER_FORMAT');
    expect(why?.message).to.match(
      /^a journal message was written by a newer release \(version 2, this program reads up to 1\): install/,
    );
    expect(await owner.run('GET a')).to.equal('NEWER_FORMAT');
  });

  it('records in the lease the entry that a successor must find', async () => {
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

  it('does not depend on the order in which messages of the processes arrive', () => {
    for (const shard of shards) {
      expect(rendezvousOwner(shard, [...sessions].reverse())).to.equal(rendezvousOwner(shard, sessions));
    }
  });

  it('moves only the shards of a process that leaves', () => {
    const left = sessions.slice(0, 3);
    for (const shard of shards) {
      const before = rendezvousOwner(shard, sessions);
      if (before !== 'node-d') expect(rendezvousOwner(shard, left)).to.equal(before);
    }
  });

  it('is by the names of places; of several processes with a name the last one counts', () => {
    const places = new Map(sessions.map((session, turn) => [session, { name: `place-${turn % 3}`, turn }]));
    const owner = (shard: ShardName) => rendezvousOwner(shard, sessions, (session) => places.get(session));
    const owners = shards.map(owner);
    expect(new Set(owners)).to.have.all.keys('node-b', 'node-c', 'node-d');
    const without = sessions.slice(0, 3);
    const before = shards.map((shard) => rendezvousOwner(shard, without, (session) => places.get(session)));
    expect(owners.map((session) => (session === 'node-d' ? 'node-a' : session))).to.deep.equal(before);
    // A process of an older version places shards by sessions only, so the others must do the same.
    places.delete('node-b' as SessionId);
    expect(shards.map(owner)).to.deep.equal(shards.map((shard) => rendezvousOwner(shard, sessions)));
  });

  it('gives every process a share of the shards', () => {
    const owners = new Set(shards.map((shard) => rendezvousOwner(shard, sessions)));
    expect(owners.size).to.equal(sessions.length);
  });

  it('gives no owner when no process is there', () => {
    expect(rendezvousOwner('KV_0' as ShardName, [])).to.equal(undefined);
  });
});
