/** `millrace journal` verify, export and tail of a database while its process writes. Proves SH4. */
import { readdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { expect } from 'chai';
import { withEmbeddedNats } from '../../support/embedded-nats.js';
import { eventually } from '../../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  type RunningCommand,
  runMillrace,
  startMillrace,
  temporaryDirectory,
  watchMillrace,
} from '../../support/millrace-process.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../../support/redis-server.js';

const KEYS = 300;

describe('millrace journal', function () {
  this.timeout(90_000);
  let millrace: MillraceProcess;
  let environment: Environment;
  let watching: RunningCommand | undefined;
  let redis: RedisServer | undefined;

  before(async () => {
    // Causes a snapshot early, so that an export has a snapshot and later entries.
    millrace = await startMillrace({ env: { MILLRACE_SNAPSHOT_ENTRIES: '50' } });
    environment = await embeddedEnvironment(millrace.dataDir);
    for (let at = 0; at < KEYS; at += 1) await millrace.kv.ask('SET', `key:${at}`, `value ${at} ÿ\n`);
    await millrace.kv.ask('EXPIRE', 'key:1', 10_000);
    await millrace.kv.ask('DEL', 'key:2');
    await millrace.kv.ask('APPEND', 'key:3', '+');
    await millrace.kv.transaction([
      ['INCRBY', 'n', '9007199254740993'],
      ['SETRANGE', 'range', '4', 'x'],
    ]);
    await millrace.kv.raw('/set/bytes/%00%ff%0d%0a', { method: 'POST' });
  });
  afterEach(async () => {
    await watching?.stop();
    await redis?.stop();
    [watching, redis] = [undefined, undefined];
  });
  after(() => endEverything());

  const journal = (verb: string, ...options: string[]) =>
    runMillrace(['journal', verb, '--database', 'default', ...options], environment);

  it('verify prints ok for an intact history', async () => {
    const { code, stdout, stderr } = await journal('verify');
    expect(stderr).to.equal('');
    expect(stdout.toString().trim().split('\n').at(-1)).to.equal('ok');
    expect(code).to.equal(0);
  });

  it('millrace upgrade --check prints the level and ok for data that this release reads', async () => {
    const { code, stdout, stderr } = await runMillrace(['upgrade', '--check'], environment);
    expect(stderr).to.equal('');
    const lines = stdout.toString().trim().split('\n');
    expect(lines[0]).to.match(/^the data has format level \d+, this release reads up to \d+$/);
    expect([lines.at(-1), code]).to.deep.equal(['ok', 0]);
  });

  it('millrace upgrade is refused without --check, and for a directory without an installation', async () => {
    const other = { ...environment, MILLRACE_DATA_DIR: await temporaryDirectory() };
    for (const [args, exit, why] of [
      [['upgrade'], 2, 'give --check'],
      [['upgrade', '--check'], 1, 'has no installation'],
    ] as const) {
      const { code, stderr } = await runMillrace(args, other);
      expect([code, stderr.split('\n')[0]?.includes(why)], stderr).to.deep.equal([exit, true]);
    }
    expect(readdirSync(other.MILLRACE_DATA_DIR)).to.deep.equal([]);
  });

  it('export prints a line for each section, chained by hash', async () => {
    const { code, stdout } = await journal('export');
    expect(code).to.equal(0);
    const lines = stdout.toString().trim().split('\n');
    const sections = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(sections.length).to.be.greaterThan(KEYS);
    for (const [at, section] of sections.entries()) {
      if (at > 0) expect(section.previousHash).to.equal(sections[at - 1]?.hash);
    }
    const from = Number(sections[9]?.position);
    const part = await journal('export', '--from', String(from), '--to', String(from + 4));
    expect(part.stdout.toString().trim().split('\n')).to.deep.equal(
      lines.filter((_, at) => Number(sections[at]?.position) >= from && Number(sections[at]?.position) <= from + 4),
    );
  });

  it('export --format resp gives a real Redis the same data', async function () {
    if (redisVersion(REDIS_BINARIES.packaged) === undefined) this.skip();
    const { code, stdout } = await journal('export', '--format', 'resp');
    expect(code).to.equal(0);
    const server = await startRedis(REDIS_BINARIES.packaged);
    redis = server;
    const [, , path] = (await server.client.call(['CONFIG', 'GET', 'unixsocket']))
      .split('\r\n')
      .filter((_, at) => at % 2 === 0);
    await pipe(stdout, path as string);
    const size = Number(await millrace.kv.ask('DBSIZE'));
    await eventually(async () => expect(await server.client.call(['DBSIZE'])).to.equal(`:${size}\r\n`));
    const keys = (await millrace.kv.ask('KEYS', '*')) as string[];
    for (const key of keys) {
      const ours = await millrace.kv.raw(`/get/${encodeURIComponent(key)}`, {
        headers: { 'svc-response-format': 'resp2' },
      });
      expect(await server.client.call(['GET', key]), key).to.equal(ours.body.toString('latin1'));
    }
    const expiry = await server.client.call(['PEXPIRETIME', 'key:1']);
    expect(expiry).to.equal(`:${String(await millrace.kv.ask('PEXPIRETIME', 'key:1'))}\r\n`);
  });

  it('tail prints new entries', async () => {
    watching = watchMillrace(['journal', 'tail', '--database', 'default'], environment);
    let count = 0;
    await eventually(
      async () => {
        count += 1;
        await millrace.kv.ask('SET', 'watched', `seen ${count}`);
        expect(watching?.lines.join('\n')).to.contain('"SET","watched","seen ');
      },
      { timeoutMs: 20_000, everyMs: 100 },
    );
    expect((await watching.stop()).code).to.equal(0);
  });

  it('an unknown database is reported in one line', async () => {
    const { code, stderr } = await runMillrace(['journal', 'verify', '--database', 'nobody'], environment);
    expect(code).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.length(1);
  });

  it('verify reports a foreign message in the journal, and the shard is not served', async () => {
    const target = await startMillrace();
    const env = await embeddedEnvironment(target.dataDir);
    for (let at = 0; at < 20; at += 1) await target.kv.ask('SET', `key:${at}`, at);
    const whole = await runMillrace(['journal', 'verify', '--database', 'default'], env);
    expect(whole.code, whole.stderr).to.equal(0);
    const shard = /^(KV_\d)/m.exec(whole.stdout.toString())?.[1] as string;
    await withEmbeddedNats(target.dataDir, async (nats) => {
      await nats.request(`millrace.log.${shard}`, 'not an entry');
    });
    const damaged = await runMillrace(['journal', 'verify', '--database', 'default'], env);
    expect(damaged.code).to.equal(1);
    expect(damaged.stdout.toString()).to.match(new RegExp(`^DAMAGED ${shard}`, 'm'));
    const checked = await runMillrace(['upgrade', '--check'], env);
    expect([checked.code, checked.stdout.includes(`DAMAGED ${shard}`)]).to.deep.equal([1, true]);
    expect((await target.kv.command('SET', 'key:0', 'lost?')).kind).not.to.equal('done');
    await eventually(async () => expect((await fetch(`${target.metricsUrl}/readyz`)).status).to.equal(503), {
      timeoutMs: 20_000,
    });
    expect((await target.kv.command('GET', 'key:0')).kind).not.to.equal('done');
  });
});

function pipe(bytes: Buffer, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(socketPath);
    socket.on('error', reject);
    socket.resume();
    socket.on('close', () => resolve());
    // Closing our side after the last command leaves time for the answers.
    socket.end(bytes);
  });
}
