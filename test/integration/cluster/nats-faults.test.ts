/**
 * Effects on clients of faults of the NATS servers: three servers, two processes, a database on each of three shards,
 * each led by another server. The first server leads the leases, the last one the control stream. Bounds are those of a
 * quiet machine, with a slack for two busy cores. A wait that is too long is measured again, because a delay by other
 * programs passes and a delay by a fault returns. A failed request is never accepted.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { connect, type NatsConnection } from 'nats';
import type { DatabaseId, ShardName } from '../../../src/kernel/index.js';
import { databaseIdOfUuid, kvPartition, shardOf } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { basic } from '../../support/management-endpoint.js';
import { MillraceCluster, ownerOf } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';
import { type NatsCluster, startNatsCluster } from '../../support/nats-cluster.js';
import { NatsProxy } from '../../support/nats-proxy.js';
import { findNatsServer } from '../../support/nats-server.js';
import { type ProbedDatabase, WaitingTimes } from '../../support/waiting-times.js';

const EMAIL = 'admin@tests.example';
const KEY = 'key-of-the-nats-faults-0123456789';
const SHARDS = 3;
const SLACK_MS = 1000;
/** The servers elect a leader after 4 to 9 s, and no setting shortens that. */
const ELECTION_MS = 9000;
const PATIENT = { timeoutMs: 60_000, everyMs: 50 };
/** Streams are checked every ten seconds, and a stream that an earlier test moved is not moved again for a minute. */
const SPREAD = { timeoutMs: 120_000, everyMs: 500 };
/** Time for repeating a fault two or three times. */
const AGAIN_FOR_MS = 40_000;

/** Failures and waits of clients during one fault. */
interface Seen {
  readonly failures: readonly string[];
  /** Each wait must be below its bound. */
  readonly waits: readonly (readonly [waitMs: number, belowMs: number])[];
}

interface PlacedDatabase extends ProbedDatabase {
  readonly shard: ShardName;
}

describe('a fault of the NATS servers', function () {
  this.timeout(300_000);
  let nats: NatsCluster;
  let cluster: MillraceCluster;
  let operator: NatsConnection;
  let waiting: WaitingTimes;
  const processes: MillraceProcess[] = [];
  /** Between the first process and the servers. */
  let proxies: NatsProxy[] = [];
  const databases: PlacedDatabase[] = [];
  const everyDatabase = () => databases.map(({ name }) => name);

  before(async () => {
    nats = await startNatsCluster(findNatsServer());
    const facts = { ...nats, url: nats.urls.join(',') };
    cluster = await MillraceCluster.prepare(facts, {
      MILLRACE_REPLICAS: '3',
      MILLRACE_KV_SHARDS: String(SHARDS),
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      MILLRACE_ROLES: 'edge,kv',
      // The default. No process may be taken for dead, except in the test about that.
      MILLRACE_READ_LEASE_MS: '2000',
      MILLRACE_LEASE_RENEWAL_MS: '1000',
      MILLRACE_TAKEOVER_SILENCE_MS: '3000',
    });
    proxies = await Promise.all(nats.urls.map((url) => NatsProxy.start(Number(new URL(url).port))));
    const [first, second] = await Promise.all([
      cluster.start({ MILLRACE_NATS_URL: proxies.map(({ url }) => url).join(',') }),
      cluster.start(),
    ]);
    processes.push(first, second);
    while (new Set(databases.map(({ shard }) => shard)).size < SHARDS) await addDatabase(first);
    operator = await connect({
      servers: [...nats.urls],
      user: nats.user,
      pass: nats.password,
      maxReconnectAttempts: -1,
    });
    waiting = new WaitingTimes(processes, databases);
  });
  after(async () => {
    await waiting?.stop();
    await operator?.close();
    await endEverything();
    for (const proxy of proxies) await proxy.close();
    await nats?.stop();
  });

  async function quiet(): Promise<void> {
    for (const proxy of proxies) proxy.heal();
    await eventually(() => Promise.all(nats.nodes.map((node) => node.expectHealthy())), PATIENT);
    for (const { shard } of databases) await lead(shard, Number(shard.slice(-1)));
    await lead('KV_leases', 0);
    await lead('CONTROL', 2);
    // Waits for a second in which no client waits.
    await eventually(async () => {
      await waiting.during(1000, () => undefined);
      expect(waiting.worst(everyDatabase())).to.deep.include({ failures: [] });
      expect(waiting.worst(everyDatabase()).waitMs).to.be.below(300);
    }, PATIENT);
  }

  async function expectWaits(seenOf: () => Promise<Seen>): Promise<void> {
    const failed: string[] = [];
    const once = async () => {
      await quiet();
      const { failures, waits } = await seenOf();
      failed.push(...failures);
      for (const [waitMs, belowMs] of waits) expect(waitMs).to.be.below(belowMs);
    };
    await eventually(once, { timeoutMs: AGAIN_FOR_MS });
    expect(failed).to.deep.equal([]);
  }

  /** Adds a database on a shard that has none yet. */
  async function addDatabase(at: MillraceProcess): Promise<void> {
    const { database_id: uuid, rest_token: token } = await eventually(async () => {
      const answer = await fetch(`${at.addresses.mgmt}/v2/kv/database`, {
        method: 'POST',
        headers: { authorization: basic(EMAIL, KEY) },
        body: JSON.stringify({ name: `db ${Math.random()}`, region: 'eu-west-1' }),
      });
      expect(answer.status).to.equal(200);
      return (await answer.json()) as { database_id: string; rest_token: string };
    }, PATIENT);
    const shard = shardOf('kv', kvPartition(databaseIdOfUuid(uuid) as DatabaseId, 0), SHARDS);
    if (databases.every((known) => known.shard !== shard)) databases.push({ name: shard, token, shard });
  }

  async function ask(operation: string, body: object = {}) {
    const answer = await operator.request(`$JS.API.${operation}`, JSON.stringify(body), { timeout: 2000 });
    return answer.json<{ cluster?: { leader?: string } }>();
  }

  async function leaderOfEach(): Promise<Map<string, string | undefined>> {
    const answer = await operator.request('$JS.API.STREAM.LIST', '', { timeout: 5000 });
    const { streams } = answer.json<{ streams: { config: { name: string }; cluster?: { leader?: string } }[] }>();
    return new Map(streams.map(({ config, cluster }) => [config.name, cluster?.leader]));
  }

  /** Makes that server the leader of the stream. */
  async function lead(stream: string, node: number): Promise<void> {
    const preferred = nats.nodes[node]?.name;
    await eventually(async () => {
      if ((await ask(`STREAM.INFO.${stream}`)).cluster?.leader === preferred) return;
      await ask(`STREAM.LEADER.STEPDOWN.${stream}`, { placement: { preferred } });
      await pause(200);
      expect((await ask(`STREAM.INFO.${stream}`)).cluster?.leader).to.equal(preferred);
    }, PATIENT);
  }

  for (const node of [0, 1, 2]) {
    it(`an orderly stop of server ${node + 1} delays requests by at most half a second`, async () => {
      await expectWaits(async () => {
        await waiting.during(4000, () => nats.nodes[node]?.end());
        nats.nodes[node]?.start();
        const { waitMs, failures } = waiting.worst(everyDatabase());
        return { failures, waits: [[waitMs, 500 + SLACK_MS]] };
      });
    });
  }

  for (const [node, leading] of [
    [0, 'a shard and the leases'],
    [1, 'a shard'],
    [2, 'a shard and the control stream'],
  ] as const) {
    it(`killing the server that leads ${leading} delays that shard until the election, and no outcome is unknown`, async () => {
      const [led, others] = [[`KV_${node}`], everyDatabase().filter((name) => name !== `KV_${node}`)];
      await expectWaits(async () => {
        await waiting.during(ELECTION_MS + SLACK_MS, () => nats.nodes[node]?.kill());
        nats.nodes[node]?.start();
        const { waitMs, failures } = waiting.worst(others);
        const elected = waiting.worst(led);
        const unknown = elected.failures.filter((failure) => !failure.includes('nothing was executed'));
        const ofElection = [elected.waitMs, ELECTION_MS + SLACK_MS] as const;
        return { failures: [...failures, ...unknown], waits: [[waitMs, SLACK_MS], ofElection] };
      });
    });
  }

  it('the loss of two of three servers ends within four seconds after leaders are elected again', async () => {
    await expectWaits(async () => {
      let quorumAtMs = 0;
      await waiting.during(8000, async () => {
        await Promise.all([nats.nodes[0]?.kill(), nats.nodes[1]?.kill()]);
        await pause(3000);
        for (const node of [0, 1]) nats.nodes[node]?.start();
        const streams = ['KV_leases', 'CONTROL', ...databases.map(({ shard }) => shard)];
        await eventually(async () => {
          for (const stream of streams) expect((await ask(`STREAM.INFO.${stream}`)).cluster?.leader).to.be.a('string');
        }, PATIENT);
        quorumAtMs = performance.now();
      });
      return { failures: [], waits: [[waiting.overAtMs(500) - quorumAtMs, 4000 + SLACK_MS]] };
    });
  });

  it('when one server leads every stream, the processes spread the leaders within two minutes, with short delays', async () => {
    await expectWaits(async () => {
      for (const stream of (await leaderOfEach()).keys()) await lead(stream, 0);
      await waiting.during(1000, () => eventually(expectSpread, SPREAD));
      const { waitMs, failures } = waiting.worst(everyDatabase());
      return { failures, waits: [[waitMs, 500 + SLACK_MS]] };
    });
  });

  async function expectSpread(): Promise<void> {
    const led = await leaderOfEach();
    const counts = nats.nodes.map(({ name }) => [...led.values()].filter((leader) => leader === name).length);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.below(2);
    expect(led.get('KV_leases')).to.not.equal(led.get('CONTROL'));
  }

  it("a reset of a process's connections delays requests by a fifth of a second", async () => {
    await expectWaits(async () => {
      await waiting.during(2000, () => {
        for (const proxy of proxies) proxy.cut();
      });
      const { waitMs, failures } = waiting.worst(everyDatabase());
      return { failures, waits: [[waitMs, 200 + SLACK_MS]] };
    });
  });

  it('a process cut off from NATS is reported by /readyz/edge, and the other process serves on', async () => {
    const readyz = async (process: number) => (await fetch(`${processes[process]?.metricsUrl}/readyz/edge`)).status;
    await expectWaits(async () => {
      const owned = everyDatabase().filter((shard) => ownerOf(shard, processes) === processes[1]);
      let toldAfterMs = Number.POSITIVE_INFINITY;
      await waiting.during(1000, async () => {
        const cutAtMs = performance.now();
        for (const proxy of proxies)
          for (const direction of ['to-server', 'to-client'] as const) proxy.stall(direction);
        await eventually(async () => expect(await readyz(0)).to.equal(503));
        toldAfterMs = performance.now() - cutAtMs;
        for (let look = 0; look < 20; look += 1) {
          await eventually(async () => expect(await readyz(1)).to.equal(200), { timeoutMs: SLACK_MS });
          await pause(100);
        }
        for (const proxy of proxies) proxy.heal();
      });
      const { waitMs, failures } = waiting.worst(owned, [1]);
      return {
        failures,
        waits: [
          [toldAfterMs, 2000],
          [waitMs, SLACK_MS],
        ],
      };
    });
  });
});
