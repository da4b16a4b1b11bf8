/**
 * A database at an earlier moment, served over REST, and its changes between two moments, while a process goes on
 * writing. Proves RS1, RG4.
 */
import { expect } from 'chai';
import type { DatabaseId } from '../../src/kernel/index.js';
import { uuidOf } from '../../src/protocol/index.js';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  READONLY_TOKEN,
  type RunningCommand,
  runMillrace,
  startMillrace,
  TOKEN,
  watchMillrace,
} from '../support/millrace-process.js';

/** Enough for a snapshot or two. */
const KEYS = 120;

interface Served extends RunningCommand {
  readonly url: string;
  readonly token: string;
}

describe('millrace journal replay and diff', function () {
  this.timeout(120_000);
  let millrace: MillraceProcess;
  let environment: Environment;
  let spread: { id: DatabaseId; token: string };
  let served: Served | undefined;
  const clients: KvClient[] = [];
  /** Instants between two batches of writes, and all that the database held then. */
  const moments: { readonly at: string; readonly everything: Readonly<Record<string, unknown>> }[] = [];

  const journal = (verb: string, ...options: string[]) => runMillrace(['journal', verb, ...options], environment);

  before(async () => {
    millrace = await startMillrace({ env: { MILLRACE_SNAPSHOT_ENTRIES: '40' } });
    environment = await embeddedEnvironment(millrace.dataDir);
    spread = await createDatabase('spread', 4);
    for (let at = 0; at < KEYS; at += 1) await millrace.kv.ask('SET', `key:${at}`, `first ${at}`);
    await millrace.kv.ask('RPUSH', 'list', 'a', 'b', 'c');
    await millrace.kv.ask('SET', 'short', 'lived', 'PX', '8000');
    await note();
    for (let at = 0; at < KEYS; at += 2) await millrace.kv.ask('SET', `key:${at}`, `second ${at}`);
    await millrace.kv.ask('DEL', 'key:1');
    await millrace.kv.ask('LPOP', 'list');
    await millrace.kv.ask('HSET', 'hash', 'ÿ\n', 'new');
    await eventually(async () => expect(await millrace.kv.ask('GET', 'short')).to.equal(null), { timeoutMs: 20_000 });
    await note();
    await millrace.kv.ask('FLUSHALL');
    await millrace.kv.ask('SET', 'after', 'everything');
    await note();
  });
  afterEach(async () => {
    await served?.stop();
    served = undefined;
    for (const client of clients.splice(0)) client.close();
  });
  after(() => endEverything());

  async function createDatabase(name: string, partitions: number): Promise<{ id: DatabaseId; token: string }> {
    const made = await runMillrace(['db', 'create', '--name', name, '--partitions', String(partitions)], environment);
    expect(made.code, made.stderr).to.equal(0);
    const field = (label: string) => new RegExp(`^${label} +(\\S+)$`, 'm').exec(made.stdout.toString())?.[1] as string;
    return { id: field('id') as DatabaseId, token: field('token') };
  }

  /** The journal's time is the server's, in milliseconds: the instant is one without a write. */
  async function quietInstant(): Promise<string> {
    const nowMs = async () => {
      const [seconds, micros] = (await millrace.kv.ask('TIME')) as [string, string];
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    };
    const atMs = (await nowMs()) + 1;
    await eventually(async () => expect(await nowMs()).to.be.greaterThan(atMs), { everyMs: 1 });
    return new Date(atMs).toISOString();
  }

  async function note(): Promise<void> {
    const everything = await readAllKeys(millrace.kv);
    moments.push({ at: await quietInstant(), everything });
  }

  async function serve(...options: string[]): Promise<Served> {
    const running = watchMillrace(['journal', 'replay', ...options, '--serve', '0'], environment);
    const lines = await eventually(
      () => {
        expect(running.lines.join('\n')).to.match(/^ready kv=/m);
        return running.lines.join('\n');
      },
      { timeoutMs: 60_000 },
    );
    const field = (pattern: RegExp) => pattern.exec(lines)?.[1] as string;
    served = { ...running, lines: running.lines, url: field(/^ready kv=(\S+)$/m), token: field(/^token (\S+)$/m) };
    return served;
  }

  function clientOf(url: string, token: string): KvClient {
    const client = new KvClient({ url, token });
    clients.push(client);
    return client;
  }

  it('replay --serve answers with the data of each moment, without later changes', async () => {
    for (const { at, everything } of moments) {
      const { url, token, stop } = await serve('--database', 'default', '--at', at);
      expect(await readAllKeys(clientOf(url, token))).to.deep.equal(everything);
      expect((await stop()).code).to.equal(0);
    }
    expect(Object.keys(moments[0]?.everything ?? {})).to.have.length(KEYS + 2);
    expect(moments[2]?.everything).to.deep.equal({ after: 'everything' });
  });

  it('replay --serve answers with the clock and the expiries of that moment', async () => {
    const { url, token } = await serve('--database', 'default', '--at', moments[0]?.at as string);
    const kv = clientOf(url, token);
    expect(await kv.ask('GET', 'short')).to.equal('lived');
    expect(await kv.ask('PTTL', 'short')).to.be.within(1, 8000);
    const [seconds, micros] = (await kv.ask('TIME')) as [string, string];
    expect(Number(seconds) * 1000 + Number(micros) / 1000).to.equal(Date.parse(moments[0]?.at as string));
  });

  it('replay --serve refuses every write with READONLY', async () => {
    const { at, everything } = moments[0] as (typeof moments)[0];
    const { url, token } = await serve('--database', 'default', '--at', at);
    const kv = clientOf(url, token);
    const writes = [
      ['SET', 'key:0', 'x'],
      ['FLUSHALL'],
      ['LPOP', 'list'],
      ['GETDEL', 'key:0'],
      ['EXPIRE', 'key:0', '1'],
      ['CONFIG', 'SET', 'maxmemory', '1'],
      ['EVAL', "return redis.call('SET', KEYS[1], 'x')", '1', 'key:0'],
    ];
    for (const words of writes) {
      const outcome = await kv.command(...words);
      expect(JSON.stringify(outcome), words.join(' ')).to.contain('READONLY this is the state of the database at');
    }
    expect(
      (
        await kv.transaction([
          ['SET', 'key:0', 'x'],
          ['GET', 'key:0'],
        ])
      ).kind,
    ).to.equal('done');
    expect(await kv.ask('EVAL', "return redis.call('GET', KEYS[1])", '1', 'key:0')).to.equal('first 0');
    expect(await readAllKeys(kv)).to.deep.equal(everything);
  });

  it('replay --serve accepts the current tokens of the database with their rights, and refuses all others', async () => {
    const { url } = await serve('--database', 'default', '--at', moments[0]?.at as string);
    expect(await clientOf(url, TOKEN).ask('GET', 'key:1')).to.equal('first 1');
    const reader = clientOf(url, READONLY_TOKEN);
    expect(await reader.ask('GET', 'key:1')).to.equal('first 1');
    expect(JSON.stringify(await reader.command('KEYS', '*'))).to.contain('NOPERM');
    for (const token of [spread.token, 'nobody']) {
      expect(JSON.stringify(await clientOf(url, token).command('GET', 'key:1'))).to.contain('WRONGPASS');
    }
  });

  it('replay prints the hashes of the last entry and of the state', async () => {
    const { code, stdout, stderr } = await journal('replay', '--database', 'default', '--at', moments[0]?.at as string);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    const out = stdout.toString();
    expect(out).to.match(/^KV_\d: entry \d+ at position \d+ of 20\S+Z, hash [0-9a-f]{64}; \d+ entries replayed from /m);
    expect(out).to.match(new RegExp(`^${KEYS + 2} keys, \\d+ bytes$`, 'm'));
    const position = /at position (\d+)/.exec(out)?.[1] as string;
    const again = await journal('replay', '--database', 'default', '--at', position);
    const digest = /state (\S+)$/m;
    expect(digest.exec(again.stdout.toString())?.[1]).to.equal(digest.exec(out)?.[1]);
  });

  it('replay finds a database by name, id or UUID, also one in several journals', async () => {
    const kv = clientOf(millrace.kvUrl, spread.token);
    for (let at = 0; at < 40; at += 1) await kv.ask('SET', `spread:${at}`, at);
    const everything = await readAllKeys(kv);
    const at = await quietInstant();
    await kv.ask('FLUSHALL');
    const { url, token } = await serve('--database', uuidOf(spread.id), '--at', at);
    expect(await readAllKeys(clientOf(url, token))).to.deep.equal(everything);
    const byId = await journal('replay', '--database', spread.id, '--at', at);
    expect(byId.stdout.toString()).to.match(/^40 keys, /m);
    expect(byId.stdout.toString().match(/^kv:/gm)).to.have.length(4);
    const ambiguous = await journal('replay', '--database', 'spread', '--at', '3');
    expect(ambiguous.code).to.equal(2);
    expect(ambiguous.stderr).to.contain('has several journals');
  });

  it('replay --serve answers SEARCH.QUERY with the documents of that moment, from all partitions', async () => {
    const kv = clientOf(millrace.kvUrl, spread.token);
    const documents = (text: string) => Array.from({ length: 400 }, (_, at) => ['HSET', `doc:${at}`, 'text', text]);
    await kv.ask('SEARCH.CREATE', 'docs', 'ON', 'HASH', 'PREFIX', '1', 'doc:', 'SCHEMA', 'text', 'TEXT');
    await kv.ask('SEARCH.ALIASADD', 'other', 'docs');
    await kv.pipeline(documents('a red shoe'));
    const at = await quietInstant();
    await kv.pipeline(documents('a blue hat'));
    await kv.ask('SEARCH.DROP', 'docs');
    const { url, token } = await serve('--database', uuidOf(spread.id), '--at', at);
    const past = clientOf(url, token);
    expect(await past.ask('SEARCH.COUNT', 'other', '{"text":"shoes"}')).to.equal(400);
    expect(await past.ask('SEARCH.COUNT', 'docs', '{"text":"hat"}')).to.equal(0);
    expect(await past.ask('SEARCH.WAITINDEXING', 'docs')).to.equal(1);
    const found = await past.ask('SEARCH.QUERY', 'docs', '{"text":"red"}', 'LIMIT', '1000', 'NOCONTENT');
    expect(found).to.have.length(400);
    expect(await past.ask('TYPE', 'docs')).to.equal('search');
    await kv.ask('FLUSHALL');
  });

  it('replay --serve of a deleted database gives access with a new token', async () => {
    const { id, token: live } = await createDatabase('gone', 1);
    const kv = clientOf(millrace.kvUrl, live);
    await kv.ask('SET', 'k', 'v');
    const at = await quietInstant();
    expect((await runMillrace(['db', 'delete', 'gone', '--yes'], environment)).code).to.equal(0);
    const { url, token } = await serve('--database', id, '--at', at);
    expect(await clientOf(url, token).ask('GET', 'k')).to.equal('v');
    expect(JSON.stringify(await clientOf(url, live).command('GET', 'k'))).to.contain('WRONGPASS');
  });

  it('replay --account prints the counts of a queue account and the hash of its state', async () => {
    const published = await publish('https://destination.example/', { 'svc-delay': '1h' });
    expect(published.status, published.text).to.equal(200);
    const account = await accountId();
    const at = await quietInstant();
    const { code, stdout, stderr } = await journal('replay', '--account', account, '--at', at);
    expect(code, stderr).to.equal(0);
    expect(stdout.toString()).to.match(/: 1 messages, 0 in the DLQ, 0 schedules, 0 queues, 0 groups, 0 workflow runs;/);
    expect(stdout.toString()).to.match(/state [0-9a-f]{64}$/m);
  });

  it('replay refuses an instant in the future and a position beyond the journal', async () => {
    for (const at of ['2999-01-01T00:00:00Z', '999999']) {
      const { code, stderr } = await journal('replay', '--database', 'default', '--at', at);
      expect(code).to.equal(2);
      expect(stderr).to.match(/has not come yet|there is no position 999999 yet/);
    }
  });

  it('diff lists the keys that changed between two moments, with the entries that changed them', async () => {
    const [from, to] = moments.map(({ at }) => at) as [string, string];
    const range = ['--database', 'default', '--from', from, '--to', to];
    const { code, stdout, stderr } = await journal('diff', ...range, '--format', 'ndjson', '--values');
    expect(code, stderr).to.equal(0);
    const changes = stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { key: string; change: string });
    expect(changes.map(({ key }) => key)).to.deep.equal([...changes.map(({ key }) => key)].sort());
    const byKey = new Map(changes.map((change) => [change.key, change]));
    expect(byKey.size).to.equal(KEYS / 2 + 4);
    expect(byKey.get('key:1')).to.deep.include({ change: 'deleted', after: null, entryCount: 1 });
    expect(byKey.get('hash')).to.deep.include({ change: 'created', before: null });
    expect(byKey.get('short')?.change).to.equal('deleted');
    const changed = byKey.get('key:2') as Record<string, { commands: unknown }>;
    expect(changed.change).to.equal('changed');
    expect(changed.before?.commands).to.deep.equal([['SET', 'key:2', 'first 2']]);
    expect(changed.after?.commands).to.deep.equal([['SET', 'key:2', 'second 2']]);
    const [entry] = changed.entries as unknown as {
      position: number;
      index: number;
      commands: string[];
      time: string;
    }[];
    expect(entry?.commands).to.deep.equal(['SET']);
    const exported = await journal(
      'export',
      '--database',
      'default',
      '--from',
      `${entry?.position}`,
      '--to',
      `${entry?.position}`,
    );
    const line = JSON.parse(exported.stdout.toString()) as { index: number; effects: string[][]; time: string };
    expect(line).to.deep.include({ index: entry?.index, time: entry?.time, effects: [['SET', 'key:2', 'second 2']] });
  });

  it('diff prints a line for each change, without values unless they are asked for', async () => {
    const [, from, to] = moments.map(({ at }) => at) as [string, string, string];
    const { code, stdout } = await journal('diff', '--database', 'default', '--from', from, '--to', to);
    expect(code).to.equal(0);
    const out = stdout.toString();
    expect(out).not.to.contain('everything').and.not.to.contain('second');
    expect(out).to.match(/^created {2}string "after"\n {9}position \d+, entry \d+, section \d+, \S+Z: SET$/m);
    expect(out).to.match(/^deleted {2}string "key:0"\n {9}position .*: FLUSHALL$/m);
    expect(out).to.match(new RegExp(`^1 created, 0 changed, ${KEYS + 1} deleted, 0 as before$`, 'm'));
  });

  async function accountId(): Promise<string> {
    const { stdout } = await runMillrace(['account', 'list'], environment);
    return /\b(ac-[a-z2-7]{16})\b/.exec(stdout.toString())?.[1] as string;
  }

  async function publish(
    destination: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }> {
    const shown = await runMillrace(['account', 'show', '--show-secrets'], environment);
    const token = /^queue-token=(\S+)$/m.exec(shown.stdout.toString())?.[1] as string;
    const response = await fetch(`${millrace.addresses.queue}/v2/publish/${destination}`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: 'hello',
    });
    return { status: response.status, text: await response.text() };
  }
});

/** Every key with its value, of any type. */
async function readAllKeys(kv: KvClient): Promise<Record<string, unknown>> {
  const everything: Record<string, unknown> = {};
  for (const key of (await kv.ask('KEYS', '*')) as string[]) {
    switch (await kv.ask('TYPE', key)) {
      case 'string':
        everything[key] = await kv.ask('GET', key);
        break;
      case 'list':
        everything[key] = await kv.ask('LRANGE', key, '0', '-1');
        break;
      default:
        everything[key] = await kv.ask('HGETALL', key);
    }
  }
  return everything;
}
