/** A start with much data to load: requests wait, and `ready` is printed when all endpoints answer. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { freePort } from '../../support/free-port.js';
import { endEverything, PASSWORD, startMillrace, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';

const QUEUE_TOKEN = 'queue-token-of-the-tests-0123456789';
/** Enough that the queue's shards are still loading when the ports open. */
const MESSAGES = 3000;
const BATCH = 250;
const BODY = 'x'.repeat(4096);
const WAIT_MS = 60_000;

describe('a start with a large journal of messages', function () {
  this.timeout(180_000);
  after(() => endEverything());

  it('holds requests on every endpoint while it loads, and prints ready when all answer', async () => {
    const dataDir = await temporaryDirectory();
    const [kvPort, queuePort, mgmtPort, respPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const env = {
      MILLRACE_KV_PORT: String(kvPort),
      MILLRACE_QUEUE_PORT: String(queuePort),
      MILLRACE_MGMT_PORT: String(mgmtPort),
      MILLRACE_RESP_PORT: String(respPort),
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      // A machine with two busy cores loads slowly.
      MILLRACE_REQUEST_HOLD_MS: '30000',
    };
    const first = await startMillrace({ dataDir, env });
    await first.kv.ask('SET', 'k', 'v');
    const queue = `http://127.0.0.1:${queuePort}`;
    const headers = { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'application/json' };
    const item = { destination: 'http://127.0.0.1:9/never', headers: { 'Svc-Delay': '10h' }, body: BODY };
    const batch = JSON.stringify(Array.from({ length: BATCH }, () => item));
    for (let sent = 0; sent < MESSAGES; sent += BATCH) {
      const { status } = await fetch(`${queue}/v2/batch`, { method: 'POST', headers, body: batch });
      expect(status).to.equal(200);
    }
    await first.kill('SIGKILL');

    let isReady = false;
    const starting = startMillrace({ dataDir, env }).then((started) => {
      isReady = true;
      return started;
    });
    const kv = `http://127.0.0.1:${kvPort}/get/k`;
    const asked = {
      kv: firstAnswer(() => fetch(kv, { headers: { authorization: `Bearer ${TOKEN}` } })),
      queue: firstAnswer(() => fetch(`${queue}/v2/queues`, { headers })),
      publish: firstAnswer(() => fetch(`${queue}/v2/enqueue/q/${item.destination}`, { method: 'POST', headers })),
      resp: firstAnswer(() => get(respPort)),
    };
    const answers = Object.fromEntries(
      await Promise.all(Object.entries(asked).map(async ([name, answer]) => [name, await answer] as const)),
    );
    expect(answers).to.deep.equal({ kv: 200, queue: 200, publish: 200, resp: 'v' });
    const started = await starting;
    expect(isReady).to.equal(true);
    expect((await fetch(`${started.metricsUrl}/readyz`)).status).to.equal(200);
    expect((await fetch(`http://127.0.0.1:${mgmtPort}/v2/redis/databases`)).status).to.equal(401);
  });
});

/** The first answer that a client gets, once the port is open. */
async function firstAnswer(ask: () => Promise<unknown>): Promise<unknown> {
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    try {
      const answer = await ask();
      return answer instanceof Response ? answer.status : answer;
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
      if (code !== 'ECONNREFUSED' || performance.now() > endMs) throw error;
      await new Promise((done) => setTimeout(done, 10));
    }
  }
}

async function get(port: number): Promise<unknown> {
  const client = new Redis({ port, password: PASSWORD, lazyConnect: true, retryStrategy: () => null });
  let failure: Error | undefined;
  client.on('error', (error) => {
    failure = error;
  });
  try {
    await client.connect().catch((error: unknown) => {
      throw failure ?? error;
    });
    return await client.get('k');
  } finally {
    client.disconnect();
  }
}
