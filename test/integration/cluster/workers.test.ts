/** MILLRACE_WORKERS: one installation with several processes, on one set of ports. Proves WPO4. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client } from '@upstash/qstash';
import { expect } from 'chai';
import { Cluster, Redis as IoRedis } from 'ioredis';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { runMillrace, signalPid, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import { WorkersStand } from '../../support/workers-stand.js';

interface Listed {
  readonly worker: number;
  readonly pid: number;
}

describe('MILLRACE_WORKERS=2', function () {
  this.timeout(300_000);
  let stand: WorkersStand;
  let sink: QueueSink;
  /** Places of secrets. */
  let headersFile: string;
  let tokenFile: string;

  before(async () => {
    sink = await QueueSink.listening();
    const secrets = await temporaryDirectory();
    [headersFile, tokenFile] = [join(secrets, 'headers'), join(secrets, 'token')];
    await writeFile(headersFile, 'collector-key=before\n');
    await writeFile(tokenFile, `${QUEUE_TOKEN}\n`);
    stand = await WorkersStand.start({
      MILLRACE_OTLP_ENDPOINT: sink.origin,
      MILLRACE_OTLP_HEADERS: `exec:cat ${headersFile}`,
      MILLRACE_TRACE_RATIO: '0',
      MILLRACE_QUEUE_TOKEN: `file:${tokenFile}`,
    });
  });
  after(async () => {
    await stand?.end();
    await sink.close();
  });

  it('prints one ready line, and serves REST, RESP, deliveries and the console on one port each', async () => {
    expect(stand.installation.stdout().match(/^ready /gm)).to.have.length(1);
    expect(await stand.rest.set('from-rest', '1')).to.equal('OK');
    expect(await stand.native.incr('from-rest')).to.equal(2);
    const path = sink.path('workers');
    await stand.queue.publish({ url: sink.url(path), body: 'hello' });
    await eventually(() => expect(sink.calls(path)[0]?.body).to.equal('hello'));
    const page = await fetch(`${stand.installation.addresses.mgmt}/console/`);
    expect(page.status).to.equal(200);
  });

  it('answers a list of messages through any worker, though one keeps the read models', async () => {
    const { messages } = await stand.queue.logs({ count: 1 }).then(({ logs }) => ({ messages: logs }));
    expect(messages).to.have.length(1);
    const asked = Array.from({ length: 4 }, () =>
      new Client({ baseUrl: stand.installation.addresses.queue ?? '', token: QUEUE_TOKEN }).logs(),
    );
    for (const { logs } of await Promise.all(asked)) expect(logs).to.not.have.length(0);
  });

  it('shares shards and connections, and shows both workers in cluster status, the log, /readyz and /metrics', async () => {
    const { stdout } = await runMillrace(['cluster', 'status', '--json'], stand.environment);
    const { processes: listed } = JSON.parse(stdout.toString()) as { processes: Listed[] };
    expect(listed.map(({ worker }) => worker)).to.have.members([1, 2]);
    expect(listed.map(({ pid }) => pid)).to.have.members(await stand.workers());
    // Workers that did not join at the same time move shards later.
    await eventually(async () =>
      expect(await stand.metric(/^millrace_takeovers_total\{worker="[12]"\} [1-9]/)).to.have.length(2),
    );
    // Without a password, none is for a certain database.
    const port = Number(new URL(stand.installation.addresses.resp ?? '').port);
    const clients = Array.from({ length: 8 }, () => connect(port, '127.0.0.1'));
    for (const client of clients) client.write('PING\r\n');
    await Promise.all(clients.map((client) => once(client, 'data')));
    const connections = await stand.metric(/^millrace_connections\{.*face="resp"/);
    for (const client of clients) client.destroy();
    expect(connections).to.have.length(2);
    for (const line of connections) expect(Number(line.split(' ')[1])).to.be.within(1, 8);
    await eventually(async () => {
      const ready = await fetch(`${stand.installation.metricsUrl}/readyz`);
      const { checks } = (await ready.json()) as { checks: { workers?: unknown } };
      expect([ready.status, checks.workers]).to.deep.equal([200, { ok: true, detail: '2 of 2 workers serve' }]);
    });
    expect(stand.installation.stderr())
      .to.match(/"worker":1,/)
      .and.match(/"worker":2,/);
  });

  it('sends cluster clients of Redis to the port of the worker that owns the slot', async () => {
    const made = await runMillrace(
      ['db', 'create', '--name', 'hot', '--partitions', '16', '--cluster'],
      stand.environment,
    );
    const { password } = credentialsIn(made.stdout.toString());
    const [host, port] = ['127.0.0.1', Number(new URL(stand.installation.addresses.resp ?? '').port)];
    const cluster = new Cluster([{ host, port }], { redisOptions: { password } });
    const first = Number(stand.environment.MILLRACE_RESP_WORKER_PORT);
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

  it('refuses to start on a port that is in use, in one line', async () => {
    const dataDir = await temporaryDirectory();
    const { code, stderr } = await runMillrace(['serve'], { ...stand.environment, MILLRACE_DATA_DIR: dataDir });
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^millrace: MILLRACE_METRICS_PORT: .* another program listens there$/);
  });

  it('refuses a reload with another port', async () => {
    const { code, stderr } = await runMillrace(['reload', '--settings'], {
      ...stand.environment,
      MILLRACE_KV_PORT: '1',
    });
    expect([code, stderr]).to.deep.equal([
      1,
      'millrace: another value of MILLRACE_KV_PORT needs a restart of the whole process: the workers stay as they are\n',
    ]);
  });

  it('millrace reload reads the places of secrets again; a token of the first start stays, with a warning', async () => {
    const traced = async (key: string) => {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      };
      const answer = await fetch(`${stand.installation.addresses.kv}/set/traced/1`, { headers });
      expect(answer.status).to.equal(200);
      const keys = sink.calls('/v1/traces').map(({ headers: sent }) => sent['collector-key']);
      expect(keys.at(-1)).to.equal(key);
    };
    await eventually(() => traced('before'));
    await writeFile(headersFile, 'collector-key=after\n');
    await writeFile(tokenFile, 'another-token-of-the-queue-0123456789\n');
    const before = await stand.workers();
    const { code, stderr } = await runMillrace(['reload'], stand.environment, { timeoutMs: 250_000 });
    expect(code, stderr).to.equal(0);
    expect(await stand.workers())
      .to.have.length(2)
      .and.not.include.members(before);
    await eventually(() => traced('after'));
    expect(await stand.queue.logs({ count: 1 })).to.have.property('logs');
    expect(stand.installation.stderr()).to.match(/"event":"first-start.warning",.*MILLRACE_QUEUE_TOKEN/);
  });

  it('starts a worker again that SIGTERM has ended in order', async () => {
    const [ended = 0, other] = await stand.workers();
    signalPid(ended, 'SIGTERM');
    await eventually(async () => {
      expect(await stand.workers())
        .to.have.length(2)
        .and.include(other)
        .and.not.include(ended);
      expect(await stand.metric(/^millrace_workers 2$/)).to.have.length(1);
    });
    expect(stand.installation.stderr()).to.match(/"event":"worker.ended".*"reason":"exit code 0"/);
    expect(await stand.rest.get('from-rest')).to.equal(2);
  });

  it('ends in order at SIGTERM', async () => {
    stand.native.disconnect();
    const { code } = await stand.installation.kill('SIGTERM');
    expect(code).to.equal(0);
    const running = await readFile(join(stand.installation.dataDir, 'running.json')).catch(() => undefined);
    expect(running).to.equal(undefined);
  });
});
