/** Two processes on one NATS: each serves requests for the other's shards, and takes them over when it ends. */
import { expect } from 'chai';
import { credentialsIn, todayIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { type JournalReader, ownershipViolations } from '../../support/journal-reader.js';
import { describeOutcome, KvClient, type Outcome } from '../../support/kv-client.js';
import {
  MillraceCluster,
  type NatsFacts,
  ownerOf,
  servingEpochOf,
  startPlainNats,
} from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, TOKEN } from '../../support/millrace-process.js';

const SHARD = 'KV_0';
const TAKEOVER_TIMEOUT_MS = 20_000;
const MEBIBYTE = 1024 * 1024;

describe('two processes on one NATS', function () {
  this.timeout(90_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let journal: JournalReader;
  let owner: MillraceProcess;
  let other: MillraceProcess;
  const clients: KvClient[] = [];

  before(async () => {
    nats = await startPlainNats();
    // On a busy machine old permissions could refuse requests, and this test is not about that.
    cluster = await MillraceCluster.prepare(nats, { MILLRACE_CONTROL_STALE_MS: '20000' });
    journal = await cluster.reader();
    await cluster.start();
    await cluster.start();
  });
  beforeEach(async () => {
    while (cluster.processes.length < 2) await cluster.start();
    [owner, other] = await settled();
  });
  after(async () => {
    for (const client of clients) client.close();
    await journal?.close();
    await endEverything();
    await nats?.stop();
  });

  it('answer the same at both, also for a shard that the other owns', async () => {
    await owner.kv.ask('SET', 'k', 'by the owner');
    expect(await other.kv.ask('GET', 'k')).to.equal('by the owner');
    await other.kv.ask('SET', 'k', 'by the other');
    expect(await owner.kv.ask('GET', 'k')).to.equal('by the other');
    for (const { kv } of [owner, other]) {
      expect(describeOutcome(await kv.command('INCR', 'k'))).to.contain(
        'refused with 400: ERR value is not an int or out of range',
      );
    }
  });

  it("run pipelines and whole transactions on the other's shard", async () => {
    const piped = await other.kv.pipeline([
      ['SET', 'p', '1'],
      ['INCR', 'p'],
      ['LPOP', 'p', 'not a number'],
      ['GET', 'p'],
    ]);
    expect(piped.kind).to.equal('done');
    const items = (piped as { result: { result?: unknown; error?: string }[] }).result;
    expect([items[0]?.result, items[1]?.result, items[3]?.result]).to.deep.equal(['OK', 2, '2']);
    expect(items[2]?.error).to.be.a('string');
    const transaction = await other.kv.transaction([
      ['INCRBY', 't', 5],
      ['SET', 'u', 'v'],
    ]);
    expect(transaction).to.deep.equal({ kind: 'done', result: [{ result: 5 }, { result: 'OK' }] });
    expect(
      (
        await other.kv.transaction([
          ['INCR', 't'],
          ['NOSUCH', 't'],
        ])
      ).kind,
    ).to.equal('refused');
    expect(await owner.kv.ask('GET', 't')).to.equal('5');
  });

  it('pass values of 1 MiB and more to the owner and back', async () => {
    for (const bytes of [MEBIBYTE, 3 * MEBIBYTE + 1]) {
      const value = Buffer.alloc(bytes, 'ÿ\0mebibyte', 'latin1');
      const set = await other.kv.raw('/set/large', { method: 'POST', body: value });
      expect(set.status, set.body.toString()).to.equal(200);
      const got = await other.kv.raw('/get/large', { headers: { 'svc-response-format': 'resp2' } });
      expect(got.body.equals(Buffer.concat([Buffer.from(`$${bytes}\r\n`), value, Buffer.from('\r\n')]))).to.equal(true);
      expect(await owner.kv.ask('STRLEN', 'large')).to.equal(bytes);
    }
  });

  it('count INCRs from both without losing one', async () => {
    await owner.kv.ask('SET', 'both', '0');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? owner : other).kv.ask('INCR', 'both')),
    );
    expect(new Set(answers).size).to.equal(100);
    expect(await owner.kv.ask('GET', 'both')).to.equal('100');
  });

  it('take over the shards of a killed process, and hold requests until then', async () => {
    await owner.kv.ask('SET', 'survives', 'yes');
    const epoch = servingEpochOf(owner, SHARD);
    await retire(owner, 'SIGKILL');
    // The request is held until the shard has an owner, and tried again if it was not held long enough.
    expect(await eventually(() => other.kv.ask('GET', 'survives'), { timeoutMs: TAKEOVER_TIMEOUT_MS })).to.equal('yes');
    await other.kv.ask('SET', 'survives', 'and goes on');
    expect(servingEpochOf(other, SHARD)).to.be.greaterThan(epoch);
    expect(ownershipViolations(await journal.entries(SHARD))).to.deep.equal([]);
  });

  it('answer 503 with Retry-After once a request was held for its maximum time', async () => {
    const impatient = await cluster.start({ MILLRACE_REQUEST_HOLD_MS: '300', MILLRACE_ROLES: 'edge' });
    try {
      await eventually(() => impatient.kv.ask('SET', 'k', 'v'));
      // Both are killed, because a shard may be moving from one to the other.
      await Promise.all([retire(owner, 'SIGKILL'), retire(other, 'SIGKILL')]);
      const answer = await impatient.kv.raw('/get/k');
      expect(answer.status, answer.body.toString()).to.equal(503);
      expect(Number(answer.headers['retry-after'])).to.be.at.least(1);
      expect(JSON.parse(answer.body.toString()).error).to.contain('nothing was executed');
      await cluster.start();
      const later = await eventually(() => impatient.kv.ask('GET', 'k'), { timeoutMs: TAKEOVER_TIMEOUT_MS });
      expect(later).to.equal('v');
    } finally {
      await retire(impatient, 'SIGTERM');
    }
  });

  it('move shards on SIGTERM without losing a request', async () => {
    await other.kv.ask('SET', 'rolling', '0');
    const client = new KvClient({ url: other.kvUrl, token: TOKEN, connections: 4 });
    clients.push(client);
    const outcomes: Outcome[] = [];
    let isDone = false;
    const asking = Array.from({ length: 4 }, async () => {
      while (!isDone) outcomes.push(await client.command('INCR', 'rolling'));
    });
    await eventually(() => expect(outcomes.length).to.be.greaterThan(20));
    expect(await retire(owner, 'SIGTERM')).to.deep.equal({ code: 0, signal: null });
    const before = outcomes.length;
    await eventually(() => expect(outcomes.length).to.be.greaterThan(before + 20), { timeoutMs: TAKEOVER_TIMEOUT_MS });
    isDone = true;
    await Promise.all(asking);
    expect(outcomes.filter(({ kind }) => kind !== 'done').map(describeOutcome)).to.deep.equal([]);
    expect(Number(await other.kv.ask('GET', 'rolling'))).to.equal(outcomes.length);
  });

  it('refuse both tokens of a database after `db reset-password`, at each of them', async () => {
    const made = credentialsIn((await cluster.run(['db', 'create', '--name', 'reset-here'])).stdout.toString());
    const at = (url: string, token: string) => {
      const kv = new KvClient({ url, token });
      clients.push(kv);
      return kv;
    };
    const urls = [owner.kvUrl, other.kvUrl];
    for (const url of urls) await eventually(() => at(url, made.token).ask('SET', 'k', url));
    const { code, stdout, stderr } = await cluster.run(['db', 'reset-password', made.id]);
    expect(code, stderr).to.equal(0);
    const renewed = credentialsIn(stdout.toString());
    for (const url of urls) {
      for (const old of [made.token, made.readOnlyToken]) {
        expect(describeOutcome(await at(url, old).command('GET', 'k')), url).to.contain('refused with 401');
      }
      expect(await at(url, renewed.token).ask('GET', 'k')).to.equal(urls[1]);
    }
  });

  it('let exactly the daily number of requests through, together', async () => {
    const limit = 120;
    const text = (await cluster.run(['db', 'create', '--name', 'daily', '--max-requests-per-day', String(limit)]))
      .stdout;
    const { token } = credentialsIn(text.toString());
    const edges = [owner, other].map(({ kvUrl: url }) => new KvClient({ url, token, connections: 4 }));
    clients.push(...edges);
    // Unknown to an edge is not yet counted by it.
    const known = await Promise.all(edges.map((edge) => eventually(() => edge.ask('PING'))));
    const outcomes: Outcome[] = [];
    await Promise.all(
      edges.map(async (edge) => {
        for (let request = 0; request < limit; request += 1) outcomes.push(await edge.command('INCR', 'n'));
      }),
    );
    const done = outcomes.filter(({ kind }) => kind === 'done').length;
    expect(done + known.length).to.equal(limit);
    const refused = outcomes.filter(({ kind }) => kind !== 'done').map(describeOutcome);
    for (const text of refused) expect(text).to.contain('max daily request limit exceeded');
  });

  it('count the requests of both in one total', async () => {
    const made = credentialsIn((await cluster.run(['db', 'create', '--name', 'counted'])).stdout.toString());
    for (const { kvUrl: url } of [owner, other]) {
      const kv = new KvClient({ url, token: made.token });
      clients.push(kv);
      await eventually(() => kv.ask('PING'));
      expect((await kv.pipeline(Array.from({ length: 99 }, () => ['GET', 'k']))).kind).to.equal('done');
    }
    await eventually(
      async () => {
        const { stdout } = await cluster.run(['db', 'list']);
        expect(todayIn(stdout.toString(), 'counted')).to.equal(200);
      },
      { timeoutMs: 20_000, everyMs: 500 },
    );
  });

  /** Waits until both processes serve. @returns the shard's owner first */
  function settled(): Promise<[MillraceProcess, MillraceProcess]> {
    return eventually(
      async () => {
        for (const { kv } of cluster.processes) await kv.ask('SET', 'settled', 'yes');
        const first = ownerOf(SHARD, cluster.processes);
        const second = cluster.processes.find((process) => process !== first);
        if (second === undefined) throw new Error('there is one process only');
        return [first, second];
      },
      { timeoutMs: TAKEOVER_TIMEOUT_MS, everyMs: 100 },
    );
  }

  function retire(process: MillraceProcess, signal: NodeJS.Signals) {
    cluster.processes.splice(cluster.processes.indexOf(process), 1);
    return process.kill(signal);
  }
});
