/**
 * Cluster clients of Redis on a database in cluster mode, at three processes: they ask the owner of each slot, and do
 * not notice a planned move of a shard.
 */
import { expect } from 'chai';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { hashSlot, partitionOfSlot } from '../../../src/domain/kv/index.js';
import type { DatabaseId } from '../../../src/kernel/index.js';
import type { ClusterStatus } from '../../../src/ports/index.js';
import { kvPartition, shardOf } from '../../../src/protocol/index.js';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything } from '../../support/millrace-process.js';

const SHARDS = 6;
const PARTITIONS = 8;
const KEYS = Array.from({ length: 8 }, (_, index) => `counter:${index}`);
const WITHIN = { timeoutMs: 30_000, everyMs: 100 };

type SlotRange = [first: number, last: number, node: [host: string, port: number, id: string]];

describe('cluster clients of Redis, with three processes', function () {
  this.timeout(90_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let password: string;
  let id: string;
  const ports: number[] = [];

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, { MILLRACE_KV_SHARDS: String(SHARDS) });
    ports.push(await freePort(), await freePort(), await freePort());
    await Promise.all(ports.map((port) => cluster.start({ MILLRACE_RESP_PORT: String(port) })));
    const made = await cluster.run(['db', 'create', '--name', 'hot', '--partitions', String(PARTITIONS), '--cluster']);
    expect(made.stderr.toString()).to.equal('');
    ({ password, id } = credentialsIn(made.stdout.toString()));
    await eventually(async () => {
      const maps = await Promise.all(ports.map(slotsAt));
      expect(new Set(maps.map((map) => JSON.stringify(map))).size, 'all processes name the same owners').to.equal(1);
      expect(new Set(maps[0]?.map(([, , [, port]]) => port)).size).to.be.greaterThan(1);
    }, WITHIN);
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  /** The answer of one process, as a plain client gets it. */
  async function at(port: number, ...words: [string, ...string[]]): Promise<unknown> {
    const client = new Redis({ port, password, retryStrategy: () => null });
    try {
      return await client.call(...words);
    } finally {
      client.disconnect();
    }
  }
  const slotsAt = async (port: number) => (await at(port, 'CLUSTER', 'SLOTS')) as SlotRange[];
  const ioredis = () => new Cluster([{ host: '127.0.0.1', port: ports[0] as number }], { redisOptions: { password } });
  const nodeRedis = () =>
    createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${ports[1]}` }], defaults: { password } });

  /** Moves the shard of the first key away from its owner. */
  async function moveOne(): Promise<void> {
    const index = partitionOfSlot(hashSlot(KEYS[0] as string), PARTITIONS);
    const moved = shardOf('kv', kvPartition(id as DatabaseId, index), SHARDS);
    const { stdout } = await cluster.run(['cluster', 'status', '--json']);
    const { shards, processes } = JSON.parse(stdout.toString()) as ClusterStatus;
    const { shard, owner } = shards.find((one) => one.shard === moved) ?? {};
    const other = processes.find(({ process, state }) => process !== owner && state === 'ready');
    const { code, stderr } = await cluster.run([
      'cluster',
      'move',
      String(shard),
      String(other?.process),
      '--wait',
      '60',
    ]);
    expect(code, stderr).to.equal(0);
  }

  /** Increments every key with both clients, over and over, until the work is done. */
  async function whileCounting(work: () => Promise<void>): Promise<void> {
    const one = ioredis();
    const other = nodeRedis();
    const failures: string[] = [];
    other.on('error', (error: Error) => failures.push(`node-redis: ${error.message}`));
    await other.connect();
    const before = await Promise.all(KEYS.map(async (key) => Number(await one.get(key))));
    const acknowledged = KEYS.map(() => 0);
    let isOver = false;
    const count = async (name: string, index: number, increment: (key: string) => Promise<number>) => {
      while (!isOver) {
        try {
          await increment(KEYS[index] as string);
          acknowledged[index] = (acknowledged[index] ?? 0) + 1;
        } catch (error) {
          failures.push(`${name}: ${(error as Error).message}`);
        }
      }
    };
    const counting = KEYS.flatMap((_, index) => [
      count('ioredis', index, (key) => one.incr(key)),
      count('node-redis', index, (key) => other.incr(key)),
    ]);
    try {
      await work();
      const sofar = acknowledged.map((number) => number);
      await eventually(
        () => expect(acknowledged.every((number, index) => number > (sofar[index] ?? 0) + 5)).to.equal(true),
        WITHIN,
      );
    } finally {
      isOver = true;
      await Promise.all(counting);
    }
    const after = await Promise.all(KEYS.map(async (key) => Number(await one.get(key))));
    one.disconnect();
    other.destroy();
    expect(failures).to.deep.equal([]);
    expect(after.map((number, index) => number - (before[index] ?? 0))).to.deep.equal(acknowledged);
  }

  it('CLUSTER SLOTS names all 16384 slots, with the addresses of the processes that own them', async () => {
    const map = await slotsAt(ports[0] as number);
    let next = 0;
    for (const [first, last, [host, port]] of map) {
      expect([first, host]).to.deep.equal([next, '127.0.0.1']);
      expect(ports).to.include(port);
      next = last + 1;
    }
    expect(next).to.equal(16_384);
  });

  it('answers MOVED at a process that does not own the slot, and runs the command at the one that it names', async () => {
    const key = KEYS[0] as string;
    const slot = hashSlot(key);
    const map = await slotsAt(ports[0] as number);
    const owner = map.find(([first, last]) => first <= slot && slot <= last)?.[2][1] as number;
    const other = ports.find((port) => port !== owner) as number;
    expect(await at(other, 'SET', key, '0').catch(String)).to.contain(`MOVED ${slot} 127.0.0.1:${owner}`);
    expect(await at(owner, 'SET', key, '0')).to.equal('OK');
    const sizes = await Promise.all(ports.map((port) => at(port, 'DBSIZE')));
    expect(sizes.map(Number).filter((size) => size > 0)).to.deep.equal([1]);
    await at(owner, 'DEL', key);
  });

  it('run pipelines, transactions and scripts on keys of one slot, and scan every node once', async () => {
    const one = ioredis();
    const other = await nodeRedis().connect();
    await one.set('{tag}a', '1');
    expect(await one.pipeline().incr('{tag}a').get('{tag}a').exec()).to.deep.equal([
      [null, 2],
      [null, '2'],
    ]);
    expect(await one.multi().incr('{tag}a').get('{tag}a').exec()).to.deep.equal([
      [null, 3],
      [null, '3'],
    ]);
    expect(await other.multi().incr('{tag}a').get('{tag}a').exec()).to.deep.equal([4, '4']);
    expect(await one.eval('return redis.call("GET", KEYS[1])', 1, '{tag}a')).to.equal('4');
    for (let index = 0; index < 40; index += 1) await other.set(`scanned:${index}`, 'v');
    const seen: string[] = [];
    for (const node of one.nodes('master')) {
      for await (const keys of node.scanStream({ match: 'scanned:*' })) seen.push(...(keys as string[]));
    }
    expect(seen).to.have.length(40);
    expect(new Set(seen).size).to.equal(40);
    one.disconnect();
    other.destroy();
  });

  it('receive messages of sharded and of plain channels, published at any node', async () => {
    const other = await nodeRedis().connect();
    const heard: string[] = [];
    await other.sSubscribe('news', (message) => heard.push(`sharded ${message}`));
    await other.subscribe('news', (message) => heard.push(`plain ${message}`));
    const one = ioredis();
    await one.spublish('news', 'first');
    await one.publish('news', 'second');
    await eventually(() => expect([...heard].sort()).to.deep.equal(['plain second', 'sharded first']), WITHIN);
    one.disconnect();
    other.destroy();
  });

  it('have no error and lose no acknowledged write while a shard moves to another process', () =>
    whileCounting(async () => {
      const before = JSON.stringify(await slotsAt(ports[0] as number));
      await moveOne();
      await eventually(async () => {
        const maps = await Promise.all(ports.map(slotsAt));
        expect(new Set(maps.map((map) => JSON.stringify(map))).size).to.equal(1);
        expect(JSON.stringify(maps[0])).to.not.equal(before);
      }, WITHIN);
    }));
});
