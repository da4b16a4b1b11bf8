/** Scripts that never end cost the others of their process little, and are ended. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const LOOPS = 4;
/** Far above what is measured (some tens): machines that run tests are busy. In one go each loop would be half a second. */
const MAX_MEDIAN_MS = 150;
const LOOP = "redis.call('set','half','1') while true do end";

describe('a process in which four tenants run scripts that never end', function () {
  this.timeout(240_000);
  let queue: QueueProcess;
  let quiet: KvClient;
  const loopers: KvClient[] = [];
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;

  before(async () => {
    queue = await QueueProcess.start({
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      // Nobody is refused for waiting: what is looked at is how long it takes.
      MILLRACE_SCRIPT_MS: '1000',
    });
    quiet = await newClient('quiet');
    for (let i = 0; i < LOOPS; i += 1) loopers.push(await newClient(`loop-${i}`));
  });
  after(async () => {
    for (const client of [quiet, ...loopers]) client?.close();
    await queue?.stop();
  });

  async function newClient(database_name: string): Promise<KvClient> {
    const response = await fetch(`${queue.millrace.addresses.mgmt}/v2/kv/database`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ database_name, region: 'global', primary_region: 'us-east-1', plan: 'payg' }),
    });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    const { rest_token } = JSON.parse(text) as { rest_token: string };
    const client = new KvClient({ url: queue.millrace.kvUrl, token: rest_token });
    // Its engine and its machine are made now.
    await ask(client, 'EVAL', 'return 1', '0');
    return client;
  }

  /** As the item of a pipeline. */
  async function ask(client: KvClient, ...words: string[]): Promise<{ result?: unknown; error?: string }> {
    const outcome = await client.pipeline([words]);
    if (outcome.kind !== 'done') throw new Error(`${words[0]}: ${outcome.why}`);
    return (outcome.result as [{ result?: unknown; error?: string }])[0];
  }

  const timed = async (act: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    await act();
    return performance.now() - startedMs;
  };
  const medianOf = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

  it('answers another, and whoever asks whether it lives, all the while; each script is ended, and leaves nothing', async () => {
    let running = LOOPS;
    const ended = loopers.map(async (client) => {
      const { error } = await ask(client, 'EVAL', LOOP, '0');
      running -= 1;
      return error;
    });
    const sets: number[] = [];
    const lives: number[] = [];
    while (running === LOOPS) {
      sets.push(await timed(async () => expect(await ask(quiet, 'SET', 'k', 'v')).to.deep.equal({ result: 'OK' })));
      lives.push(
        await timed(async () =>
          expect((await fetch(new URL('/livez', queue.millrace.metricsUrl))).status).to.equal(200),
        ),
      );
    }
    // Else none of it was measured while they ran.
    expect(sets.length).to.be.above(20);
    expect(medianOf(sets), 'median of SET').to.be.below(MAX_MEDIAN_MS);
    expect(medianOf(lives), 'median of /livez').to.be.below(MAX_MEDIAN_MS);
    for (const error of await Promise.all(ended))
      expect(error).to.match(/^ERR Script stopped: it took longer than 1000/);
    await eventually(async () => {
      for (const client of loopers) expect(await ask(client, 'EXISTS', 'half')).to.deep.equal({ result: 0 });
    });
    if (process.env.SHOW_TIMES !== undefined) {
      const worst = (values: readonly number[]) => Math.max(...values).toFixed(1);
      console.log(
        `SET p50 ${medianOf(sets).toFixed(1)} max ${worst(sets)}, livez p50 ${medianOf(lives).toFixed(1)} max ${worst(lives)}, ${sets.length} rounds`,
      );
    }
  });
});
