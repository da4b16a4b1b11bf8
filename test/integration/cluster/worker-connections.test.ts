/** Connections of an installation with two workers: each goes to the owner of its database, and none loses a byte. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { Redis as IoRedis } from 'ioredis';
import { Agent, request } from 'undici';
import { credentialsIn, type PrintedCredentials } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { runMillrace, signalPid } from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import { replayLine, seededRandom, seedOfThisRun } from '../../support/seeded-random.js';
import { WorkersStand } from '../../support/workers-stand.js';

const DATABASES = 6;
const CLIENTS = 40;
const COMMANDS = 200;

describe('a connection to MILLRACE_WORKERS=2', function () {
  this.timeout(300_000);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let stand: WorkersStand;
  let sink: QueueSink;
  let databases: PrintedCredentials[];
  let respPort: number;
  let kvPort: number;

  before(async () => {
    console.log(replayLine(seed, 'worker-connections'));
    sink = await QueueSink.listening();
    stand = await WorkersStand.start();
    databases = [];
    for (let count = 1; count <= DATABASES; count += 1) {
      const made = await runMillrace(['db', 'create', '--name', `database-${count}`], stand.environment);
      databases.push(credentialsIn(made.stdout.toString()));
    }
    const { resp = '', kv = '' } = stand.installation.addresses;
    [respPort, kvPort] = [Number(new URL(resp).port), Number(new URL(kv).port)];
  });
  after(async () => {
    await stand?.end();
    await sink.close();
  });

  async function forwarded(plane: 'kv' | 'queue'): Promise<number> {
    const lines = await stand.metric(/^millrace_forwarded_requests_total\{/);
    const counts = lines.filter((line) => line.includes(`plane="${plane}"`)).map((line) => Number(line.split(' ')[1]));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Writes the bytes in pieces of random lengths. @returns all answers until the server ends the connection */
  async function exchange(port: number, bytes: Buffer, end: (socket: Socket) => void = () => {}): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    const answer = allOf(socket);
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + random.below(4_000);
      socket.write(bytes.subarray(at, at + length));
      at += length;
      if (random.below(4) === 0) await new Promise(setImmediate);
    }
    end(socket);
    return answer;
  }

  async function allOf(socket: Socket): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString();
  }

  const command = (...words: string[]) =>
    `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;

  it('goes to the worker that owns its database, over RESP and REST: no command is forwarded', async () => {
    const commands = async ({ password, token }: PrintedCredentials) => {
      const before = await forwarded('kv');
      const options = { port: respPort, host: '127.0.0.1' };
      const clients = [
        new IoRedis({ ...options, password }),
        new IoRedis({ ...options, username: 'default', password }),
      ];
      for (const client of clients) await client.incr('number');
      for (const client of clients) client.disconnect();
      const agent = new Agent();
      const headers = { authorization: `Bearer ${token}` };
      const answer = await request(`${stand.installation.addresses.kv}/incr/number`, { headers, dispatcher: agent });
      expect(await answer.body.json()).to.have.property('result');
      await agent.close();
      expect(await forwarded('kv')).to.equal(before);
    };
    // Shards may move for a moment after the start.
    for (const database of databases) await eventually(() => commands(database), { timeoutMs: 20_000 });
  });

  it('goes to the worker that owns the queue of its account: no publish is forwarded', async () => {
    const path = sink.path('owner');
    const publish = async () => {
      const before = await forwarded('queue');
      const agent = new Agent();
      const headers = { authorization: `Bearer ${QUEUE_TOKEN}` };
      const url = `${stand.installation.addresses.queue}/v2/publish/${sink.url(path)}`;
      const answer = await request(url, { method: 'POST', headers, body: 'hello', dispatcher: agent });
      expect(answer.statusCode).to.equal(200);
      await agent.close();
      expect(await forwarded('queue')).to.equal(before);
    };
    for (let count = 0; count < 5; count += 1) await eventually(publish, { timeoutMs: 20_000 });
    await eventually(() => expect(sink.calls(path).length).to.be.at.least(5));
  });

  it('loses no byte and no answer of clients that pipeline from the first byte on', async () => {
    const commands = Array.from({ length: COMMANDS }, (_, at) => command('ECHO', `word-${at}-${'x'.repeat(at)}`));
    const expected = Array.from({ length: COMMANDS }, (_, at) => {
      const word = `word-${at}-${'x'.repeat(at)}`;
      return `$${word.length}\r\n${word}\r\n`;
    });
    const requests = (token: string) =>
      Array.from({ length: COMMANDS }, (_, at) => {
        const end = at === COMMANDS - 1 ? 'Connection: close\r\n' : '';
        return `GET /echo/word-${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${end}\r\n`;
      });
    const clients = Array.from({ length: CLIENTS }, async (_, at) => {
      const { password, token } = databases[at % DATABASES] as PrintedCredentials;
      const overResp = Buffer.from([command('AUTH', password), ...commands].join(''));
      expect(await exchange(respPort, overResp, (socket) => socket.end())).to.equal(['+OK\r\n', ...expected].join(''));
      const answers = await exchange(kvPort, Buffer.from(requests(token).join('')));
      expect([...answers.matchAll(/\{"result":"word-(\d+)"\}/g)].map(([, number]) => Number(number))).to.deep.equal(
        Array.from({ length: COMMANDS }, (_, number) => number),
      );
    });
    await Promise.all(clients);
  });

  it('goes to a worker that receives when another one does not, and gets an answer or an end when that one is killed', async () => {
    const [frozen = 0] = await stand.workers();
    signalPid(frozen, 'SIGSTOP');
    const outcomes: ('answered' | 'closed')[] = [];
    const clients = Array.from({ length: 8 }, () => {
      const socket = connect(respPort, '127.0.0.1');
      socket.once('data', () => {
        outcomes.push('answered');
        socket.off('close', onClose).destroy();
      });
      const onClose = () => outcomes.push('closed');
      socket.on('close', onClose).on('error', () => undefined);
      socket.write('PING\r\n');
      return socket;
    });
    // One may be on its way to the frozen worker.
    await eventually(() => expect(outcomes.filter((outcome) => outcome === 'answered').length).to.be.at.least(7));
    signalPid(frozen, 'SIGKILL');
    await eventually(() => expect(outcomes).to.have.length(8), { timeoutMs: 20_000 });
    for (const client of clients) client.destroy();
  });
});
