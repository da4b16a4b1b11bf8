/** Proves CLK1, CLK2, ALT1, ALT2. */
import { expect } from 'chai';
import { alarmsOf, ClusterLook, LOOK_FRESH_MS, PROCESS_ANSWER_MS } from '../../../../src/actors/cluster/index.js';
import { Membership, sessionKey, WISHES_KEY } from '../../../../src/actors/runtime/index.js';
import { markSessionDead } from '../../../../src/actors/runtime/session.js';
import { encodeProcessReport } from '../../../../src/codec/cluster/index.js';
import { encodeSessionRecord, encodeWishes, firstCounter } from '../../../../src/codec/leases/index.js';
import { FORMAT_LEVEL, MillraceError, type SessionId, type ShardName } from '../../../../src/kernel/index.js';
import type { ClusterStatus, NatsStatus } from '../../../../src/ports/index.js';
import type { ProcessReport } from '../../../../src/protocol/index.js';
import { ManualTime, MemoryLeaseStore, MemoryNetwork } from '../../../support/memory/index.js';

const SHARDS = ['CONTROL', 'KV_0', 'KV_1'] as ShardName[];
const NOTHING_SAID: NatsStatus = { format: async () => 1, servers: async () => [], streams: async () => [] };
const SHARD = { state: 'serving', mailboxCommands: 0, mailboxBytes: 0, toReplay: 0, replayed: 0, position: 8 };

function reportOf(process: string, said: Partial<ProcessReport> = {}): ProcessReport {
  return {
    process: process as SessionId,
    session: process as SessionId,
    version: '1.0.0',
    host: 'one',
    pid: 7,
    roles: ['edge', 'kv'],
    startedAtMs: 0,
    nowMs: 0,
    machineAheadMs: 0,
    isClockInDoubt: false,
    checks: [{ name: 'nats', ok: true }],
    shards: [],
    stopped: [],
    ...said,
  };
}

function stand(nats: NatsStatus = NOTHING_SAID) {
  const clock = new ManualTime();
  const leases = new MemoryLeaseStore(clock);
  const network = new MemoryNetwork(clock);
  const bus = network.connect();
  const membership = new Membership(bus, clock);
  membership.start();
  const look = new ClusterLook({ bus, clock, leases, membership, nats }, { clusterId: 'CLUSTER', shards: SHARDS });
  let asked = 0;
  return {
    clock,
    leases,
    look,
    asked: () => asked,
    /** @param report  undefined: it is alive and does not answer */
    async process(id: string, report: ProcessReport | undefined, isDead = false): Promise<void> {
      const session = id as SessionId;
      await leases.create(sessionKey(session), encodeSessionRecord({ counter: 0, isDead }));
      membership.announce({ session, process: session, canOwn: true, isLeaving: false });
      network.connect().serve({ kind: 'session', session }, () => {
        asked += 1;
        return report === undefined ? new Promise(() => undefined) : Promise.resolve(encodeProcessReport(report));
      });
    },
    async status(): Promise<ClusterStatus> {
      const status = look.look();
      await clock.advance(PROCESS_ANSWER_MS);
      return status;
    },
  };
}

describe('the cluster status', () => {
  it('combines the reports of all processes, and names the process with the highest epoch as owner of a shard', async () => {
    const streams = async () => [
      { stream: 'KV_0', bytes: 1, messages: 9, lastPosition: 12, leader: 'nats-1', lagging: [] },
    ];
    const { process, status, leases } = stand({ ...NOTHING_SAID, streams });
    const shard = (name: string, epoch: number) => ({ ...SHARD, shard: name as ShardName, epoch });
    await process('node-a', reportOf('node-a', { nowMs: 1_767_225_600_000, shards: [shard('KV_0', 2)] }));
    await process('node-b', reportOf('node-b', { shards: [shard('KV_0', 3), shard('CONTROL', 1)] }));
    const wish = { process: 'node-b' as SessionId, by: 'ann', atMs: 1 };
    const moves = [{ ...wish, shard: 'KV_1' as ShardName }];
    await leases.create(WISHES_KEY, encodeWishes({ drained: [wish], moves }));
    const { processes, shards, alarms } = await status();
    expect(
      processes.map(({ process, state, isDrained, ownedShards }) => [process, state, isDrained, ownedShards]),
    ).to.deep.equal([
      ['node-a', 'ready', false, 1],
      ['node-b', 'ready', true, 2],
    ]);
    expect(processes[0]?.clockAheadMs).to.equal(0);
    expect(shards.map(({ shard, owner, epoch, lag, wished }) => [shard, owner, epoch, lag, wished])).to.deep.equal([
      ['CONTROL', 'node-b', 1, undefined, undefined],
      ['KV_0', 'node-b', 3, 4, undefined],
      ['KV_1', undefined, undefined, undefined, 'node-b'],
    ]);
    expect(alarms).to.deep.equal(['without an owner: KV_1']);
  });

  it('shows a process that does not answer in time as silent, a process declared dead as gone, and leaves out ended processes', async () => {
    const { process, status, leases } = stand();
    await process('node-a', reportOf('node-a', { checks: [{ name: 'clock', ok: false, detail: 'wrong' }] }));
    await process('node-b', undefined);
    await process('node-c', undefined, true);
    await process('node-d', undefined);
    await leases.delete(sessionKey('node-d' as SessionId));
    await leases.create(sessionKey('node-e' as SessionId), encodeSessionRecord({ counter: 1, isDead: false }));
    const ended = encodeSessionRecord({ counter: 1, isDead: true, hasEnded: true });
    await leases.create(sessionKey('node-f' as SessionId), ended);
    const { processes, alarms } = await status();
    expect(processes.map(({ process, state }) => `${process} ${state}`)).to.deep.equal([
      'node-a not-ready',
      'node-b silent',
      'node-c gone',
      'node-e silent',
    ]);
    expect(alarms).to.include.members(['process node-a is not ready: clock', 'process node-b does not answer']);
    expect(alarms.join()).not.to.contain('node-c');
  });

  it('shows the age of the last sign of life of a process that does not answer, at any time after it was declared dead', async () => {
    const { process, status, leases, clock } = stand();
    const [killed, standing] = ['node-b', 'node-c'] as SessionId[];
    const alive = encodeSessionRecord({ counter: 5, isDead: false });
    await leases.create(sessionKey(killed as SessionId), alive);
    await clock.advance(400_000);
    await leases.create(sessionKey(standing as SessionId), alive);
    await clock.advance(200_000);
    await markSessionDead(leases, killed as SessionId);
    await process('node-a', reportOf('node-a'));
    const { processes } = await status();
    expect(processes.map(({ process: id, silentForMs }) => [id, silentForMs])).to.deep.equal([
      ['node-a', undefined],
      ['node-b', 600_000],
      ['node-c', 200_000],
    ]);
  });

  it('shows the format level of a session that a process of the first release declared dead', async () => {
    const { status, leases } = stand();
    const counter = firstCounter(FORMAT_LEVEL) + 40;
    await leases.create(sessionKey('node-new' as SessionId), encodeSessionRecord({ counter, isDead: true }));
    await leases.create(sessionKey('node-old' as SessionId), encodeSessionRecord({ counter: 40, isDead: true }));
    const { processes } = await status();
    expect(processes.map(({ readsFormat }) => readsFormat)).to.deep.equal([FORMAT_LEVEL, undefined]);
  });

  it('shows the reports of processes when NATS does not answer', async () => {
    const streams = () => Promise.reject(new MillraceError('JOURNAL_UNAVAILABLE', 'no answer'));
    const { process, status, leases } = stand({ ...NOTHING_SAID, streams });
    await process('node-a', reportOf('node-a'));
    leases.keys = streams;
    leases.get = streams;
    const { processes, alarms } = await status();
    expect(processes.map(({ state }) => state)).to.deep.equal(['ready']);
    expect(alarms.filter((alarm) => alarm.includes('cannot be asked'))).to.have.length(3);
  });

  it('asks the processes once for several requests at the same time', async () => {
    const { process, look, asked, clock } = stand();
    await process('node-a', reportOf('node-a'));
    const first = [look.look(), look.look()];
    await clock.advance(LOOK_FRESH_MS - 1);
    first.push(look.look());
    await Promise.all(first);
    expect(asked()).to.equal(1);
    await clock.advance(1);
    const again = look.look();
    await clock.advance(100);
    await again;
    expect(asked()).to.equal(2);
  });
});

describe('an alarm of the cluster', () => {
  const WELL = { clusterId: '', processes: [], shards: [], servers: [], streams: [], drained: [], moves: [] };
  const stream = (name: string, lagging: ClusterStatus['streams'][number]['lagging'], leader: string | undefined) => ({
    ...{ stream: name, bytes: 0, messages: 0, lastPosition: 0 },
    leader,
    lagging,
  });

  it('is raised for a server without storage, a missing server and a nearly full one', () => {
    const server = { version: '2', hasSyncAlways: true };
    const servers = [
      { name: 'a', state: 'well' as const, ...server, storedBytes: 84, storeLimitBytes: 100 },
      { name: 'b', state: 'well' as const, ...server, storedBytes: 85, storeLimitBytes: 100 },
      { name: 'c', state: 'no-store' as const, ...server },
      { name: 'd', state: 'missing' as const },
    ];
    expect(alarmsOf({ ...WELL, servers })).to.deep.equal([
      'NATS server b has used more than 85 % of its storage limit',
      'NATS server c cannot store: JetStream is off there; check its disk and restart it',
      'NATS server d does not answer',
    ]);
  });

  it('is raised for a stream without a leader, and for a replica that lags far or is offline', () => {
    const far = { server: 'a', behind: 1000, isOffline: false };
    const near = { server: 'b', behind: 999, isOffline: false };
    const away = { server: 'c', behind: 0, isOffline: true };
    const streams = [
      stream('KV_0', [far, near], 'b'),
      ...Array.from({ length: 7 }, (_, at) => stream(`KV_${at + 1}`, [away], 'b')),
      stream('METER', [], undefined),
    ];
    expect(alarmsOf({ ...WELL, streams })).to.deep.equal([
      'without a leader: METER',
      'NATS server a lacks the newest of KV_0',
      'NATS server c lacks the newest of KV_1, KV_2, KV_3, KV_4, KV_5 and 2 more',
    ]);
  });
});
