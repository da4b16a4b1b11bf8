/** Proves LPL1, LPL2, LPL3, LOB1. */
import { expect } from 'chai';
import { BY_LOAD, bestMove, LoadBalancer, outdated, overloaded } from '../../../../src/actors/cluster/index.js';
import { decodeWishes } from '../../../../src/codec/leases/index.js';
import type { SessionId, ShardName } from '../../../../src/kernel/index.js';
import type { ClusterStatus, Log, ProcessStatus, ShardStatus } from '../../../../src/ports/index.js';
import { ManualTime, MemoryLeaseStore } from '../../../support/memory/index.js';
import { seededRandom } from '../../../support/seeded-random.js';

const NOW = 10_000_000;
const PERIOD = 60_000;
const MOMENT = { nowMs: NOW, periodMs: PERIOD };
const [A, B, C] = ['node-a', 'node-b', 'node-c'] as [SessionId, SessionId, SessionId];
const shardName = (name: string) => name as ShardName;

const processOf = (process: SessionId, over: Partial<ProcessStatus> = {}): ProcessStatus => ({
  process,
  state: 'ready',
  isDrained: false,
  ownedShards: 0,
  version: '1.0.0',
  roles: ['kv', 'queue'],
  startedAtMs: 0,
  ...over,
});

/** @param owned the loads of the shards of each process: KV_0, KV_1 … in order */
function statusOf(
  owned: Partial<Record<SessionId, readonly number[]>>,
  over: Partial<ClusterStatus> = {},
): ClusterStatus {
  let next = 0;
  const shards = Object.entries(owned).flatMap(([owner, loads = []]) =>
    loads.map((load): ShardStatus => {
      next += 1;
      return { shard: shardName(`KV_${next - 1}`), owner: owner as SessionId, state: 'serving', load };
    }),
  );
  const processes = Object.keys(owned).map((process) => processOf(process as SessionId));
  return { clusterId: 'x', alarms: [], processes, shards, servers: [], streams: [], drained: [], moves: [], ...over };
}

const uneven = (over: Partial<ClusterStatus> = {}) => statusOf({ [A]: [0.5, 0.3], [B]: [0.1, 0] }, over);

describe('placement by load', () => {
  it('finds the process whose shards take more than its share', () => {
    expect(overloaded(uneven(), MOMENT)).to.equal(A);
    expect(overloaded(statusOf({ [A]: [0.5], [B]: [0.45] }), MOMENT)).to.equal(undefined);
    expect(overloaded(statusOf({ [A]: [0.03], [B]: [0] }), MOMENT), 'hardly any work').to.equal(undefined);
  });

  it('moves the shard that evens out the work best, to the process with the least', () => {
    expect(bestMove(uneven(), A, MOMENT)).to.deep.equal({ shard: 'KV_1', from: A, to: B });
    const three = statusOf({ [A]: [0.6, 0.3], [B]: [0.4], [C]: [0.05] });
    expect(bestMove(three, A, MOMENT)).to.deep.equal({ shard: 'KV_1', from: A, to: C });
  });

  it('leaves a single heavy shard where it is, and moves the others away from it', () => {
    expect(bestMove(statusOf({ [A]: [0.9], [B]: [0.1] }), A, MOMENT)).to.equal(undefined);
    expect(bestMove(statusOf({ [A]: [0.9, 0.1, 0.2], [B]: [0] }), A, MOMENT)?.shard, 'the heaviest first').to.equal(
      'KV_0',
    );
    expect(bestMove(statusOf({ [A]: [0.9, 0.1, 0.2], [B]: [0.6] }), A, MOMENT)?.shard).to.equal('KV_2');
    expect(bestMove(statusOf({ [A]: [0.9, 0.01], [B]: [0] }), A, MOMENT), 'a gain too small').to.equal(undefined);
  });

  it('moves no control shard, and no shard to a process without its role', () => {
    const shards: ShardStatus[] = [
      { shard: shardName('CONTROL'), owner: A, state: 'serving', load: 0.4 },
      { shard: shardName('QUEUE_0'), owner: A, state: 'serving', load: 0.4 },
    ];
    const processes = [processOf(A), processOf(B, { roles: ['kv'] })];
    expect(bestMove(uneven({ shards, processes }), A, MOMENT)).to.equal(undefined);
    const able = [processOf(A), processOf(B, { roles: ['queue'] })];
    expect(bestMove(uneven({ shards, processes: able }), A, MOMENT)?.shard).to.equal('QUEUE_0');
  });

  it('moves no shard that an operator has placed, and none again for ten periods', () => {
    const wish = (shard: string, by: string, atMs: number) => ({ shard: shardName(shard), process: A, by, atMs });
    const placed = [wish('KV_0', 'ops@example.com', 0), wish('KV_1', BY_LOAD, NOW - 9 * PERIOD)];
    expect(bestMove(uneven({ moves: placed }), A, MOMENT)).to.equal(undefined);
    const longAgo = [placed[0] as (typeof placed)[0], wish('KV_1', BY_LOAD, NOW - 11 * PERIOD)];
    expect(bestMove(uneven({ moves: longAgo }), A, MOMENT)?.shard).to.equal('KV_1');
  });

  const changes: readonly [string, Partial<ClusterStatus>][] = [
    ['a process is not ready', { processes: [processOf(A), processOf(B, { state: 'not-ready' })] }],
    ['a process does not answer', { processes: [processOf(A), processOf(B), processOf(C, { state: 'silent' })] }],
    ['a process is drained', { drained: [{ process: B, by: 'ops', atMs: 0 }] }],
    ['a process is new', { processes: [processOf(A), processOf(B, { startedAtMs: NOW - 59_000 })] }],
    ['a process has another version', { processes: [processOf(A), processOf(B, { version: '1.0.1' })] }],
    [
      'a shard is replayed',
      { shards: [...uneven().shards, { shard: shardName('KV_9'), owner: B, state: 'replaying' }] },
    ],
    ['a shard has no owner', { shards: [...uneven().shards, { shard: shardName('KV_9'), owner: undefined }] }],
    [
      'a shard is on its way',
      { shards: [...uneven().shards, { shard: shardName('KV_9'), owner: A, state: 'serving', wished: B }] },
    ],
    ['there is one process', { processes: [processOf(A)] }],
  ];
  for (const [what, over] of changes) {
    it(`waits while ${what}`, () => expect(overloaded(uneven(over), MOMENT)).to.equal(undefined));
  }

  it('does not wait for a process that is gone, and ignores wishes for it', () => {
    const processes = [
      processOf(A),
      processOf(B),
      { process: C, state: 'gone', isDrained: false, ownedShards: 0 } as const,
    ];
    expect(overloaded(uneven({ processes }), MOMENT)).to.equal(A);
    const moves = [
      { shard: shardName('KV_0'), process: 'node-old' as SessionId, by: BY_LOAD, atMs: 0 },
      { shard: shardName('KV_1'), process: 'node-old' as SessionId, by: 'ops', atMs: 0 },
    ];
    expect(outdated(uneven({ moves }))).to.deep.equal(['KV_0']);
  });

  it('ends after a few moves for any loads, with no process far above the others that a move could relieve', () => {
    const { next } = seededRandom(7);
    for (let round = 0; round < 50; round += 1) {
      const loads = Array.from({ length: 12 }, () => next() ** 3 * 0.5);
      let status = statusOf({ [A]: loads.slice(0, 8), [B]: loads.slice(8, 11), [C]: loads.slice(11) });
      let moves = 0;
      for (;;) {
        const from = overloaded(status, MOMENT);
        const move = from === undefined ? undefined : bestMove(status, from, MOMENT);
        if (move === undefined) break;
        moves += 1;
        const shards = status.shards.map((one) => (one.shard === move.shard ? { ...one, owner: move.to } : one));
        status = { ...status, shards };
        expect(moves, JSON.stringify(loads)).to.be.lessThan(12);
      }
    }
  });
});

describe('the balancer of load', () => {
  const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };

  class Stand {
    readonly time = new ManualTime();
    readonly leases = new MemoryLeaseStore();
    status = uneven();
    isOwner = true;
    moved = 0;
    readonly balancer: LoadBalancer;

    constructor(periodMs = PERIOD) {
      const ports = {
        cluster: { look: async () => ({ ...this.status, processes: this.status.processes }) },
        leases: this.leases,
        clock: { nowMs: () => NOW + this.time.monotonicMs(), monotonicMs: () => this.time.monotonicMs() },
        timers: this.time,
        log,
        moves: { add: () => (this.moved += 1) },
        isOwner: () => this.isOwner,
      };
      this.balancer = new LoadBalancer(ports, periodMs);
    }

    async moves(): Promise<readonly string[]> {
      const record = await this.leases.get('wishes');
      return record === undefined
        ? []
        : decodeWishes(record.value).moves.map(({ shard, process }) => `${shard} ${process}`);
    }
  }

  it('gives one shard away after the whole period above the share, and begins a new period', async () => {
    const stand = new Stand();
    stand.balancer.start();
    await stand.time.advance(PERIOD);
    expect(await stand.moves()).to.deep.equal([]);
    await stand.time.advance(PERIOD / 6 + 1_000);
    expect(await stand.moves()).to.deep.equal(['KV_1 node-b']);
    await stand.time.advance(PERIOD / 2);
    expect(stand.moved).to.equal(1);
    stand.balancer.stop();
  });

  it('forgets a peak that ends within the period', async () => {
    const stand = new Stand();
    stand.balancer.start();
    await stand.time.advance(PERIOD * 0.8);
    stand.status = statusOf({ [A]: [0.1], [B]: [0.1] });
    await stand.time.advance(PERIOD / 6);
    stand.status = uneven();
    await stand.time.advance(PERIOD * 0.8);
    expect(await stand.moves()).to.deep.equal([]);
    stand.balancer.stop();
  });

  it('moves nothing in a process that does not own the control shard', async () => {
    const stand = new Stand();
    stand.isOwner = false;
    stand.balancer.start();
    await stand.time.advance(PERIOD * 3);
    expect(await stand.moves()).to.deep.equal([]);
    stand.balancer.stop();
  });

  it('moves nothing with MILLRACE_PLACEMENT_LOAD_MS=0', async () => {
    const stand = new Stand(0);
    stand.balancer.start();
    await stand.time.advance(PERIOD * 3);
    expect(await stand.moves()).to.deep.equal([]);
    stand.balancer.stop();
  });
});
