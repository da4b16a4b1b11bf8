/** `millrace serve` as an operator sees it: the ready line, the credentials of the first start, restarts, refusals. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { identifyProcess } from '../../../src/adapters/nats/embedded/process-identity.js';
import { eventually } from '../../support/eventually.js';
import { KvClient } from '../../support/kv-client.js';
import { logOf } from '../../support/millrace-cluster.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  READONLY_TOKEN,
  runMillrace,
  signalPid,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';

/** Documented are 3 s for little data on a quiet machine; this one runs other tests. */
const SECOND_START_MS = 8000;
const SHUTDOWN_MS = 10_000;

describe('millrace serve', function () {
  this.timeout(90_000);
  afterEach(() => endEverything());

  it('prints one ready line with the address of each endpoint', async () => {
    const millrace = await startMillrace();
    expect(Object.keys(millrace.addresses)).to.include.members(['kv', 'metrics']);
    for (const [name, address] of Object.entries(millrace.addresses)) {
      expect(address, name).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    }
    expect(millrace.stdout().match(/^ready /gm)).to.have.length(1);
    expect(await millrace.kv.ask('PING')).to.equal('PONG');
    for (const path of ['/livez', '/metrics'])
      expect((await fetch(`${millrace.metricsUrl}${path}`)).status).to.equal(200);
    // `/readyz` agrees with the ready line.
    expect((await fetch(`${millrace.metricsUrl}/readyz`)).status).to.equal(200);
    // The first check of the disk runs in parallel with the start.
    await eventually(async () => {
      const metrics = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
      for (const part of ['journal-control', 'jetstream-files', 'leases']) {
        expect(metrics).to.match(new RegExp(`^millrace_disk_bytes\\{part="${part}"\\} [1-9]`, 'm'));
      }
      expect(metrics).to.match(/^millrace_journal_total_bytes [1-9]/m);
    });
  });

  it('stores the credentials of the first start for its user only, and prints where', async () => {
    const dataDir = await temporaryDirectory();
    const env = await withoutCredentials(dataDir);
    const first = await startMillrace({ dataDir, env });
    const kept = join(dataDir, 'credentials.env');
    expect(first.stdout()).to.include(`# First start: the credentials are stored in ${kept}.\n`);
    const text = await readFile(kept, 'utf8');
    const [token, readOnly] = [keptIn(text, 'MILLRACE_KV_TOKEN'), keptIn(text, 'MILLRACE_KV_READONLY_TOKEN')];
    for (const secret of [token, readOnly]) expect(first.stdout() + first.stderr()).not.to.include(secret);
    expect((await stat(kept)).mode & 0o777).to.equal(0o600);
    await withToken(first.kvUrl, token, (kv) => kv.ask('SET', 'mine', 'yes'));
    await withToken(first.kvUrl, readOnly, async (kv) => {
      expect(await kv.ask('GET', 'mine')).to.equal('yes');
      expect((await kv.command('SET', 'mine', 'no')).kind).to.equal('refused');
    });
    expect((await withToken(first.kvUrl, 'another', (kv) => kv.command('GET', 'mine'))).kind).to.equal('refused');
    await first.kill('SIGTERM');

    const second = await startMillrace({ dataDir, env });
    expect(second.stdout()).not.to.contain(token);
    expect(second.stderr()).not.to.contain(token);
    expect(await withToken(second.kvUrl, token, (kv) => kv.ask('GET', 'mine'))).to.equal('yes');
  });

  it('warns in one line when a later start has another token, and keeps the first', async () => {
    const dataDir = await temporaryDirectory();
    await (await startMillrace({ dataDir })).kill('SIGTERM');
    const again = await startMillrace({ dataDir, env: { MILLRACE_KV_TOKEN: 'another-token-0123456789' } });
    const warnings = again
      .stderr()
      .split('\n')
      .filter((line) => line.includes('MILLRACE_KV_TOKEN'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).not.to.contain('another-token-0123456789');
    expect(await withToken(again.kvUrl, TOKEN, (kv) => kv.ask('PING'))).to.equal('PONG');
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`starts again soon after ${signal}, with all data`, async () => {
      const dataDir = await temporaryDirectory();
      const first = await startMillrace({ dataDir });
      for (let batch = 0; batch < 10; batch += 1) {
        const sets = Array.from({ length: 100 }, (_, at) => ['SET', `key:${batch}:${at}`, `value:${batch}:${at}`]);
        expect((await first.kv.pipeline(sets)).kind).to.equal('done');
      }
      await first.kv.ask('SET', 'bytes', 'ÿ', 'EX', 1000);
      await first.kill(signal);
      const second = await startMillrace({ dataDir });
      // On a machine that is busy the first one took long, too.
      expect(second.readyAfterMs).to.be.lessThan(Math.max(SECOND_START_MS, 3 * first.readyAfterMs));
      expect(await second.kv.ask('DBSIZE')).to.equal(1001);
      expect(await second.kv.ask('GET', 'key:7:42')).to.equal('value:7:42');
      expect(await second.kv.ask('TTL', 'bytes')).to.be.within(900, 1000);
    });
  }

  it('exits with 0 within ten seconds of SIGTERM, stops its nats-server and releases its shards', async () => {
    const dataDir = await temporaryDirectory();
    const first = await startMillrace({ dataDir });
    await first.kv.ask('SET', 'kept', 'yes');
    const server = await first.natsPid();
    const startedAt = performance.now();
    expect(await first.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - startedAt).to.be.lessThan(SHUTDOWN_MS);
    await eventually(async () => expect(await identifyProcess(server)).to.equal(undefined));
    const released = logOf(first).filter(({ event }) => event === 'shard.released');
    expect(released.map(({ shard }) => shard)).to.include.members(['KV_0', 'KV_1', 'KV_2', 'KV_3']);
    const second = await startMillrace({ dataDir });
    expect(await second.kv.ask('GET', 'kept')).to.equal('yes');
  });

  it('answers the requests in flight at SIGTERM', async () => {
    // Without its nats-server, a process on a machine that stalls would refuse requests: its permissions may be old.
    const env = { MILLRACE_NATS_APPEND_TIMEOUT_MS: '300', MILLRACE_CONTROL_STALE_MS: '60000' };
    const millrace = await startMillrace({ env });
    const kv = new KvClient({ url: millrace.kvUrl, token: TOKEN, connections: 50 });
    const server = await millrace.natsPid();
    // All connections are open: later requests on them arrive even if the machine is busy.
    await Promise.all(Array.from({ length: 50 }, (_, at) => kv.ask('SET', 'in-flight', `none ${at}`)));
    signalPid(server, 'SIGSTOP');
    try {
      const answers = Array.from({ length: 50 }, (_, at) => kv.command('SET', `in-flight:${at}`, 'x'));
      await eventually(() => expect(logOf(millrace).map(({ event }) => event)).to.include('journal.append-unknown'));
      const exit = millrace.kill('SIGTERM');
      signalPid(server, 'SIGCONT');
      expect((await Promise.all(answers)).filter(({ kind }) => kind !== 'done')).to.deep.equal([]);
      expect(await exit).to.deep.equal({ code: 0, signal: null });
    } finally {
      signalPid(server, 'SIGCONT');
      kv.close();
    }
  });

  it('is refused in one line for a data directory that another process uses', async () => {
    const first = await startMillrace();
    const second = await runMillrace(['serve'], { ...(await embeddedEnvironment(first.dataDir)) });
    expect(second.code).to.equal(1);
    expect(errorLines(second.stderr)).to.have.length(1);
    expect(second.stderr)
      .to.match(/in use by process \d+/)
      .and.to.contain(String(first.pid));
    expect(await first.kv.ask('PING')).to.equal('PONG');
  });

  it('is refused in one line for a port in use, with the name of the setting', async () => {
    const first = await startMillrace();
    const dataDir = await temporaryDirectory();
    const taken = new URL(first.kvUrl).port;
    for (const variable of ['MILLRACE_KV_PORT', 'MILLRACE_METRICS_PORT']) {
      const env = { ...(await embeddedEnvironment(dataDir)), [variable]: taken };
      const line = `millrace: ${variable}: cannot listen on 127.0.0.1:${taken}: another program listens there`;
      expect(await refusedWith(env)).to.deep.equal([line]);
    }
  });

  it('is refused in one line for an unusable data directory, with the setting and the cause', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    for (const [dataDir, why] of [
      [file, `${file} is a file, not a directory`],
      [join(file, 'data'), `${file} is a file, not a directory`],
      ['/proc/millrace', '/proc/millrace is on /proc, which cannot store files'],
    ] as const) {
      expect(await refusedWith(await embeddedEnvironment(dataDir))).to.deep.equal([
        `millrace: MILLRACE_DATA_DIR: ${why}`,
      ]);
    }
  });

  it('is refused for an unusable MILLRACE_NATS_SERVER, without trying another', async () => {
    const env = { ...(await embeddedEnvironment(await temporaryDirectory())), MILLRACE_NATS_SERVER: '/nowhere/nats' };
    expect(await refusedWith(env)).to.deep.equal([
      'millrace: MILLRACE_NATS_SERVER is not the path of a usable nats-server: /nowhere/nats was not found',
    ]);
  });

  it('is refused for an unknown word or option, with the usage', async () => {
    for (const words of [['serve', '--bogus'], ['serve', 'now'], ['sevre']]) {
      const { code, stdout, stderr } = await runMillrace(words, {});
      expect([code, stdout.toString()], words.join(' ')).to.deep.equal([2, '']);
      expect(stderr).to.match(/^millrace: .*\nusage: millrace/);
    }
  });

  const bad: [string, Environment][] = [
    ['MILLRACE_KV_PORT', { MILLRACE_KV_PORT: 'seventy' }],
    ['MILLRACE_FSYNC', { MILLRACE_FSYNC: 'sometimes' }],
    ['MILLRACE_REPLICAS', { MILLRACE_REPLICAS: '3' }],
    ['MILLRACE_NATS_USER', { MILLRACE_NATS_URL: 'nats://127.0.0.1:4222', MILLRACE_NATS_USER: 'someone' }],
    ['MILLRACE_READ_LEASE_MS', { MILLRACE_READ_LEASE_MS: '5000', MILLRACE_TAKEOVER_SILENCE_MS: '3000' }],
  ];
  for (const [name, settings] of bad) {
    it(`is refused in one line for an invalid ${name}`, async () => {
      const env = { ...(await embeddedEnvironment(await temporaryDirectory())), ...settings };
      const { code, stderr, stdout } = await runMillrace(['serve'], env);
      expect(code).to.equal(1);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(stderr).to.contain(name);
      expect(stdout.toString()).to.equal('');
    });
  }

  it('has no secret in its logs, its metrics or the output of `millrace config`', async () => {
    const millrace = await startMillrace();
    await millrace.kv.raw(`/get/secret?_token=${TOKEN}`);
    await millrace.kv.raw('/nonsense/%zz');
    const metrics = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
    const { stdout } = await runMillrace(['config'], await embeddedEnvironment(millrace.dataDir));
    await millrace.kill('SIGTERM');
    for (const text of [millrace.stderr(), metrics, stdout.toString()]) {
      expect(text).not.to.contain(TOKEN).and.not.to.contain(READONLY_TOKEN);
    }
  });
});

/** The error lines of a start that ends with code 1. */
async function refusedWith(env: Environment): Promise<string[]> {
  const { code, stderr } = await runMillrace(['serve'], env);
  expect(code).to.equal(1);
  return errorLines(stderr);
}

/** The lines for the operator who started it, without those of the structured log. */
function errorLines(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

async function withoutCredentials(dataDir: string): Promise<Environment> {
  const none = { MILLRACE_KV_TOKEN: '', MILLRACE_KV_READONLY_TOKEN: '', MILLRACE_KV_PASSWORD: '' };
  return { ...(await embeddedEnvironment(dataDir)), ...none };
}

function keptIn(text: string, variable: string): string {
  const match = new RegExp(`^${variable}=(\\S+)$`, 'm').exec(text);
  if (match === null) throw new Error(`${variable} was not kept:\n${text}`);
  return match[1] as string;
}

async function withToken<T>(url: string, token: string, work: (kv: KvClient) => Promise<T>): Promise<T> {
  const kv = new KvClient({ url, token });
  try {
    return await work(kv);
  } finally {
    kv.close();
  }
}
