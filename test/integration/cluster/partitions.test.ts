/**
 * `millrace db partitions` with three processes and writers over RESP and REST: no request fails, every acknowledged
 * write is there afterwards, also when an owner or the owner of the control shard is killed during the copy.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { DatabaseId } from '../../../src/kernel/index.js';
import { CONTROL_SHARD, kvPartition, shardOf, uuidOf } from '../../../src/protocol/index.js';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { describeOutcome, KvClient } from '../../support/kv-client.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';

const EMAIL = 'operator@tests.example';
const KEY = 'mrk_of-the-tests-0123456789abcdef';
const SHARDS = 6;
const KEYS = 6_000;
/** The bound of the wait that the pages name, and a margin for the busy machine. */
const MAX_WAIT_MS = 10_000;
const DOCUMENTS = 300;
const WITHIN = { timeoutMs: 60_000, everyMs: 20 };

interface Writer {
  readonly name: string;
  /** The last value of each key. */
  readonly acknowledged: Map<string, string>;
  /** All values of each key, in order. */
  readonly acknowledgements: Map<string, number[]>;
  readonly failures: string[];
  longestMs: number;
  written: number;
}

describe('millrace db partitions, with three processes', function () {
  this.timeout(150_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let sink: QueueSink;
  let secrets: { id: string; token: string; password: string };
  let writers: Writer[];
  let isOver: boolean;
  let working: Promise<void>[];
  const killed: MillraceProcess[] = [];
  const connections: Redis[] = [];
  const ports = new Map<MillraceProcess, number>();

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, {
      MILLRACE_KV_SHARDS: String(SHARDS),
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
    });
    sink = await QueueSink.listening();
    for (let count = 0; count < 3; count += 1) {
      const port = await freePort();
      ports.set(await cluster.start({ MILLRACE_RESP_PORT: String(port) }), port);
    }
    expect((await cluster.run(['cluster', 'upgrade'])).code).to.equal(0);
    const made = await cluster.run(['db', 'create', '--name', 'orders']);
    expect(made.stderr.toString()).to.equal('');
    secrets = credentialsIn(made.stdout.toString());
    await makeTrigger();
    const kv = clientAt(0);
    for (let from = 0; from < KEYS; from += 500) {
      await kv.ask('MSET', ...Array.from({ length: 500 }, (_, n) => [`k${from + n}`, `v${from + n}`]).flat());
    }
    await kv.ask('SEARCH.CREATE', 'titles', 'ON', 'HASH', 'PREFIX', '1', 'doc:', 'SCHEMA', 'title', 'TEXT');
    await kv.ask('SEARCH.ALIASADD', 'named', 'titles');
    await kv.pipeline(Array.from({ length: DOCUMENTS }, (_, n) => ['HSET', `doc:${n}`, 'title', 'a red house']));
    await kv.ask('RPUSH', 'list', 'a', 'b', 'c');
    await kv.ask('ZADD', 'ranks', '1.5', 'x', '2', 'y');
    await kv.ask('HSET', 'hash', 'f', '1');
    await kv.ask('XADD', 'stream', '1-1', 'f', 'v');
    await kv.ask('SET', 'lasting', 'v', 'EX', '100000');
    await kv.ask('SET', 'passing', 'v', 'PX', '1500');
    await kv.ask('CONFIG', 'SET', 'slowlog-max-len', '77');
  });
  beforeEach(() => {
    isOver = false;
    writers = [];
    working = [];
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
    await sink?.close();
  });

  async function makeTrigger(): Promise<void> {
    const headers = { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'application/json' };
    const trigger = {
      database: 'orders',
      patterns: ['rest:*'],
      events: ['set', 'del', 'flush'],
      destination: sink.url('/changes'),
      lanes: 16,
    };
    const url = `${cluster.processes[0]?.addresses.queue}/v2/triggers`;
    const made = await fetch(url, { method: 'POST', headers, body: JSON.stringify(trigger) });
    expect(made.status, await made.clone().text()).to.equal(200);
  }

  /** The trigger has sent each acknowledged write of its keys, those of a key in order, and no copied key. */
  async function checkTrigger(): Promise<void> {
    const { acknowledgements } = writers.find(({ name }) => name.startsWith('rest:')) as Writer;
    for (const [key, values] of acknowledgements) {
      await eventually(() => {
        const sent = sentOf(key);
        expect(sent, key).to.deep.equal([...sent].sort((a, b) => a - b));
        expect(sent, key).to.include.members(values);
      }, WITHIN);
    }
    expect(sink.calls('/changes').filter(({ body }) => JSON.parse(body).event !== 'set')).to.deep.equal([]);
  }

  /** Numbers in the records of a key, without repetitions. */
  function sentOf(key: string): number[] {
    const records = sink.calls('/changes').map(({ body }) => JSON.parse(body) as { key: string; commands: string[][] });
    return [...new Set(records.filter((record) => record.key === key).map(({ commands }) => Number(commands[0]?.[2])))];
  }

  function clientAt(process: number): KvClient {
    return new KvClient({ url: (cluster.processes[process] as MillraceProcess).kvUrl, token: secrets.token });
  }

  /** Writes keys of many slots, each with a growing number, until the test is over. */
  function write(name: string, set: (key: string, value: string) => Promise<string | undefined>): void {
    const acknowledgements = new Map<string, number[]>();
    const writer: Writer = { name, acknowledged: new Map(), acknowledgements, failures: [], longestMs: 0, written: 0 };
    writers.push(writer);
    working.push(
      (async () => {
        for (let n = 0; !isOver; n += 1) {
          const [key, value] = [`${name}:${n % 50}`, String(n)];
          const startedAtMs = performance.now();
          const failure = await set(key, value);
          writer.longestMs = Math.max(writer.longestMs, performance.now() - startedAtMs);
          if (failure === undefined) {
            writer.acknowledged.set(key, value);
            acknowledgements.set(key, [...(acknowledgements.get(key) ?? []), n]);
            writer.written += 1;
          } else {
            writer.failures.push(failure);
            // The outcome is unknown: the next write of the key decides.
            writer.acknowledged.delete(key);
          }
          await pause(10);
        }
      })(),
    );
  }

  /** @param isQuiet no process is killed, so no message is lost and no outcome is unknown */
  function writeOver(name: string, process: number, isQuiet = false): void {
    const kv = clientAt(process);
    write(`rest:${name}`, async (key, value) => {
      const outcome = await kv.command('SET', key, value);
      return outcome.kind === 'done' ? undefined : describeOutcome(outcome);
    });
    write(`pipeline:${name}`, async (key, value) => {
      const names = Array.from({ length: 8 }, (_, n) => `${key}:${n}`);
      const outcome = await kv.pipeline([...names.map((each) => ['SET', each, value]), ['SET', key, value]]);
      if (outcome.kind !== 'done') return describeOutcome(outcome);
      const refused = (outcome.result as { error?: string }[]).find(({ error }) => error !== undefined);
      return refused?.error;
    });
    const port = ports.get(cluster.processes[process] as MillraceProcess) as number;
    const redis = new Redis({ port, password: secrets.password });
    redis.on('error', () => undefined);
    write(`resp:${name}`, (key, value) =>
      redis.set(key, value).then(
        () => undefined,
        (error: Error) => error.message,
      ),
    );
    write(`multi:${name}`, async (named, value) => {
      const replies = await redis
        .multi()
        .set(`{${named}}:other`, value)
        .set(named, value)
        .exec()
        .catch((error: Error) => error);
      return replies instanceof Error ? replies.message : undefined;
    });
    connections.push(redis);
    if (isQuiet) listenAndWait(name, redis);
  }

  /** A query finds all documents at any moment of the change. */
  function searchOver(process: number): void {
    const kv = clientAt(process);
    working.push(
      (async () => {
        while (!isOver) {
          expect(await kv.ask('SEARCH.COUNT', 'named', '{"title":"red"}')).to.equal(DOCUMENTS);
          await pause(20);
        }
      })(),
    );
  }

  /** Messages in their order, and elements for a client that waits for them. */
  function listenAndWait(name: string, redis: Redis): void {
    const listening = redis.duplicate();
    listening.on('error', () => undefined);
    const heard: string[] = [];
    working.push(
      (async () => {
        listening.on('message', (_, message: string) => void heard.push(message));
        await listening.subscribe(`news:${name}`);
        const published: string[] = [];
        for (let n = 0; !isOver; n += 1) {
          if ((await redis.publish(`news:${name}`, String(n))) > 0) published.push(String(n));
          await pause(5);
        }
        await eventually(() => expect(heard, 'messages').to.deep.equal(published), WITHIN);
      })(),
    );
    const blocking = redis.duplicate();
    blocking.on('error', () => undefined);
    connections.push(listening, blocking);
    working.push(
      (async () => {
        const popped: string[] = [];
        const expected: string[] = [];
        for (let n = 0; !isOver; n += 1) {
          const taking = blocking.blpop(`queue:${name}`, 30);
          await pause(20);
          await redis.rpush(`queue:${name}`, String(n));
          expected.push(String(n));
          const taken = await taking;
          if (taken !== null) popped.push(taken[1]);
        }
        expect(popped, 'BLPOP').to.deep.equal(expected);
      })(),
    );
  }

  async function changeTo(number: number): Promise<string> {
    const changed = await cluster.run(['db', 'partitions', 'orders', String(number), '--yes', '--wait']);
    expect(changed.stderr.toString()).to.equal('');
    return changed.stdout.toString();
  }

  async function untilCopying(process: number): Promise<void> {
    const headers = { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` };
    const url = `${cluster.processes[process]?.addresses.mgmt}/v2/kv/database/${uuidOf(secrets.id as DatabaseId)}`;
    await eventually(async () => {
      const answer = await fetch(url, { headers });
      expect(await answer.json()).to.have.nested.property('layout_change.phase', 'copying');
    }, WITHIN);
  }

  async function stopWriters(): Promise<void> {
    isOver = true;
    await Promise.all(working);
    for (const connection of connections.splice(0)) connection.disconnect();
  }

  async function checkContents(process: number): Promise<void> {
    const kv = clientAt(process);
    await checkTrigger();
    for (const { acknowledged } of writers) {
      for (const [key, value] of acknowledged) expect(await kv.ask('GET', key), key).to.equal(value);
    }
    for (let n = 0; n < KEYS; n += 97) expect(await kv.ask('GET', `k${n}`)).to.equal(`v${n}`);
    expect(await kv.ask('LRANGE', 'list', '0', '-1')).to.deep.equal(['a', 'b', 'c']);
    expect(await kv.ask('ZRANGE', 'ranks', '0', '-1', 'WITHSCORES')).to.deep.equal(['x', '1.5', 'y', '2']);
    expect(await kv.ask('SEARCH.COUNT', 'named', '{"title":"red"}')).to.equal(DOCUMENTS);
    expect(await kv.ask('SEARCH.LISTALIASES')).to.deep.equal([['named', 'titles']]);
    expect(await kv.ask('HGETALL', 'hash')).to.deep.equal(['f', '1']);
    expect(await kv.ask('XLEN', 'stream')).to.equal(1);
    expect(await kv.ask('TTL', 'lasting')).to.be.greaterThan(90_000);
    expect(await kv.ask('GET', 'passing')).to.equal(null);
    expect(await kv.ask('CONFIG', 'GET', 'slowlog-max-len')).to.deep.equal(['slowlog-max-len', '77']);
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const [next, keys] = (await kv.ask('SCAN', cursor, 'COUNT', '500')) as [string, string[]];
      for (const key of keys) seen.add(key);
      cursor = next;
    } while (cursor !== '0');
    expect(await kv.ask('DBSIZE')).to.equal(seen.size);
    expect(seen.size).to.be.greaterThan(KEYS);
  }

  /** A process other than the first ones, which is killed; clients use another one. */
  function victimAndOther(shard: string): { victim: MillraceProcess; other: number } {
    const alive = cluster.processes.filter((process) => !killed.includes(process));
    const victim = ownerOf(shard, alive);
    killed.push(victim);
    return { victim, other: cluster.processes.findIndex((process) => !killed.includes(process)) };
  }

  it('from 1 to 4 partitions: no request fails, and each acknowledged write is there', async () => {
    writeOver('a', 1, true);
    searchOver(1);
    const written = () => writers.map((writer) => writer.written);
    await eventually(() => expect(Math.min(...written())).to.be.greaterThan(0));
    expect(await changeTo(4)).to.match(/partitions=4\n$/);
    const atChange = written();
    await eventually(() => expect(written().every((now, at) => now > (atChange[at] as number))).to.equal(true));
    await stopWriters();
    expect(writers.flatMap(({ failures }) => failures)).to.deep.equal([]);
    for (const { longestMs, written } of writers) {
      expect(longestMs).to.be.lessThan(MAX_WAIT_MS);
      expect(written).to.be.greaterThan(0);
    }
    await checkContents(2);
  });

  it('from 4 to 2 partitions, with kill -9 of the owner of a partition', async () => {
    const { victim, other } = victimAndOther(shardOf('kv', kvPartition(secrets.id as DatabaseId, 2), SHARDS));
    writeOver('b', other);
    const changing = changeTo(2);
    await untilCopying(other);
    await victim.kill();
    expect(await changing).to.match(/partitions=2\n$/);
    await stopWriters();
    await checkContents(other);
  });

  it('from 2 to 1 partition, with kill -9 of the owner of the control shard', async () => {
    const { victim, other } = victimAndOther(CONTROL_SHARD);
    writeOver('c', other);
    const changing = changeTo(1);
    await untilCopying(other);
    await victim.kill();
    expect(await changing).to.match(/partitions=1\n$/);
    await stopWriters();
    await checkContents(other);
  });
});
