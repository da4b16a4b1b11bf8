/**
 * The operators' API on a real process: the past is read from its own journal, the feeds from its own read models.
 * Proves AT1, AT2.
 */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { ReadStream } from '../contract/admin/read-stream.js';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
/** Writes before everything is verified. If the variable is set, the measured times are printed. */
const ENTRIES = Number(process.env.MILLRACE_TEST_ENTRIES ?? 2000);
/** Time until a read model is up to date, on a busy machine. */
const SEEN = { timeoutMs: 20_000, everyMs: 100 };
const STOP_MS = 10_000;

interface Entry {
  readonly position: number;
  readonly time: string;
  readonly effects: readonly unknown[];
}

describe("the operators' API on a real process", function () {
  this.timeout(Math.max(300_000, ENTRIES * 10));
  let queue: QueueProcess;
  let mgmtUrl: string;
  let kv: KvClient;
  let database: string;
  let queueId: string;
  let neighbour: { authorization: string; database: string };
  const streams: ReadStream[] = [];

  const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;

  before(async () => {
    queue = await QueueProcess.start({
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      // A session is altered in every place, from one address.
      MILLRACE_SIGN_IN_FAILURES: '1000',
    });
    mgmtUrl = queue.millrace.addresses.mgmt as string;
    const made = await newDatabase(authorization);
    database = made.database_id as string;
    kv = new KvClient({ url: queue.millrace.kvUrl, token: made.rest_token as string });
    await eventually(async () => expect((await kv.command('SET', 'first', 'ü')).kind).to.equal('done'));
    const [user] = (await json('/v2/msgq/users')) as { id: string }[];
    queueId = user?.id as string;
    const created = await queue.account('create', '--name', 'other', '--email', 'other@tests.example');
    const key = /^mgmt-key=(\S+)$/m.exec(created.stdout.toString())?.[1] as string;
    const theirs = `Basic ${Buffer.from(`other@tests.example:${key}`).toString('base64')}`;
    const other = await eventually(() => newDatabase(theirs));
    neighbour = { authorization: theirs, database: other.database_id as string };
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.leave();
  });
  after(async () => {
    kv?.close();
    await queue?.stop();
  });

  async function newDatabase(as: string, more: object = {}): Promise<Record<string, string>> {
    const body = { database_name: 'looked-at', region: 'global', primary_region: 'us-east-1', ...more };
    return (await json('/v2/kv/database', { as, body })) as Record<string, string>;
  }

  async function call(path: string, { as = authorization, body }: { as?: string; body?: object } = {}) {
    const response = await fetch(mgmtUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: as, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  async function json(path: string, options?: Parameters<typeof call>[1]): Promise<unknown> {
    const { status, text } = await call(path, options);
    expect(status, `${path}: ${text}`).to.equal(200);
    return JSON.parse(text);
  }

  async function open(path: string, as = authorization): Promise<ReadStream> {
    const stream = await ReadStream.open(`${mgmtUrl}/v2/admin/${path}`, as);
    streams.push(stream);
    return stream;
  }

  /**
   * On a busy machine, updates of the control journal may be late for a moment: the write is refused with 503 and not
   * executed.
   */
  const write = (key: string, value: string) =>
    eventually(async () => expect((await kv.command('SET', key, value)).kind).to.equal('done'), { timeoutMs: 30_000 });
  const timeline = async (query = '') =>
    (await json(`/v2/admin/databases/${database}/timeline${query}`)) as { entries: Entry[]; more: boolean };
  const state = async (query: string) =>
    (await json(`/v2/admin/databases/${database}/state?${query}`)) as {
      state: { keys: number };
      keys: { key: unknown; commands: unknown }[];
    };
  const last = async () => (await timeline('?limit=1000')).entries.at(-1) as Entry;
  const ended = (stream: ReadStream) => eventually(() => expect(stream.isEnded).to.equal(true), { timeoutMs: 120_000 });
  const doneIn = ({ events }: ReadStream) => events.find(({ name }) => name === 'done')?.data;
  const threads = () => readdirSync(`/proc/${queue.millrace.pid}/task`).length;

  it('the timeline of a database lists its entries in pages', async () => {
    for (const [key, value] of Object.entries({ a: '1', b: '2', c: '3' })) await write(key, value);
    const { entries, more } = await timeline();
    expect(more).to.equal(false);
    expect(entries.flatMap(({ effects }) => effects).slice(-4)).to.deep.equal([
      ['SET', 'first', 'ü'],
      ['SET', 'a', '1'],
      ['SET', 'b', '2'],
      ['SET', 'c', '3'],
    ]);
    const first = await timeline('?limit=1');
    expect([first.entries, first.more]).to.deep.equal([entries.slice(0, 1), true]);
    const rest = await timeline(`?from=${(entries[0] as Entry).position + 1}`);
    expect(rest.entries).to.deep.equal(entries.slice(1));
  });

  it('the state of a database is shown at a position and at an instant, and the diff lists the changes between them', async () => {
    await kv.ask('SET', 'kept', 'before');
    await kv.ask('SET', 'lost', 'x');
    const { position: early, time } = await last();
    await eventually(() => expect(Date.now()).to.be.greaterThan(Date.parse(time) + 10), { everyMs: 1 });
    const instant = new Date(Date.parse(time) + 1).toISOString();
    await kv.ask('SET', 'kept', 'after');
    await kv.ask('DEL', 'lost');
    const { position: late } = await last();
    for (const at of [String(early), instant]) {
      const { state: whole, keys } = await state(`at=${at}&values=true`);
      expect(whole.keys).to.equal(keys.length);
      expect(keys.map(({ key }) => key)).to.include.members(['first', 'kept', 'lost']);
      expect(keys.find(({ key }) => key === 'kept')?.commands).to.deep.equal([['SET', 'kept', 'before']]);
    }
    const then = await state(`at=${late}&after=first&limit=1`);
    expect(then.keys.map(({ key }) => key)).to.deep.equal(['kept']);
    for (const from of [String(early), instant]) {
      const { changes } = (await json(`/v2/admin/databases/${database}/diff?from=${from}&to=${late}`)) as {
        changes: { key: string; change: string; after: unknown }[];
      };
      expect(changes.map(({ key, after }) => [key, after !== null])).to.have.deep.members([
        ['kept', true],
        ['lost', false],
      ]);
    }
  });

  it('a page of keys continues after a key that is not valid UTF-8', async () => {
    const raw = Buffer.from([0xff, 0xfe]).toString('base64');
    await kv.ask('EVAL', "return redis.call('SET', string.char(255, 254), 'odd')", '0');
    const { position } = await last();
    const all = (await state(`at=${position}`)).keys;
    expect(all.at(-1)?.key).to.deep.equal({ base64: raw });
    expect((await state(`at=${position}&after_base64=${encodeURIComponent(raw)}`)).keys).to.deep.equal([]);
    expect((await state(`at=${position}&after=kept`)).keys.at(-1)?.key).to.deep.equal({ base64: raw });
  });

  it('a database in several journals accepts instants and refuses positions with 400', async () => {
    const made = await newDatabase(authorization, { partitions: 4 });
    const spread = new KvClient({ url: queue.millrace.kvUrl, token: made.rest_token as string });
    const keys = Array.from({ length: 20 }, (_, at) => `key:${String(at).padStart(2, '0')}`);
    for (const key of keys) {
      await eventually(async () => expect((await spread.command('SET', key, 'x')).kind).to.equal('done'));
    }
    spread.close();
    const base = `/v2/admin/databases/${made.database_id}`;
    for (const path of ['timeline?from=1', 'state?at=1', 'diff?from=1&to=2']) {
      const { status, text } = await call(`${base}/${path}`);
      expect([status, text], path).to.deep.equal([
        400,
        '{"error":"this database has several journals, each with its own positions: give an instant instead"}',
      ]);
    }
    const { entries } = (await json(`${base}/timeline`)) as { entries: (Entry & { shard: string })[] };
    expect(new Set(entries.map(({ shard }) => shard)).size).to.be.greaterThan(1);
    const now = new Date().toISOString();
    const first = (await json(`${base}/state?at=${now}&limit=12`)) as { keys: { key: string }[]; more: boolean };
    const rest = (await json(`${base}/state?at=${now}&after=${first.keys.at(-1)?.key}`)) as typeof first;
    expect([...first.keys, ...rest.keys].map(({ key }) => key)).to.deep.equal(keys);
    expect([first.more, rest.more]).to.deep.equal([true, false]);
  });

  it('a moment in the future is refused with 400 and a reason', async () => {
    for (const at of ['999999999', '2099-01-01']) {
      const { status, text } = await call(`/v2/admin/databases/${database}/state?at=${at}`);
      expect(status, text).to.equal(400);
      expect((JSON.parse(text) as { error: string }).error).to.not.equal('invalid request');
    }
  });

  it("another account's database is answered with 404, and the verification of the whole installation with 403", async () => {
    for (const what of ['timeline', 'state?at=1', 'diff?from=1&to=2', 'verify', 'statistics']) {
      const theirs = await call(`/v2/admin/databases/${neighbour.database}/${what}`);
      expect([what, theirs.status]).to.deep.equal([what, 404]);
    }
    expect((await call('/v2/admin/verify', { as: neighbour.authorization })).status).to.equal(403);
    const own = await open(`databases/${neighbour.database}/verify`, neighbour.authorization);
    await ended(own);
    expect(doneIn(own)).to.deep.equal({ isFine: true });
  });

  it('a session token is accepted, and refused with 401 after any character is altered', async () => {
    const begun = await fetch(`${mgmtUrl}/v2/admin/sessions`, { method: 'POST', headers: { authorization } });
    const { session } = (await begun.json()) as { session: string };
    expect((await call('/v2/admin/session', { as: `Bearer ${session}` })).status).to.equal(200);
    for (let at = 0; at < session.length; at += 1) {
      const other = session[at] === 'A' ? 'B' : 'A';
      const altered = session.slice(0, at) + other + session.slice(at + 1);
      // The last character of base64 may hold bits without a meaning.
      if (at === session.length - 1 || session[at + 1] === '=') continue;
      expect((await call('/v2/admin/session', { as: `Bearer ${altered}` })).status, String(at)).to.equal(401);
    }
  });

  it('the log feed of a queue shows each event of a delivery once', async () => {
    const feed = await open(`queues/${queueId}/logs`);
    const path = queue.sink.path('fed');
    const ids = await Promise.all(Array.from({ length: 20 }, () => queue.publish(`${queue.sink.url(path)}`)));
    await queue.sink.arrived(path, ids.length);
    const told = () => feed.events.map(({ data }) => data as { messageId: string; state: string });
    await eventually(() => {
      const delivered = told().filter(({ state }) => state === 'DELIVERED');
      expect(delivered).to.have.length.of.at.least(ids.length);
    }, SEEN);
    for (const id of ids) {
      const states = told().filter(({ messageId }) => messageId === id);
      expect(states.map(({ state }) => state)).to.deep.equal(['CREATED', 'ACTIVE', 'DELIVERED']);
    }
    const again = await open(`queues/${queueId}/logs?from=0`);
    await eventually(() => expect(again.events).to.have.length.of.at.least(3 * ids.length), SEEN);
  });

  it('the statistics feed of a database shows growing counts', async () => {
    const feed = await open(`databases/${database}/statistics`);
    const total = () => {
      const newest = feed.events.at(-1)?.data as { commands: number[] } | undefined;
      return (newest?.commands ?? []).reduce((a, b) => a + b, 0);
    };
    await eventually(() => expect(total()).to.be.greaterThan(0), SEEN);
    const before = total();
    for (let at = 0; at < 50; at += 1) await kv.ask('GET', 'first');
    await eventually(() => expect(total()).to.be.at.least(before + 50), SEEN);
  });

  it('verify reports on a database, a queue and the installation without blocking the event loop', async () => {
    const WRITERS = 4;
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let at = 0; at < ENTRIES / WRITERS; at += 1) await write(`w${writer}:${at % 50}`, String(at));
      }),
    );
    await loopDelayMs();
    for (const path of [`databases/${database}/verify`, `queues/${queueId}/verify`, 'verify']) {
      const begunAt = performance.now();
      const stream = await open(path);
      await ended(stream);
      const tookMs = Math.round(performance.now() - begunAt);
      expect(doneIn(stream), stream.text).to.deep.equal({ isFine: true });
      const reports = stream.events.filter(({ name }) => name === 'report');
      expect(reports.length).to.be.greaterThan(0);
      expect(stream.events.some(({ name }) => name === 'progress')).to.equal(true);
      const delay = await loopDelayMs();
      const entries = reports.map(({ data }) => (data as { entries?: number }).entries ?? 0).reduce((a, b) => a + b, 0);
      if (process.env.MILLRACE_TEST_ENTRIES !== undefined) console.log(path, { entries, tookMs, ...delay });
      // A walk on the main thread would block the loop most of the time; other load of the machine may block it too.
      expect(delay.p50).to.be.lessThan(20);
      expect(delay.max).to.be.lessThan(Math.max(1000, tookMs / 2));
    }
  });

  async function loopDelayMs(): Promise<{ p50: number; p99: number; max: number }> {
    const text = await (await fetch(`${queue.millrace.metricsUrl}/metrics`)).text();
    const stat = (name: string) => 1000 * Number(new RegExp(`delay_seconds{stat="${name}"} (\\S+)`).exec(text)?.[1]);
    return { p50: stat('p50'), p99: stat('p99'), max: stat('max') };
  }

  it('at most two verifications run at a time, and the thread of one ends when its client leaves', async () => {
    const before = threads();
    const asked = await Promise.all(Array.from({ length: 3 }, () => open('verify')));
    expect(asked.map(({ response }) => response.statusCode).sort()).to.deep.equal([200, 200, 503]);
    expect(threads()).to.be.greaterThan(before);
    for (const stream of asked) stream.leave();
    await eventually(() => expect(threads()).to.be.at.most(before), { timeoutMs: 20_000 });
    const two = await Promise.all([open('verify'), open('verify')]);
    expect(two.map(({ response }) => response.statusCode)).to.deep.equal([200, 200]);
  });

  it('SIGTERM stops the process within 10 s while feeds are open, also feeds that their client does not read', async () => {
    const paths = [`queues/${queueId}/logs`, `queues/${queueId}/logs?from=0`, `databases/${database}/statistics`];
    const opened = await Promise.all([...paths, 'verify', 'verify'].map((path) => open(path)));
    for (const { response } of opened.slice(1)) response.pause();
    const stoppedAt = performance.now();
    const { code, signal } = await queue.millrace.kill('SIGTERM');
    expect([code, signal], queue.millrace.stderr()).to.deep.equal([0, null]);
    expect(performance.now() - stoppedAt).to.be.lessThan(STOP_MS);
    expect(queue.millrace.stderr()).to.not.match(/admin\.\w+\.failed|DEFECT/);
  });
});
