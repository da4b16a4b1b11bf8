/** MILLRACE_WORKERS: one installation with several processes, on one set of ports. Proves SUL1, SUP1, WPO1–WPO4, WPR1, WPR2. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@upstash/qstash';
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { Cluster, Redis as IoRedis } from 'ioredis';
import { identifyProcess } from '../../../src/adapters/nats/embedded/process-identity.js';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { WIRE_ALIAS } from '../../support/millrace-clients.js';
import {
  embeddedEnvironment,
  endEverything,
  expectServeRefused,
  type MillraceProcess,
  PASSWORD,
  runMillrace,
  signalPid,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';

interface Listed {
  readonly process: string;
  readonly pid: number;
  readonly ownedShards: number;
}

describe('MILLRACE_WORKERS=2', function () {
  this.timeout(120_000);
  let installation: MillraceProcess;
  let environment: Record<string, string>;
  let sink: QueueSink;
  let rest: Redis;
  let native: IoRedis;
  let queue: Client;

  async function serve(): Promise<void> {
    installation = await startMillrace({ dataDir: environment.MILLRACE_DATA_DIR as string, env: environment });
    const { kv = '', resp = '', queue: baseUrl = '' } = installation.addresses;
    rest = new Redis({ url: kv, token: TOKEN });
    native = new IoRedis({ port: Number(new URL(resp).port), host: '127.0.0.1', password: PASSWORD });
    native.on('error', () => undefined);
    queue = new Client({ baseUrl, token: QUEUE_TOKEN });
  }

  async function workers(): Promise<readonly Listed[]> {
    const { stdout } = await runMillrace(['cluster', 'status', '--json'], environment);
    return (JSON.parse(stdout.toString()) as { processes: Listed[] }).processes;
  }

  async function metric(pattern: RegExp): Promise<string[]> {
    const page = await (await fetch(`${installation.metricsUrl}/metrics`)).text();
    return page.split('\n').filter((line) => pattern.test(line));
  }

  before(async () => {
    sink = await QueueSink.listening();
    const dataDir = await temporaryDirectory();
    // One after the other, as they are given.
    const workerPorts = [await freePort(), await freePort()];
    environment = {
      ...(await embeddedEnvironment(dataDir)),
      ...WIRE_ALIAS,
      MILLRACE_WORKERS: '2',
      MILLRACE_KV_SHARDS: '4',
      MILLRACE_QUEUE_SHARDS: '4',
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_RESP_WORKER_PORT: String(Math.min(...workerPorts)),
      MILLRACE_QUEUE_PORT: String(await freePort()),
      MILLRACE_MGMT_PORT: String(await freePort()),
      MILLRACE_METRICS_PORT: String(await freePort()),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
    };
    await serve();
  });
  after(async () => {
    native.disconnect();
    await endEverything();
    await sink.close();
  });

  it('prints one ready line, and serves REST, RESP, deliveries and the console on one port each', async () => {
    expect(installation.stdout().match(/^ready /gm)).to.have.length(1);
    expect(await rest.set('from-rest', '1')).to.equal('OK');
    expect(await native.incr('from-rest')).to.equal(2);
    const path = sink.path('workers');
    await queue.publish({ url: sink.url(path), body: 'hello' });
    await eventually(() => expect(sink.calls(path)[0]?.body).to.equal('hello'));
    const page = await fetch(`${installation.addresses.mgmt}/console/`);
    expect(page.status).to.equal(200);
  });

  it('answers a list of messages through any worker, though one keeps the read models', async () => {
    const { messages } = await queue.logs({ count: 1 }).then(({ logs }) => ({ messages: logs }));
    expect(messages).to.have.length(1);
    const asked = Array.from({ length: 4 }, () =>
      new Client({ baseUrl: installation.addresses.queue ?? '', token: QUEUE_TOKEN }).logs(),
    );
    for (const { logs } of await Promise.all(asked)) expect(logs).to.not.have.length(0);
  });

  it('shares shards and connections, and shows both workers in cluster status, the log, /readyz and /metrics', async () => {
    const listed = await workers();
    expect(listed.map(({ pid }) => pid))
      .to.have.length(2)
      .and.not.include(installation.pid);
    for (const { ownedShards } of listed) expect(ownedShards).to.be.greaterThan(0);
    const clients = Array.from({ length: 8 }, () => native.duplicate());
    await Promise.all(clients.map((client) => client.ping()));
    const connections = await metric(/^millrace_connections\{.*face="resp"/);
    for (const client of clients) client.disconnect();
    expect(connections).to.have.length(2);
    for (const line of connections) expect(Number(line.split(' ')[1])).to.be.within(2, 7);
    const ready = await fetch(`${installation.metricsUrl}/readyz`);
    expect(ready.status).to.equal(200);
    expect(await ready.json()).to.have.nested.property('checks.workers.detail', '2 of 2 workers serve');
    expect(installation.stderr())
      .to.match(/"worker":1,/)
      .and.match(/"worker":2,/);
  });

  it('sends cluster clients of Redis to the port of the worker that owns the slot', async () => {
    const made = await runMillrace(['db', 'create', '--name', 'hot', '--partitions', '16', '--cluster'], environment);
    const { password } = credentialsIn(made.stdout.toString());
    const [host, port] = ['127.0.0.1', Number(new URL(installation.addresses.resp ?? '').port)];
    const cluster = new Cluster([{ host, port }], { redisOptions: { password } });
    const first = Number(environment.MILLRACE_RESP_WORKER_PORT);
    await eventually(async () => {
      const slots = (await cluster.nodes('master')[0]?.call('CLUSTER', 'SLOTS')) as [
        number,
        number,
        [string, number],
      ][];
      expect([...new Set(slots.map(([, , [, at]]) => at))].sort()).to.deep.equal([first, first + 1]);
    });
    const keys = Array.from({ length: 32 }, (_, at) => `k${at}`);
    expect(await Promise.all(keys.map((key) => cluster.incr(key)))).to.deep.equal(keys.map(() => 1));
    const plain = new IoRedis({ host, port: first, password });
    const answers = await Promise.all(keys.map((key) => plain.incr(key).catch((error: Error) => error.message)));
    const moved = answers.filter((answer) => String(answer).endsWith(` ${host}:${first + 1}`));
    expect(moved.length).to.be.within(1, keys.length - 1);
    expect(answers.filter((answer) => answer === 2)).to.have.length(keys.length - moved.length);
    plain.disconnect();
    cluster.disconnect();
  });

  it('keeps each acknowledged write and serves within a second or two when a worker is killed', async () => {
    const acknowledged: string[] = [];
    let slowestMs = 0;
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n += 1) {
        const startedAt = performance.now();
        await eventually(() => native.set(`key-${n}`, n));
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        acknowledged.push(`key-${n}`);
      }
    })();
    const [victim] = await workers();
    signalPid(victim?.pid ?? 0, 'SIGKILL');
    await eventually(async () => expect(await metric(/^millrace_worker_restarts_total 1$/)).to.have.length(1));
    isOver = true;
    await writing;
    expect(slowestMs).to.be.lessThan(10_000);
    expect(await native.exists(...acknowledged)).to.equal(acknowledged.length);
    expect(installation.stderr()).to.match(/"event":"worker.ended".*"reason":"signal SIGKILL"/);
    await eventually(async () => expect((await queue.logs()).logs).to.not.have.length(0));
  });

  it('is refused a second time on the same data directory', async () => {
    await expectServeRefused({ ...environment, MILLRACE_METRICS_PORT: '0' }, 'is in use by process');
  });

  it('leaves no process when the supervisor is killed, and starts again with all data', async () => {
    const pids = [...(await workers()).map(({ pid }) => pid), await installation.natsPid()];
    await installation.kill('SIGKILL');
    await eventually(async () => {
      for (const pid of pids) expect(await identifyProcess(pid)).to.equal(undefined);
    });
    native.disconnect();
    await serve();
    expect(await rest.get('from-rest')).to.equal(2);
  });

  it('ends in order at SIGTERM', async () => {
    native.disconnect();
    const { code } = await installation.kill('SIGTERM');
    expect(code).to.equal(0);
    const running = await readFile(join(installation.dataDir, 'running.json')).catch(() => undefined);
    expect(running).to.equal(undefined);
  });
});
