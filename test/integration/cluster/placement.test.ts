/** Two processes of which one has most of the work: it gives a shard away, and no request fails. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { BY_LOAD } from '../../../src/actors/cluster/index.js';
import { hashSlot, partitionOfSlot } from '../../../src/domain/kv/index.js';
import type { DatabaseId, ShardName } from '../../../src/kernel/index.js';
import type { ClusterStatus } from '../../../src/ports/index.js';
import { kvPartition, shardOf } from '../../../src/protocol/index.js';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { describeOutcome, KvClient } from '../../support/kv-client.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';

const EMAIL = 'operator@tests.example';
const KEY = 'mrk_of-the-tests-0123456789abcdef';
const SHARDS = 6;
const PARTITIONS = 24;
const WITHIN = { timeoutMs: 45_000, everyMs: 250 };
/** A script with some milliseconds of work. */
const BUSY = 'local sum = 0; for i = 1, 200000 do sum = sum + i end; return redis.call("INCR", KEYS[1])';

describe('placement by load, with two processes', function () {
  this.timeout(90_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, {
      MILLRACE_KV_SHARDS: String(SHARDS),
      MILLRACE_PLACEMENT_LOAD_MS: '1500',
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
    });
    await Promise.all([cluster.start(), cluster.start()]);
    await eventually(async () => {
      const { shards } = await status();
      expect(shards.every(({ state }) => state === 'serving')).to.equal(true);
      expect(new Set(shards.map(({ owner }) => owner)).size).to.equal(2);
    }, WITHIN);
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  async function status(): Promise<ClusterStatus> {
    const headers = { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` };
    const answer = await fetch(`${cluster.processes[0]?.addresses.mgmt}/v2/admin/cluster`, { headers });
    expect(answer.status).to.equal(200);
    return (await answer.json()) as ClusterStatus;
  }

  it('a process above its share for MILLRACE_PLACEMENT_LOAD_MS gives one shard to the other', async () => {
    const made = await cluster.run(['db', 'create', '--name', 'busy', '--partitions', String(PARTITIONS)]);
    const { id, token } = credentialsIn(made.stdout.toString());
    const shardOfKey = (key: string): ShardName =>
      shardOf('kv', kvPartition(id as DatabaseId, partitionOfSlot(hashSlot(key), PARTITIONS)), SHARDS);
    const before = await status();
    const ownerOf = (shard: ShardName) => before.shards.find((one) => one.shard === shard)?.owner;
    // The work is on two shards of one process, so that moving one of them helps.
    const reached = [...new Set(Array.from({ length: 200 }, (_, n) => shardOfKey(`k${n}`)))];
    const busy = [...new Set(reached.map(ownerOf))].find(
      (owner) => reached.filter((one) => ownerOf(one) === owner).length > 1,
    );
    const owned = reached.filter((shard) => ownerOf(shard) === busy);
    expect(owned.length).to.be.greaterThan(1);
    const keys = owned.slice(0, 2).map((shard) => {
      for (let n = 0; ; n += 1) if (shardOfKey(`k${n}`) === shard) return `k${n}`;
    });
    const kv = new KvClient({ url: (cluster.processes[0] as MillraceProcess).kvUrl, token });
    const failures: string[] = [];
    const answered = keys.map(() => 0);
    let isOver = false;
    const working = keys.map(async (key, index) => {
      while (!isOver) {
        const outcome = await kv.command('EVAL', BUSY, 1, key);
        if (outcome.kind === 'done') answered[index] = (answered[index] ?? 0) + 1;
        else failures.push(describeOutcome(outcome));
        await pause(5);
      }
    });
    try {
      await eventually(async () => {
        const now = await status();
        const [move] = now.moves;
        expect(move?.by).to.equal(BY_LOAD);
        expect(owned.slice(0, 2)).to.include(move?.shard);
        expect(move?.process).to.not.equal(busy);
        expect(now.shards.find(({ shard }) => shard === move?.shard)).to.include({
          owner: move?.process,
          state: 'serving',
        });
        // The new owner's measurement of the shard starts at 0, and it reports once a second.
        const loads = now.shards.filter(({ shard }) => owned.slice(0, 2).includes(shard)).map(({ load }) => load);
        for (const load of loads) expect(load).to.be.greaterThan(0);
      }, WITHIN);
    } finally {
      isOver = true;
      await Promise.all(working);
    }
    expect(failures).to.deep.equal([]);
    const counted = await Promise.all(keys.map((key) => kv.ask('GET', key)));
    expect(counted.map(Number)).to.deep.equal(answered);
    kv.close();
    const table = (await cluster.run(['cluster', 'status'])).stdout.toString();
    expect(table)
      .to.match(/ LOAD /)
      .and.contain(`: ${BY_LOAD}, `);
  });
});
