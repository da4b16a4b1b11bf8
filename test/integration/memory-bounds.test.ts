/** The data of a tenant is bounded by the memory of its process, also without a limit in its plan. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const VALUE_BYTES = 500_000;
const VALUE = 'x'.repeat(VALUE_BYTES);
/** The heap has no room for this many. */
const MAX_VALUES = 2000;
/** Over REST; over RESP it is `OOM command not allowed …`. */
const FULL = 'ERR DB capacity quota exceeded';

describe('a process whose memory a tenant fills', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let large: KvClient;
  let small: KvClient;
  const tokens: string[] = [];
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;

  before(async () => {
    // The heap of the image.
    queue = await QueueProcess.start({ MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY, MILLRACE_HEAP_MB: '512' });
    for (const name of ['large', 'small']) tokens.push(await newDatabase(name));
    connect();
  });
  after(async () => {
    for (const client of [large, small]) client?.close();
    await queue?.stop();
  });

  async function newDatabase(database_name: string): Promise<string> {
    const response = await fetch(`${queue.millrace.addresses.mgmt}/v2/kv/database`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ database_name, region: 'global', primary_region: 'us-east-1', plan: 'payg' }),
    });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return (JSON.parse(text) as { rest_token: string }).rest_token;
  }

  function connect(): void {
    const [ofLarge, ofSmall] = tokens as [string, string];
    large = new KvClient({ url: queue.millrace.kvUrl, token: ofLarge });
    small = new KvClient({ url: queue.millrace.kvUrl, token: ofSmall });
  }

  /** Sends a command as an item of a pipeline. */
  async function ask(client: KvClient, ...words: string[]): Promise<{ result?: unknown; error?: string }> {
    const outcome = await client.pipeline([words]);
    if (outcome.kind !== 'done') throw new Error(`${words[0]}: ${outcome.why}`);
    return (outcome.result as [{ result?: unknown; error?: string }])[0];
  }

  const memoryOf = async (client: KvClient): Promise<Record<string, number>> => {
    const text = String((await ask(client, 'INFO', 'memory')).result);
    return Object.fromEntries(
      [...text.matchAll(/^(\w+):(\d+)\r?$/gm)].map(([, name, value]) => [name as string, Number(value)]),
    );
  };

  it('refuses further writes of that tenant, shows the bound as maxmemory, and serves other tenants', async () => {
    let refused: string | undefined;
    let count = 0;
    while (refused === undefined && count < MAX_VALUES) {
      refused = (await ask(large, 'SET', `key:${count}`, VALUE)).error;
      count += 1;
    }
    expect(refused).to.equal(FULL);
    const memory = await memoryOf(large);
    expect(memory.used_memory).to.be.closeTo(memory.maxmemory as number, 2 * VALUE_BYTES);
    // Reads are still answered, and so are other databases.
    expect(await ask(large, 'STRLEN', 'key:0')).to.deep.equal({ result: VALUE_BYTES });
    expect(await ask(small, 'SET', 'own', 'x')).to.deep.equal({ result: 'OK' });
  });

  it('starts again with all the data, and accepts writes of that tenant after deletions', async () => {
    await queue.restart('SIGKILL');
    for (const client of [large, small]) client.close();
    connect();
    await eventually(async () => expect(await ask(large, 'STRLEN', 'key:0')).to.deep.equal({ result: VALUE_BYTES }));
    expect(await ask(large, 'SET', 'more', VALUE)).to.deep.equal({ error: FULL });
    expect(await ask(large, 'DEL', 'key:0', 'key:1', 'key:2')).to.deep.equal({ result: 3 });
    expect(await ask(large, 'SET', 'more', VALUE)).to.deep.equal({ result: 'OK' });
  });
});
