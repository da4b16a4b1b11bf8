/** Endless scripts of some tenants cost other tenants little, and can be killed. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { KvClient } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const LOOPS = 4;
const ROUNDS = 50;
/**
 * Far above the measured values (some tens), because machines that run tests are busy. Without slices each loop would take
 * half a second.
 */
const MAX_MEDIAN_MS = 150;
const LOOP = "redis.call('set','half','1') while true do end";

describe('a process in which four tenants run endless scripts', function () {
  this.timeout(240_000);
  let queue: QueueProcess;
  let respPort: number;
  let quiet: KvClient;
  const loopers: KvClient[] = [];
  const passwords: string[] = [];
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;

  before(async () => {
    respPort = await freePort();
    queue = await QueueProcess.start({
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      MILLRACE_RESP_PORT: String(respPort),
      // None of these scripts ends without a limit.
      MILLRACE_SCRIPT_MS: '600000',
      MILLRACE_REQUEST_HOLD_MS: '60000',
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
    const { rest_token, password } = JSON.parse(text) as { rest_token: string; password: string };
    passwords.push(password);
    const client = new KvClient({ url: queue.millrace.kvUrl, token: rest_token });
    // Starts its engine and its Lua machine, which are not part of the measurement.
    await ask(client, 'EVAL', 'return 1', '0');
    return client;
  }

  /** Sends a command as an item of a pipeline. */
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

  it('answers other tenants and /livez quickly; SCRIPT KILL ends each script, and its writes are undone', async () => {
    const ended = loopers.map((client) => ask(client, 'EVAL', LOOP, '0'));
    const url = new URL('/livez', queue.millrace.metricsUrl);
    // A busy machine may be slow in one try, but not in each.
    await eventually(async () => {
      const sets: number[] = [];
      const lives: number[] = [];
      for (let i = 0; i < ROUNDS; i += 1) {
        sets.push(await timed(async () => expect(await ask(quiet, 'SET', 'k', 'v')).to.deep.equal({ result: 'OK' })));
        lives.push(await timed(async () => expect((await fetch(url)).status).to.equal(200)));
      }
      expect(medianOf(sets), 'median of SET').to.be.below(MAX_MEDIAN_MS);
      expect(medianOf(lives), 'median of /livez').to.be.below(MAX_MEDIAN_MS);
    });
    for (const client of loopers) {
      await eventually(async () => expect(await ask(client, 'SCRIPT', 'KILL')).to.deep.equal({ result: 'OK' }));
    }
    for (const { error } of await Promise.all(ended)) expect(error).to.match(/^ERR Script stopped: it was killed/);
    for (const client of loopers) expect(await ask(client, 'EXISTS', 'half')).to.deep.equal({ result: 0 });
  });

  it('ends the script of a client whose connection breaks', async () => {
    const socket = connect(respPort, '127.0.0.1');
    await once(socket, 'connect');
    const [, password] = passwords as [string, string];
    socket.write(resp('AUTH', password) + resp('EVAL', LOOP, '0'));
    const [client] = loopers as [KvClient];
    // The command waits until the script has ended.
    await eventually(async () => {
      let isAnswered = false;
      const answer = ask(client, 'EXISTS', 'half').then((item) => {
        isAnswered = true;
        return item;
      });
      await Promise.race([answer, ask(quiet, 'PING')]);
      expect(isAnswered).to.equal(false);
    });
    // The connection is reset: a client that only ends its input may still want its answer.
    socket.resetAndDestroy();
    expect(await ask(client, 'EXISTS', 'half')).to.deep.equal({ result: 0 });
  });
});

function resp(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}
