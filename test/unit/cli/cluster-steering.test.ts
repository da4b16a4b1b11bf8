/** `millrace cluster drain|move` on a cluster that follows late or never, and the display of its status. */
import { expect } from 'chai';
import { Steering } from '../../../src/actors/cluster/index.js';
import { WISHES_KEY } from '../../../src/actors/runtime/index.js';
import { clusterTables } from '../../../src/cli/cluster-output.js';
import { steeringCommand } from '../../../src/cli/cluster-steering.js';
import type { RunVerb } from '../../../src/cli/parser.js';
import { decodeWishes } from '../../../src/codec/leases/index.js';
import type { SessionId, ShardName } from '../../../src/kernel/index.js';
import type { ClusterStatus, ProcessStatus } from '../../../src/ports/index.js';
import { runTyped } from '../../support/command-lines.js';
import { ManualTime, MemoryLeaseStore } from '../../support/memory/index.js';

const process = (id: string, more: Partial<ProcessStatus> = {}): ProcessStatus => ({
  process: id as SessionId,
  state: 'ready',
  isDrained: false,
  ownedShards: 1,
  roles: ['kv'],
  ...more,
});

const nobody = async (): Promise<never> => {
  throw new Error('steering asks nobody to raise a level');
};

/** @param follows the number of status reads after which the processes follow the wishes */
function stand(follows = Number.POSITIVE_INFINITY) {
  const time = new ManualTime();
  const leases = new MemoryLeaseStore();
  const texts = { out: '', error: '' };
  const steering = new Steering({ leases, clock: time }, 'ann@desk');
  let owner = 'node-a';
  let looks = 0;
  const look = async (): Promise<ClusterStatus> => {
    looks += 1;
    const record = await leases.get(WISHES_KEY);
    const { drained, moves } = record === undefined ? { drained: [], moves: [] } : decodeWishes(record.value);
    if (looks > follows) {
      if (drained.some((wish) => wish.process === owner)) owner = 'node-b';
      for (const wish of moves) owner = wish.process;
    }
    const isDrained = (id: string) => drained.some((wish) => wish.process === id);
    return {
      clusterId: 'C',
      alarms: [],
      processes: ['node-a', 'node-b'].map((id) =>
        process(id, { isDrained: isDrained(id), ownedShards: owner === id ? 1 : 0 }),
      ),
      shards: [{ shard: 'KV_0' as ShardName, owner: owner as SessionId, state: 'serving' }],
      servers: [],
      streams: [],
      drained,
      moves,
    };
  };
  const deps = {
    cluster: { look },
    steering,
    formats: { client: { send: nobody }, by: 'ann@desk', raiseLayout: nobody, account: nobody },
    clock: time,
    timers: time,
    write: (text: string) => {
      texts.out += text;
    },
    writeError: (text: string) => {
      texts.error += text;
    },
  };
  return {
    async run(...argv: string[]) {
      let code: number | undefined;
      const cluster: RunVerb = (verb, asked) => steeringCommand(verb, asked, deps);
      void runTyped(['cluster', ...argv], { cluster }, deps).then((ended) => {
        code = ended;
      });
      for (let second = 0; second < 200 && code === undefined; second += 1) await time.advance(1000);
      return { code, ...texts };
    },
  };
}

describe('millrace cluster drain and move', () => {
  it('drain waits until the process owns no shard, and prints once which shard it waits for', async () => {
    const { code, out, error } = await stand(3).run('drain', 'node-a');
    expect([code, out]).to.deep.equal([0, 'node-a is drained: it owns no shards and still answers clients\n']);
    expect(error).to.equal('waiting for node-a to hand over KV_0\n');
  });

  it('give up after --wait, print the open request, and leave it in force', async () => {
    const { code, error } = await stand().run('move', 'KV_0', 'node-b', '--wait', '5');
    expect(code).to.equal(1);
    expect(error).to.match(
      /still waiting for KV_0 to be served by node-b; its state is serving at node-a after 5 s; the request stays in force/,
    );
  });

  it('wait for 120 seconds by default', async () => {
    const { code, error } = await stand().run('drain', 'node-a');
    expect(code).to.equal(1);
    expect(error).to.match(/still waiting for node-a to hand over KV_0 after 120 s/);
  });

  it('move refuses a process without the role for the shard', async () => {
    const { code, error } = await stand().run('move', 'QUEUE_0', 'node-b');
    expect(code).to.equal(2);
    expect(error).to.match(/there is no shard QUEUE_0; the shards are KV_0/);
  });
});

describe('the tables of millrace cluster', () => {
  it('list problems first, the progress of a loading shard, and each wish with its author', () => {
    const nowMs = 1_767_225_600_000;
    const wish = { process: 'node-a' as SessionId, by: 'ann@desk', atMs: nowMs - 180_000 };
    const text = clusterTables(
      {
        clusterId: 'C',
        format: 1,
        alarms: ['without an owner: KV_1'],
        processes: [
          process('node-a', {
            isDrained: true,
            clockAheadMs: 7,
            isClockInDoubt: true,
            startedAtMs: nowMs,
            readsFormat: 2,
            host: 'machine-1',
            pid: 71,
            worker: 2,
          }),
        ],
        shards: [
          { shard: 'KV_0' as ShardName, owner: wish.process, state: 'replaying', replayed: 1, toReplay: 3 },
          { shard: 'KV_1' as ShardName, owner: undefined },
        ],
        servers: [{ name: 'nats-1', state: 'no-store', version: '2', hasSyncAlways: false }],
        streams: [],
        drained: [wish],
        moves: [{ ...wish, shard: 'KV_1' as ShardName }],
      },
      nowMs,
    );
    expect(text).to.match(/^cluster C: alarms: 1\n {2}without an owner: KV_1\n/);
    expect(text).to.contain('\nformat level 1; all processes read 2: millrace cluster upgrade\n');
    for (const part of [
      /machine-1:71, worker 2/,
      /ready, drained/,
      /7 ms, in doubt/,
      /replaying 33 %/,
      /KV_1 +none/,
      /cannot store +2 +NOT/,
    ]) {
      expect(text).to.match(part);
    }
    expect(text).to.contain('node-a is drained: ann@desk, 3 min ago\nKV_1 is placed at node-a: ann@desk, 3 min ago\n');
  });
});
