/** Long commands of one tenant cost another tenant some milliseconds, and no failed request. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient, type Outcome } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const SETS = 400;
const BETWEEN_MS = 5;
const MEMBERS = 100_000;
const sources = (count: number, key: string) => Array.from({ length: count }, () => key);
/** Refused early, because of the size of its answer. */
const REFUSED = ['SORT', 'list', ...sources(1000, 'GET').flatMap((get) => [get, '#'])];
const LOUD: readonly (readonly (string | number)[])[] = [
  ['SINTER', ...sources(1000, 'set')],
  ['SDIFF', 'other', ...sources(999, 'set')],
  ['ZUNIONSTORE', 'stored', '20', ...sources(20, 'zset')],
  ['SORT', 'list', 'BY', 'w_*', ...sources(10, 'GET').flatMap((get) => [get, 'w_*'])],
  REFUSED,
];
const whyOf = (outcome: Outcome) => (outcome.kind === 'refused' ? outcome.why : outcome.kind);

describe('a tenant with long commands', function () {
  this.timeout(180_000);
  let queue: QueueProcess;
  let loud: KvClient;
  let loudReader: KvClient;
  let quiet: KvClient;
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;

  before(async () => {
    queue = await QueueProcess.start({ MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY, MILLRACE_HEAP_MB: '512' });
    const ofLoud = await newDatabase('loud');
    const ofQuiet = await newDatabase('quiet');
    const url = queue.millrace.kvUrl;
    loud = new KvClient({ url, token: ofLoud.rest_token, timeoutMs: 60_000 });
    loudReader = new KvClient({ url, token: ofLoud.read_only_rest_token, timeoutMs: 60_000 });
    quiet = new KvClient({ url, token: ofQuiet.rest_token });
    for (let i = 0; i < MEMBERS; i += 10_000) {
      const numbers = Array.from({ length: 10_000 }, (_, j) => i + j);
      const filled = await loud.pipeline([
        ['SADD', 'set', ...numbers],
        ['SADD', 'other', ...numbers.map((n) => `o${n}`)],
        ['ZADD', 'zset', ...numbers.flatMap((n) => [n, n])],
        ['RPUSH', 'list', ...numbers],
      ]);
      expect(filled.kind).to.equal('done');
    }
  });
  after(async () => {
    for (const client of [loud, loudReader, quiet]) client?.close();
    await queue?.stop();
  });

  async function newDatabase(database_name: string): Promise<{ rest_token: string; read_only_rest_token: string }> {
    const response = await fetch(`${queue.millrace.addresses.mgmt}/v2/kv/database`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ database_name, region: 'global', primary_region: 'us-east-1', plan: 'payg' }),
    });
    return (await response.json()) as { rest_token: string; read_only_rest_token: string };
  }

  /** Milliseconds of each SET, in order of length; every one of them has to be done. */
  async function timesOfSets(): Promise<number[]> {
    const times: number[] = [];
    for (let i = 0; i < SETS; i += 1) {
      const startedAt = performance.now();
      const outcome = await quiet.command('SET', `key:${i}`, 'value');
      times.push(performance.now() - startedAt);
      expect(outcome).to.deep.equal({ kind: 'done', result: 'OK' });
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    }
    return times.sort((a, b) => a - b);
  }

  const p99 = (times: readonly number[]) => times[Math.floor(times.length * 0.99)] as number;
  const half = (times: readonly number[]) => times[times.length >> 1] as number;

  it('delays the SETs of another tenant by slices only, and none of them fails', async () => {
    await timesOfSets();
    const outcomes: Outcome[] = [];
    // A busy machine may be slow in one try, but not in each.
    await eventually(() => expectShared(outcomes), { timeoutMs: 20_000 });
    expect(outcomes.length).to.be.greaterThan(0);
    for (const outcome of outcomes) {
      // A command that waits too long after the others is refused with that reason, and so is one that runs too long on a
      // busy machine.
      if (outcome.kind !== 'done')
        expect(whyOf(outcome)).to.match(/ERR answer too large|BUSY|ERR command stopped: it took longer than/);
    }
    expect(whyOf(await loud.command(...REFUSED))).to.include('ERR answer too large');
  });

  /** @param outcomes of all commands of the loud tenant during the measurement */
  async function expectShared(outcomes: Outcome[]): Promise<void> {
    const alone = await timesOfSets();
    let isOver = false;
    const attack = LOUD.map(async (words) => {
      // The read-only token is enough for commands that store no data.
      const client = words[0] === 'ZUNIONSTORE' || words[0] === 'SORT' ? loud : loudReader;
      while (!isOver) outcomes.push(await client.command(...words));
    });
    const beside = await timesOfSets();
    isOver = true;
    await Promise.all(attack);
    const figures = [half(alone), p99(alone), half(beside), p99(beside)].map((ms) => ms.toFixed(1)).join(', ');
    // Without slices and shares one of these commands takes seconds.
    expect(half(beside), figures).to.be.lessThan(5 * half(alone) + 25);
    expect(p99(beside), figures).to.be.lessThan(5 * p99(alone) + 100);
  }
});
