/**
 * The process that owns all shards is killed while clients of another process block, subscribe, and write with
 * transactions and scripts. The clients stay connected, and every answer stays true.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../support/millrace-cluster.js';
import { endEverything, type MillraceProcess, PASSWORD } from '../support/millrace-process.js';

const KILLS = Number(process.env.CHAOS_TAKEOVERS ?? '4');
/** A takeover, with room for a busy machine. */
const BACK_TIMEOUT_MS = 25_000;
const MS_FOR_A_KILL = 20_000;
/** Elements pushed, published and added between two kills. */
const STEPS_BETWEEN_KILLS = 60;
/** A pause between steps, which leaves processor time for the servers. */
const PACE_MS = 1;
const WAITERS = 3;
const NOTHING_HAPPENED = /nothing was executed|was not executed|outcome=not-applied/;

describe('a takeover while clients of another process block, subscribe and write', function () {
  this.timeout(60_000 + KILLS * MS_FOR_A_KILL);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let port: number;
  let isDone = false;
  const open = new Set<Redis>();

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats);
    await cluster.start();
    await cluster.start();
    port = await freePort();
    const edge = await cluster.start({ MILLRACE_ROLES: 'edge', MILLRACE_RESP_PORT: String(port) });
    cluster.processes.splice(cluster.processes.indexOf(edge), 1);
    await eventually(() => edge.kv.ask('SET', 'settled', 'yes'), { timeoutMs: BACK_TIMEOUT_MS });
  });
  after(async () => {
    isDone = true;
    for (const client of open) client.disconnect();
    await endEverything();
    await nats?.stop();
  });

  function connect(): Redis {
    const client = new Redis({ port, password: PASSWORD, retryStrategy: () => null });
    client.on('error', () => undefined);
    open.add(client);
    return client;
  }

  it(`loses and duplicates no command over ${KILLS} kills`, async () => {
    const clients = { closed: 0 };
    const queue = new QueueRecord();
    const heard: string[] = [];
    let published = 0;
    const steps = { pushed: 0, transactions: 0, scripts: 0, unknownTransactions: 0, unknownScripts: 0 };

    const subscriber = connect();
    subscriber.on('close', () => (clients.closed += 1));
    subscriber.on('message', (_, text: string) => heard.push(text));
    await subscriber.subscribe('news');
    const [pusher, publisher, transactor, scripter] = [connect(), connect(), connect(), connect()];
    await transactor.mset('a', '0', 'b', '0', 'c', '0');

    const load = [
      ...Array.from({ length: WAITERS }, () => queue.drain(connect(), () => isDone)),
      repeat(async () => {
        steps.pushed += 1;
        await queue.push(pusher, String(steps.pushed));
      }),
      repeat(async () => {
        const text = String(published);
        published += 1;
        await publisher.publish('news', text).catch(() => 0);
      }),
      repeat(async () => {
        const outcome = await told(transactor.multi().incr('a').incr('b').exec());
        if (outcome === 'done') steps.transactions += 1;
        else if (outcome === 'unknown') steps.unknownTransactions += 1;
      }),
      repeat(async () => {
        const add =
          "redis.call('INCR', KEYS[1]) redis.call('HSET', KEYS[2], ARGV[1], 1) return redis.status_reply('OK')";
        const outcome = await told(scripter.eval(add, 2, 'c', 'made', String(steps.scripts + steps.unknownScripts)));
        if (outcome === 'done') steps.scripts += 1;
        else if (outcome === 'unknown') steps.unknownScripts += 1;
      }),
    ];

    const watcher = connect();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await watcher.hset('fields', `short ${kill}`, '1', `long ${kill}`, '1');
      await watcher.call('HPEXPIRE', 'fields', '300', 'FIELDS', '1', `short ${kill}`);
      await progress(steps, STEPS_BETWEEN_KILLS);
      const heardBefore = heard.length;
      const victim = ownerOf('KV_0', cluster.processes);
      cluster.processes.splice(cluster.processes.indexOf(victim), 1);
      await victim.kill('SIGKILL');
      await progress(steps, 10);
      await eventually(() => expect(heard.length).to.be.greaterThan(heardBefore + 10), { timeoutMs: BACK_TIMEOUT_MS });
      // The fields that had little time left are gone, the others are not.
      await eventually(async () => {
        const fields = await watcher.hkeys('fields');
        expect(fields.sort()).to.deep.equal(Array.from({ length: kill + 1 }, (_, at) => `long ${at}`));
      });
      await cluster.start();
    }
    isDone = true;
    await Promise.all(load);

    console.log(`      ${JSON.stringify({ ...steps, published, heard: heard.length, ...queue.counts })}`);
    expect(clients.closed, 'connections that were lost').to.equal(0);
    queue.judge(await watcher.lrange('queue', 0, -1));
    const numbers = heard.map(Number);
    for (const [at, number] of numbers.entries()) {
      if (at > 0) expect(number, 'messages in order, none twice').to.be.greaterThan(numbers[at - 1] as number);
    }
    const [a, b, c] = (await watcher.mget('a', 'b', 'c')).map(Number) as [number, number, number];
    expect(a, 'half a transaction').to.equal(b);
    expect(a).to.be.within(steps.transactions, steps.transactions + steps.unknownTransactions);
    expect(c).to.be.within(steps.scripts, steps.scripts + steps.unknownScripts);
    expect(await watcher.hlen('made'), 'fields of half a script').to.be.within(steps.scripts, c);
  });

  async function repeat(step: () => Promise<void>): Promise<void> {
    while (!isDone) {
      await step();
      await new Promise((done) => setTimeout(done, PACE_MS));
    }
  }

  async function progress(steps: Readonly<Record<string, number>>, more: number): Promise<void> {
    const from = { ...steps };
    await eventually(
      () => {
        for (const name of ['pushed', 'transactions', 'scripts']) {
          expect(steps[name], `${name}; ${logs(cluster.processes)}`).to.be.at.least((from[name] as number) + more);
        }
      },
      { timeoutMs: BACK_TIMEOUT_MS },
    );
  }
});

/** The pushed and the popped elements, and whether each outcome is known. */
class QueueRecord {
  readonly #pushed: string[] = [];
  readonly #maybePushed: string[] = [];
  readonly #popped: string[] = [];
  #maybePopped = 0;

  get counts(): Record<string, number> {
    return {
      pushed: this.#pushed.length,
      maybePushed: this.#maybePushed.length,
      popped: this.#popped.length,
      maybePopped: this.#maybePopped,
    };
  }

  async push(client: Redis, element: string): Promise<void> {
    const outcome = await told(client.rpush('queue', element));
    if (outcome === 'done') this.#pushed.push(element);
    else if (outcome === 'unknown') this.#maybePushed.push(element);
  }

  /** Waits for elements, one after the other. */
  async drain(client: Redis, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      try {
        const pair = await client.blpop('queue', 1);
        if (pair !== null) this.#popped.push(pair[1]);
      } catch (error) {
        if (!NOTHING_HAPPENED.test((error as Error).message)) this.#maybePopped += 1;
      }
    }
  }

  judge(left: readonly string[]): void {
    const seen = [...this.#popped, ...left];
    expect(seen.length, 'elements that came twice').to.equal(new Set(seen).size);
    const all = new Set(seen);
    const missing = this.#pushed.filter((element) => !all.has(element));
    expect(missing.length, `lost: ${missing}`).to.be.at.most(this.#maybePopped);
    const known = new Set([...this.#pushed, ...this.#maybePushed]);
    expect(seen.filter((element) => !known.has(element))).to.deep.equal([]);
    expect(this.#popped.length).to.be.greaterThan(0);
  }
}

async function told(action: Promise<unknown>): Promise<'done' | 'refused' | 'unknown'> {
  try {
    await action;
    return 'done';
  } catch (error) {
    return NOTHING_HAPPENED.test((error as Error).message) ? 'refused' : 'unknown';
  }
}

function logs(processes: readonly MillraceProcess[]): string {
  return processes.map((each) => each.stderr().slice(-600)).join('\n');
}
