/** A process that is killed and starts again with much data to load, and the published clients connected to it. */
import net from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, PASSWORD, startMillrace, temporaryDirectory } from '../../support/millrace-process.js';

/** Loading takes much longer than a request is held. */
const INCREMENTS = 300_000;
const KEYS = 100_000;
const PIPELINE = 10_000;
const HOLD_MS = '100';
const BACK = { timeoutMs: 60_000, everyMs: 100 };
const PROBE_EVERY_MS = 20;
/** Longer than a process holds a request while its event loop is busy with loading. */
const PROBE_TIMEOUT_MS = 30_000;
const CONNECTION_IS_GONE = /ECONNREFUSED|ECONNRESET|EPIPE|closed|Connection is closed/i;

describe('RESP: a start with much data to load', function () {
  this.timeout(240_000);
  after(() => endEverything());

  it('INFO, SUBSCRIBE and commands get -LOADING, and redis and ioredis reconnect with their subscriptions', async () => {
    const port = await freePort();
    const dataDir = await temporaryDirectory();
    const env = { MILLRACE_RESP_PORT: String(port), MILLRACE_REQUEST_HOLD_MS: HOLD_MS, MILLRACE_HEAP_MB: '512' };
    const first = await startMillrace({ dataDir, env });
    await fill(port);
    const errors = new Set<string>();
    const clients = [await ofIoredis(port, errors), await ofRedis(port, 2, errors), await ofRedis(port, 3, errors)];
    await first.kill('SIGKILL');

    const answers: string[][] = [];
    let isReady = false;
    const starting = startMillrace({ dataDir, env }).finally(() => {
      isReady = true;
    });
    while (!isReady) {
      const answer = await probe(port);
      if (answer !== undefined) answers.push(answer);
      await new Promise((done) => setTimeout(done, PROBE_EVERY_MS));
    }
    await starting;

    // The answers to AUTH, INFO, SUBSCRIBE and GET: each is a result or LOADING.
    const refused = answers.flat().filter((answer) => answer.startsWith('-'));
    expect(refused.filter((answer) => !answer.startsWith('-LOADING '))).to.deep.equal([]);
    for (const at of [1, 2, 3]) {
      expect(answers.map((all) => all[at]).some((answer) => answer?.startsWith('-LOADING '))).to.equal(true);
    }
    await eventually(async () => {
      for (const { publish } of clients) await publish();
      for (const { name, heard } of clients) expect([...heard].sort(), name).to.deep.equal(['a', 'b', 'c']);
      for (const { name, get } of clients) expect(Number(await get()), name).to.equal(INCREMENTS / KEYS);
    }, BACK);
    expect([...errors].filter((text) => !text.startsWith('LOADING ') && !CONNECTION_IS_GONE.test(text))).to.deep.equal(
      [],
    );
    for (const { close } of clients) close();
  });
});

async function fill(port: number): Promise<void> {
  const client = new Redis({ port, password: PASSWORD });
  for (let done = 0; done < INCREMENTS; done += PIPELINE) {
    const pipeline = client.pipeline();
    for (let i = 0; i < PIPELINE; i += 1) pipeline.incr(`k${(done + i) % KEYS}`);
    await pipeline.exec();
  }
  client.disconnect();
}

interface Program {
  readonly name: string;
  /** Channels on which its subscriber has heard something since the kill. */
  readonly heard: Set<string>;
  get(): Promise<unknown>;
  publish(): Promise<void>;
  close(): void;
}

/** Its reactions to a lost connection and to an error are the defaults of its package. */
async function ofIoredis(port: number, errors: Set<string>): Promise<Program> {
  const heard = new Set<string>();
  const open = () => new Redis({ port, password: PASSWORD }).on('error', ({ message }) => void errors.add(message));
  const subscriber = open();
  await subscriber.subscribe('a', 'b', 'c');
  subscriber.on('message', (channel) => void heard.add(channel));
  const plain = open();
  return {
    name: 'ioredis',
    heard,
    get: () => plain.get('k7'),
    publish: async () => void (await plain.publish('a', '1')),
    close: () => {
      subscriber.disconnect();
      plain.disconnect();
    },
  };
}

async function ofRedis(port: number, RESP: 2 | 3, errors: Set<string>): Promise<Program> {
  const heard = new Set<string>();
  const open = () =>
    createClient({ RESP, password: PASSWORD, socket: { port } }).on('error', ({ message }) => void errors.add(message));
  const subscriber = await open().connect();
  for (const channel of ['a', 'b', 'c']) await subscriber.subscribe(channel, () => void heard.add(channel));
  const plain = await open().connect();
  return {
    name: `redis, RESP${RESP}`,
    heard,
    get: () => plain.get('k7'),
    publish: async () => {
      await plain.publish('b', '1');
      await plain.publish('c', '1');
    },
    close: () => {
      subscriber.destroy();
      plain.destroy();
    },
  };
}

/** The first line of each answer to AUTH, INFO, SUBSCRIBE and GET on connections of their own; undefined: no port yet. */
async function probe(port: number): Promise<string[] | undefined> {
  const auth = `AUTH ${PASSWORD}\r\n`;
  const answers = await Promise.all(['INFO server', 'SUBSCRIBE c', 'GET k7'].map((line) => said(port, auth, line)));
  const [first] = answers;
  if (first === undefined) return undefined;
  return [first[0] as string, ...answers.map((all) => all?.[1] ?? '')];
}

/** The first line of each of the two answers; undefined if the port is closed. */
function said(port: number, auth: string, line: string): Promise<string[] | undefined> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(`${auth}${line}\r\n`));
    socket.setTimeout(PROBE_TIMEOUT_MS, () => socket.destroy(new Error(`no answer to ${line}`)));
    socket.setEncoding('latin1').on('data', (piece: string) => {
      received += piece;
      const lines = received.split('\r\n');
      if (lines.length < 3) return;
      socket.destroy();
      resolve(lines.slice(0, 2));
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' ? resolve(undefined) : reject(error),
    );
  });
}
