/** The wishes of operators for the placement of shards, and their owners. Proves PL1–PL5, STE1, STE2. */
import { expect } from 'chai';
import { MAX_DRAINED, Steering } from '../../../src/actors/cluster/index.js';
import { WISHES_KEY } from '../../../src/actors/runtime/index.js';
import { decodeWishes, type Wishes } from '../../../src/codec/leases/index.js';
import type { SessionId, ShardName } from '../../../src/kernel/index.js';
import { KvClusterStand, type KvProcess, SHARD, TIMES } from '../../support/kv-cluster-stand.js';

const IS_THERE = () => true;

describe('the placement of a shard', () => {
  let stand: KvClusterStand;
  let steering: Steering;

  beforeEach(() => {
    stand = new KvClusterStand();
    steering = new Steering({ leases: stand.leases, clock: stand.time }, 'ann@desk');
  });
  afterEach(() => stand.end());

  async function three(): Promise<{ owner: KvProcess; others: [KvProcess, KvProcess] }> {
    for (let count = 0; count < 3; count += 1) await stand.start();
    await stand.time.advance(10_000);
    const [owner] = stand.owners() as [KvProcess];
    const others = stand.processes.filter((process) => process !== owner);
    return { owner, others: others as [KvProcess, KvProcess] };
  }
  const wishes = async (): Promise<Wishes> => {
    const record = await stand.leases.get(WISHES_KEY);
    return record === undefined ? { drained: [], moves: [] } : decodeWishes(record.value);
  };
  const idOf = ({ session }: KvProcess) => session.processId;

  it('follows the wish of an operator, keeps to it while it lasts, and returns when it is withdrawn', async () => {
    const { owner, others } = await three();
    const [wanted] = others;
    await owner.run('SET a 1');
    await steering.move(SHARD, idOf(wanted));
    await stand.time.advance(3000);
    expect(stand.owners()).to.deep.equal([wanted]);
    expect(await owner.run('GET a')).to.equal('1');
    await stand.time.advance(20_000);
    expect(stand.owners()).to.deep.equal([wanted]);
    await steering.move(SHARD, undefined);
    await stand.time.advance(3000);
    expect(stand.owners()).to.deep.equal([owner]);
  });

  it('goes to the successor in the same place directly, and to no other process', async () => {
    const startIn = (name: string, turn: number) => stand.start(0, ['kv'], { name, turn });
    const places = ['worker-1', 'worker-2', 'worker-3'];
    for (const [turn, name] of places.entries()) await startIn(name, turn);
    await stand.time.advance(10_000);
    const [owner] = stand.owners() as [KvProcess];
    await owner.run('SET a 1');
    const epochOf = (process: KvProcess) => process.host.actorOf(SHARD)?.epoch ?? Number.NaN;
    const epoch = epochOf(owner);
    const successor = await startIn(places[stand.processes.indexOf(owner)] as string, 3);
    await stand.time.advance(1000);
    expect(stand.owners(), 'before the time for which other processes are observed').to.deep.equal([successor]);
    void owner.host.stop();
    await stand.time.advance(10_000);
    expect(stand.owners()).to.deep.equal([successor]);
    expect(epochOf(successor), 'after one move').to.equal(epoch + 1);
    expect(await successor.run('GET a')).to.equal('1');
  });

  it('chooses a process that has the role for the shard', async () => {
    for (let count = 0; count < 4; count += 1) await stand.start(0, ['queue']);
    const forDatabases = await stand.start(0, ['kv']);
    await stand.time.advance(10_000);
    expect(stand.owners()).to.deep.equal([forDatabases]);
    await forDatabases.run('SET a 1');
    expect(await forDatabases.run('GET a')).to.equal('1');
  });

  it('falls back to the default when the process that an operator named is gone', async () => {
    const { owner, others } = await three();
    const [wanted] = others;
    await steering.move(SHARD, idOf(wanted));
    await stand.time.advance(3000);
    wanted.disconnect();
    await stand.time.advance(TIMES.takeoverMs + 2000);
    expect(owner.host.actorOf(SHARD)?.state).to.equal('serving');
  });

  it('avoids drained processes, unless all are drained', async () => {
    const { owner, others } = await three();
    await steering.drain(idOf(owner), IS_THERE);
    await stand.time.advance(3000);
    const [second] = stand.owners() as [KvProcess];
    expect(others).to.include(second);
    expect(owner.host.isSettled(), 'it has all that it should').to.equal(true);
    await steering.move(SHARD, idOf(owner));
    await stand.time.advance(3000);
    expect(stand.owners(), 'drained is drained').to.deep.equal([second]);
    for (const other of others) await steering.drain(idOf(other), IS_THERE);
    await stand.time.advance(5000);
    expect(stand.owners()).to.have.length(1);
    for (const process of stand.processes) await steering.undrain(idOf(process));
    await stand.time.advance(5000);
    expect(stand.owners()).to.deep.equal([owner]);
  });

  it('does not change before the chosen process has read the wish', async () => {
    const { owner, others } = await three();
    const [wanted] = others;
    const { get } = stand.leases;
    await steering.move(SHARD, idOf(wanted));
    stand.leases.get = async (key) => (key === WISHES_KEY ? undefined : get.call(stand.leases, key));
    await stand.time.advance(5000);
    expect(stand.owners(), 'nobody knows of it').to.deep.equal([owner]);
    stand.leases.get = get;
    await stand.time.advance(3000);
    expect(stand.owners()).to.deep.equal([wanted]);
  });

  it('waits for a process that has read other wishes, and does not wait for an older version without wishes', async () => {
    const { owner, others } = await three();
    const [behind, older] = others;
    const { placement } = owner.session;
    await steering.move(SHARD, idOf(behind));
    await stand.time.advance(1000);
    const heard = (process: KvProcess, wishes?: number) => {
      const { id: session, processId } = process.session;
      const heartbeat = { session, process: processId, canOwn: true, isLeaving: false };
      owner.membership.announce(wishes === undefined ? heartbeat : { ...heartbeat, wishes });
    };
    heard(behind, placement.revision - 1);
    expect(placement.isKnownTo(behind.session.id, SHARD, [behind.session.id])).to.equal(false);
    heard(behind, placement.revision);
    expect(placement.isKnownTo(behind.session.id, SHARD, [behind.session.id])).to.equal(true);
    heard(older);
    expect(placement.isKnownTo(older.session.id, SHARD, [older.session.id])).to.equal(true);
    const all = stand.processes.map(({ session }) => session.id);
    expect(placement.isKnownTo(older.session.id, SHARD, all), 'by itself it belongs to the owner').to.equal(false);
  });

  it('stores repeated wishes once, together with the wishes of others', async () => {
    const [a, b] = ['node-a', 'node-b'] as [SessionId, SessionId];
    for (let twice = 0; twice < 2; twice += 1) {
      await steering.drain(a, IS_THERE);
      await steering.move('KV_1' as ShardName, b);
    }
    const before = (await stand.leases.get(WISHES_KEY))?.revision;
    await steering.undrain('node-c' as SessionId);
    expect((await stand.leases.get(WISHES_KEY))?.revision).to.equal(before);
    const colleague = new Steering({ leases: stand.leases, clock: stand.time }, 'bob@desk');
    const shards = Array.from({ length: 4 }, (_, at) => `KV_${at}` as ShardName);
    await Promise.all(shards.map((shard, at) => (at % 2 === 0 ? steering : colleague).move(shard, b)));
    const { drained, moves } = await wishes();
    expect(drained.map(({ process, by }) => [process, by])).to.deep.equal([[a, 'ann@desk']]);
    expect(moves.map(({ shard }) => shard).sort()).to.deep.equal(shards);
    await steering.drain(b, IS_THERE);
    expect((await wishes()).moves, 'nothing is wanted where nothing may be').to.deep.equal([]);
  });

  it('accepts a bounded number of drained processes; processes that are gone make room', async () => {
    const names = Array.from({ length: MAX_DRAINED + 1 }, (_, at) => `node-${at}` as SessionId);
    for (const name of names.slice(0, MAX_DRAINED)) await steering.drain(name, IS_THERE);
    const last = names.at(-1) as SessionId;
    let refused: unknown;
    await steering.drain(last, IS_THERE).catch((error: unknown) => {
      refused = error;
    });
    expect(refused).to.include({ code: 'CONFLICT' });
    await steering.drain(last, (process) => process === names[0]);
    expect((await wishes()).drained.map(({ process }) => process)).to.deep.equal([names[0], last]);
  });
});
