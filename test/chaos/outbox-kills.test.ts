/**
 * Transactions that count and publish, while the process is killed again and again: the messages at the destination
 * are those of the stored transactions, and each was accepted by the queue once.
 */
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { PASSWORD } from '../support/millrace-process.js';
import { QueueProcess } from '../support/queue-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

/** The number that CI has time for; `OUTBOX_TRANSACTIONS=100000 OUTBOX_KILLS=1000` runs the full size. */
const TRANSACTIONS = Number(process.env.OUTBOX_TRANSACTIONS ?? '1000');
const KILLS = Number(process.env.OUTBOX_KILLS ?? '4');
/** The mean time between a start and the next kill. */
const KILL_EVERY_MS = 200;
const CLIENTS = 8;
/** One of so many transactions is discarded by a failed WATCH, another one by an option that the queue refuses. */
const ABORTED_EVERY = 20;
const MS_A_TRANSACTION = 15;
const MS_A_KILL = 15_000;
const PAUSE_MS = 20;

/** The bodies that arrived, each with the ids of its messages. */
class Destination {
  readonly idsByBody = new Map<string, Set<string>>();

  private constructor(private readonly server: Server) {}

  static async listening(): Promise<Destination> {
    const server = createServer();
    const destination = new Destination(server);
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      request.on('end', () => {
        const ids = destination.idsByBody.get(body) ?? new Set();
        ids.add(String(request.headers['upstash-message-id'] ?? request.headers['svc-message-id']));
        destination.idsByBody.set(body, ids);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return destination;
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/sink`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('transactions that publish, over kills of the process', function () {
  this.timeout(120_000 + TRANSACTIONS * MS_A_TRANSACTION + KILLS * MS_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let queue: QueueProcess;
  let destination: Destination;
  const clients: Redis[] = [];

  after(async () => {
    for (const client of clients) client.disconnect();
    destination?.close();
    await queue?.stop();
  });

  it(`send one message for each stored transaction, over ${TRANSACTIONS} transactions`, async () => {
    console.log(replayLine(seed, 'outbox-kills'));
    const port = await freePort();
    queue = await QueueProcess.start({ MILLRACE_RESP_PORT: String(port), MILLRACE_SNAPSHOT_ENTRIES: '400' });
    destination = await Destination.listening();
    const connect = (): Redis => {
      const client = new Redis({
        port,
        password: PASSWORD,
        maxRetriesPerRequest: 0,
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        retryStrategy: () => PAUSE_MS,
      });
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    };
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    let asked = 0;
    const load = async (client: Redis): Promise<void> => {
      while (asked < TRANSACTIONS) {
        if (client.status !== 'ready') {
          await pause(PAUSE_MS);
          continue;
        }
        asked += 1;
        const id = `t${asked}`;
        const kind = asked % ABORTED_EVERY;
        const run = kind === 0 ? watched(client, id, destination.url) : transaction(client, id, destination.url, kind);
        await run.then(
          (isStored) => isStored && acknowledged.add(id),
          () => unknown.add(id),
        );
      }
    };
    let isOver = false;
    const loads = Promise.all(Array.from({ length: CLIENTS }, () => load(connect()))).then(() => {
      isOver = true;
    });
    let kills = 0;
    while (!isOver && kills < KILLS) {
      await pause(random.below(KILL_EVERY_MS) + KILL_EVERY_MS / 2);
      await queue.restart('SIGKILL');
      kills += 1;
    }
    await loads;
    const reader = connect();
    await eventually(() => expect(reader.status).to.equal('ready'), { timeoutMs: 30_000 });
    const stored = await reader.smembers('ids');
    const count = Number(await reader.get('n'));
    await eventually(() => expect(destination.idsByBody.size).to.be.at.least(count), { timeoutMs: 60_000 });
    console.log(`${kills} kills, ${count} stored, ${acknowledged.size} acknowledged, ${unknown.size} unknown`);
    expect([...destination.idsByBody.keys()].sort()).to.deep.equal(stored.sort());
    expect(stored).to.have.length(count);
    expect([...acknowledged].filter((id) => !destination.idsByBody.has(id))).to.deep.equal([]);
    expect(stored.filter((id) => !acknowledged.has(id) && !unknown.has(id))).to.deep.equal([]);
    const acceptedTwice = [...destination.idsByBody].filter(([, ids]) => ids.size > 1);
    expect(acceptedTwice).to.deep.equal([]);
    expect(kills).to.be.at.least(1);
  });
});

/** @returns whether it was stored. @throws when its outcome is unknown */
async function transaction(client: Redis, id: string, url: string, kind: number): Promise<boolean> {
  const isRefused = kind === 1;
  const options = isRefused ? ['RETRIES', 'many'] : [];
  const commands = client.multi().incr('n').sadd('ids', id);
  try {
    const results = await commands.call('QUEUE.PUBLISH', url, id, ...options).exec();
    return results !== null;
  } catch (error) {
    if (isRefused && (error as Error).message.includes('svc-retries')) return false;
    throw error;
  }
}

/** Discarded, because the watched key has changed. */
async function watched(client: Redis, id: string, url: string): Promise<boolean> {
  const key = `watched:${id}`;
  await client.watch(key);
  await client.set(key, 'changed');
  const results = await client.multi().incr('n').sadd('ids', id).call('QUEUE.PUBLISH', url, id).exec();
  return results !== null;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
