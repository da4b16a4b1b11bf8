/** `millrace backup` as an operator uses it: create, verify and restore, while real processes serve under load. */
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { backup, filesBelow, type Lines, linesOf, verified } from '../support/backup-stand.js';
import { eventually } from '../support/eventually.js';
import { MillraceCluster, startPlainNats } from '../support/millrace-cluster.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  PASSWORD,
  READONLY_TOKEN,
  runMillrace,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { QUEUE_READONLY_TOKEN, QUEUE_TOKEN, SIGNING_KEYS } from '../support/queue-process.js';
import { QueueSink } from '../support/queue-sink.js';

const KEYS = 400;
const MESSAGES = 40;
const WRITERS = ['w1', 'w2', 'w3', 'w4'];
const MGMT_KEY = 'mgmt-key-of-the-tests-0123456789abcdef';

const SETTINGS: Environment = {
  // Causes a snapshot early, so that a backup has a snapshot and later entries.
  MILLRACE_SNAPSHOT_ENTRIES: '60',
  MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
  MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
  MILLRACE_QUEUE_READONLY_TOKEN: QUEUE_READONLY_TOKEN,
  MILLRACE_MGMT_KEY: MGMT_KEY,
  MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
  MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
};

describe('millrace backup', function () {
  this.timeout(180_000);
  let millrace: MillraceProcess;
  let environment: Environment;
  let sink: QueueSink;
  let directory: string;
  let digests: Lines;
  /** Counters acknowledged before the backup began, and when it had ended. */
  const counted = { before: new Map<string, number>(), after: new Map<string, number>() };
  const messages = new Map<string, string>();
  let path: string;

  before(async () => {
    sink = await QueueSink.listening();
    path = sink.path('restored');
    millrace = await startMillrace({ env: SETTINGS });
    environment = { ...(await embeddedEnvironment(millrace.dataDir)), ...SETTINGS };
    await fill();
    directory = join(await temporaryDirectory(), 'backup');
    await backupUnderLoad();
    digests = await verified(directory, environment);
  });
  after(async () => {
    await sink?.close();
    await endEverything();
  });

  async function fill(): Promise<void> {
    const { kv } = millrace;
    for (let n = 0; n < KEYS; n += 1) await kv.ask('SET', `key:${n}`, `value ${n}`);
    await kv.ask('EXPIRE', 'key:1', 100_000);
    await kv.ask('RPUSH', 'list', 'a', 'b', 'c');
    await kv.ask('ZADD', 'zset', 1.5, 'one', 2.5, 'two');
    await kv.ask('XADD', 'stream', '5-1', 'field', 'value');
    await kv.ask('JSON.SET', 'json', '$', '{"a":[1,2,{"b":null}]}');
    const env = environment;
    const { code, stderr } = await runMillrace(['db', 'create', '--name', 'wide', '--partitions', '6'], env);
    if (code !== 0) throw new Error(stderr);
    await queue('POST', '/v2/queues', { body: JSON.stringify({ queueName: 'held', paused: true, parallelism: 4 }) });
    for (let n = 0; n < MESSAGES; n += 1) {
      const text = `message ${n} `.repeat(50);
      const answer = await queue('POST', `/v2/enqueue/held/${sink.url(path)}`, { body: text });
      messages.set((answer as { messageId: string }).messageId, text);
    }
  }

  async function queue(method: string, target: string, { body }: { body?: string } = {}, base = millrace) {
    const answer = await fetch(`${base.addresses.queue}${target}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'application/json' },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  /** Concurrent writers during the backup, each with its own counter. */
  async function backupUnderLoad(): Promise<void> {
    const stop = new AbortController();
    const acknowledged = new Map<string, number>();
    const writers = WRITERS.map(async (name) => {
      while (!stop.signal.aborted) acknowledged.set(name, Number(await millrace.kv.ask('INCR', name)));
    });
    try {
      await eventually(() =>
        expect(Math.min(0, ...['w1', 'w2', 'w3', 'w4'].map((w) => (acknowledged.get(w) ?? 0) - 30))).to.equal(0),
      );
      for (const [name, value] of acknowledged) counted.before.set(name, value);
      await backup(['create', '--to', directory, '--key-to', join(directory, '..', 'kept.key')], environment);
    } finally {
      stop.abort();
      await Promise.all(writers);
    }
    for (const [name, value] of acknowledged) counted.after.set(name, value);
  }

  async function restored(settings: Environment): Promise<{ dataDir: string; lines: Lines; env: Environment }> {
    const dataDir = join(await temporaryDirectory(), 'data');
    const env = { ...(await embeddedEnvironment(dataDir)), ...SETTINGS, ...settings };
    const result = await backup(['restore', '--from', directory, '--key-from', join(directory, '..', 'kept.key')], env);
    return { dataDir, lines: linesOf(result), env };
  }

  async function expectData(process: MillraceProcess): Promise<void> {
    const { kv } = process;
    for (let n = 0; n < KEYS; n += 37) expect(await kv.ask('GET', `key:${n}`)).to.equal(`value ${n}`);
    expect(await kv.ask('PEXPIRETIME', 'key:1')).to.equal(await millrace.kv.ask('PEXPIRETIME', 'key:1'));
    expect(await kv.ask('LRANGE', 'list', 0, -1)).to.deep.equal(['a', 'b', 'c']);
    expect(await kv.ask('ZRANGE', 'zset', 0, -1, 'WITHSCORES')).to.deep.equal(
      await millrace.kv.ask('ZRANGE', 'zset', 0, -1, 'WITHSCORES'),
    );
    expect(await kv.ask('XRANGE', 'stream', '-', '+')).to.deep.equal(
      await millrace.kv.ask('XRANGE', 'stream', '-', '+'),
    );
    expect(await kv.ask('JSON.GET', 'json')).to.equal('{"a":[1,2,{"b":null}]}');
    expect(await kv.ask('DBSIZE')).to.equal(KEYS + 4 + counted.before.size);
    for (const [name, atLeast] of counted.before) {
      const value = Number(await kv.ask('GET', name));
      expect(value).to.be.within(atLeast, counted.after.get(name) ?? 0);
    }
  }

  it('verify prints a digest for every partition of databases, queues and the control state', () => {
    const names = Object.keys(digests);
    expect(names.filter((name) => name.startsWith('kv:'))).to.have.length(1);
    expect(names.filter((name) => name.startsWith('queue:'))).to.have.length(1);
    expect(names).to.include('control');
  });

  it('create writes no secret in clear, in files that only their owner can read', async () => {
    const secrets = [TOKEN, READONLY_TOKEN, PASSWORD, QUEUE_TOKEN, QUEUE_READONLY_TOKEN, MGMT_KEY];
    const made = await runMillrace(['db', 'list', '--show-secrets'], environment);
    const shown = made.stdout.toString().match(/mr[srp]_[A-Za-z0-9_-]{32}/g) ?? [];
    expect(shown).to.have.length.greaterThan(2);
    const key = (await readFile(join(directory, '..', 'kept.key'), 'utf8')).trim();
    const files = await filesBelow(directory);
    expect(files.size).to.be.greaterThan(8);
    for (const [name, bytes] of files) {
      for (const secret of [...secrets, ...Object.values(SIGNING_KEYS), ...shown, key, Buffer.from(key, 'base64')]) {
        expect(bytes.includes(secret), `${name} holds a secret`).to.equal(false);
      }
      expect((await stat(join(directory, name))).mode & 0o777).to.equal(0o600);
    }
    expect((await stat(join(directory, '..', 'kept.key'))).mode & 0o777).to.equal(0o600);
  });

  it('restore into other numbers of shards gives the same digests, data and deliveries', async () => {
    const { dataDir, lines, env } = await restored({ MILLRACE_KV_SHARDS: '7', MILLRACE_QUEUE_SHARDS: '2' });
    expect(lines).to.deep.equal(digests);
    const again = await startMillrace({ dataDir, env });
    await expectData(again);
    const { stdout } = await runMillrace(['db', 'list'], env);
    expect(stdout.toString()).to.contain('wide');
    // Bodies are where the new journal and its snapshot have them.
    await queue('POST', '/v2/queues/held/resume', {}, again);
    await eventually(() => expect(sink.calls(path)).to.have.length(MESSAGES), { timeoutMs: 30_000 });
    expect(
      sink
        .calls(path)
        .map(({ body }) => body)
        .sort(),
    ).to.deep.equal([...messages.values()].sort());
    const { code, stdout: audit } = await runMillrace(['journal', 'verify', '--database', 'default'], env);
    expect(audit.toString()).to.contain('ok\n');
    expect(code).to.equal(0);
    const mark = JSON.parse(await readFile(join(dataDir, 'restore.json'), 'utf8')) as { state: string };
    expect(mark.state).to.equal('complete');
    await again.kill('SIGTERM');
  });

  it('create of a stopped, restored installation gives the same digests', async () => {
    const { lines, env } = await restored({ MILLRACE_KV_SHARDS: '2' });
    const second = join(await temporaryDirectory(), 'second');
    await backup(['create', '--to', second], env);
    expect(await verified(second, env)).to.deep.equal(lines);
  });

  it('restore into a prepared NATS gives the same digests, and processes serve from it', async () => {
    const nats = await startPlainNats();
    try {
      const settings = { ...SETTINGS, MILLRACE_KV_SHARDS: '3', MILLRACE_QUEUE_SHARDS: '5' };
      const cluster = await MillraceCluster.prepare(nats, settings);
      const result = await cluster.run([
        'backup',
        'restore',
        '--from',
        directory,
        '--key-from',
        join(directory, '..', 'kept.key'),
      ]);
      expect(result.stderr).to.equal('');
      expect(result.code).to.equal(0);
      expect(linesOf(result)).to.deep.equal(digests);
      const [one, two] = [await cluster.start(), await cluster.start({ MILLRACE_ROLES: 'edge' })];
      await eventually(() => expectData(two), { timeoutMs: 20_000 });
      await one.kv.ask('SET', 'on', 1);
      const again = await cluster.run(['backup', 'restore', '--from', directory]);
      expect(again.code).to.equal(1);
      expect(again.stderr).to.contain('is not empty');
    } finally {
      await nats.stop();
    }
  });

  it('restore with another key is refused before any file is written', async () => {
    const dir = await temporaryDirectory();
    const env = await embeddedEnvironment(join(dir, 'data'));
    await writeFile(join(dir, 'other.key'), `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 });
    const { code, stderr } = await runMillrace(
      ['backup', 'restore', '--from', directory, '--key-from', join(dir, 'other.key')],
      env,
    );
    expect(code).to.equal(1);
    expect(stderr).to.match(/^millrace backup: the backup's secrets are sealed with key [0-9a-f]{12}, and .*\n$/);
    expect(await filesBelow(dir).then((files) => [...files.keys()])).to.deep.equal(['other.key']);
  });

  it('restore --without-key restores the data without the sealed secrets', async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    const env = { ...(await embeddedEnvironment(dataDir)), ...SETTINGS };
    const result = await backup(['restore', '--from', directory, '--without-key'], env);
    expect(linesOf(result)).to.deep.equal(digests);
    const again = await startMillrace({ dataDir, env });
    await expectData(again);
    expect((await runMillrace(['db', 'list', '--show-secrets'], env)).stderr).to.contain('sealed with key');
    await again.kill('SIGTERM');
  });

  it('restore is refused without a key, or into a directory that is not empty', async () => {
    const dir = await temporaryDirectory();
    const without = await runMillrace(
      ['backup', 'restore', '--from', directory],
      await embeddedEnvironment(join(dir, 'data')),
    );
    expect(without.code).to.equal(1);
    expect(without.stderr).to.contain('the key file');
    await mkdir(join(dir, 'used'));
    await writeFile(join(dir, 'used', 'file'), '');
    const key = ['--key-from', join(directory, '..', 'kept.key')];
    const used = await embeddedEnvironment(join(dir, 'used'));
    const { code, stderr } = await runMillrace(['backup', 'restore', '--from', directory, ...key], used);
    expect(code).to.equal(1);
    expect(stderr).to.contain('is not empty (file)');
  });

  it('create is refused for a data directory without an installation, and writes no file there', async () => {
    const dir = await temporaryDirectory();
    const env = await embeddedEnvironment(join(dir, 'data'));
    const { code, stderr } = await runMillrace(['backup', 'create', '--to', join(dir, 'backup')], env);
    expect(code).to.equal(1);
    expect(stderr).to.contain('has no installation');
    expect((await filesBelow(dir)).size).to.equal(0);
  });

  it('create is refused for a directory that is not empty or already holds a backup', async () => {
    const dir = await temporaryDirectory();
    await writeFile(join(dir, 'mine'), 'kept');
    for (const [to, why] of [
      [dir, 'is not empty'],
      [directory, 'holds a backup already'],
    ] as const) {
      const { code, stderr } = await runMillrace(['backup', 'create', '--to', to], environment);
      expect(code).to.equal(1);
      expect(stderr).to.contain(why);
    }
    expect(await readFile(join(dir, 'mine'), 'utf8')).to.equal('kept');
    expect(await verified(directory, environment)).to.deep.equal(digests);
  });

  it('verify names the file in which one bit was changed', async () => {
    const copy = join(await temporaryDirectory(), 'copy');
    await cp(directory, copy, { recursive: true });
    const oneOfEach = new Map([...(await filesBelow(copy))].map((file) => [file[0].replace(/^.*\/|-\d+$/g, ''), file]));
    expect([...oneOfEach.keys()].sort()).to.deep.equal(['entries', 'manifest.json', 'objects', 'records']);
    for (const [name, bytes] of oneOfEach.values()) {
      const damaged = Buffer.from(bytes);
      const at = Math.floor(damaged.length / 2);
      damaged[at] = (damaged[at] as number) ^ 1;
      await writeFile(join(copy, name), damaged);
      const { code, stderr } = await runMillrace(['backup', 'verify', copy], environment);
      expect(code, name).to.equal(1);
      expect(stderr).to.contain(name === 'manifest.json' ? 'the manifest of the backup' : name);
      await writeFile(join(copy, name), bytes);
    }
  });

  it('create refuses to write the key into the backup directory, and an incomplete command line prints its usage', async () => {
    const dir = join(await temporaryDirectory(), 'b');
    const inside = await runMillrace(['backup', 'create', '--to', dir, '--key-to', join(dir, 'key')], environment);
    expect(inside.code).to.equal(1);
    expect(inside.stderr).to.contain('must not be in the backup directory');
    for (const words of [[], ['create'], ['restore'], ['verify'], ['prune']]) {
      const { code, stderr } = await runMillrace(['backup', ...words], environment);
      expect(code, words.join(' ')).to.equal(2);
      expect(stderr).to.contain('usage: millrace backup');
    }
  });
});
