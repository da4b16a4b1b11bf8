/**
 * Checks the outcomes of commands. Each command writes its own key once, and the key is read after the answer. From a
 * second after an answer, every read must agree with it and with earlier reads.
 *
 *  OL1 a command counts only if the server answered it; a broken connection is no answer
 *  OL2 reads also go through another process than the command
 */
import { Redis } from 'ioredis';
import { KvClient, type Outcome } from './kv-client.js';

/** The time after its answer in which a command may take effect. */
const FINAL_AFTER_MS = 1000;
/** The pause after a refused read. */
const READ_AGAIN_MS = 100;
const VALUE = 'written';

export interface LooksOptions {
  /** The prefix of the keys, which are written once. */
  readonly prefix: string;
  /** The URL of a process that owns no shard. */
  readonly url: string;
  readonly respPort: number;
  readonly token: string;
  readonly password: string;
  /** The number of concurrent commands. */
  readonly width: number;
}

export interface LookCounts {
  looks: number;
  done: number;
  refused: number;
  unknown: number;
  /** The longest time until an answer, in milliseconds. */
  slowestMs: number;
}

interface Look {
  readonly key: string;
  readonly how: string;
  readonly outcome: Outcome;
  /** The value that was read a second after the answer. */
  readonly early: string | null;
}

export class OutcomeLooks {
  readonly counts: LookCounts = { looks: 0, done: 0, refused: 0, unknown: 0, slowestMs: 0 };
  readonly #looks: Look[] = [];
  readonly #client: KvClient;
  /** One connection for each concurrent command, because commands of one connection wait for each other. */
  readonly #connections: readonly Redis[];
  #named = 0;
  #isDone = false;
  #running: Promise<void>[] = [];

  constructor(private readonly options: LooksOptions) {
    const { url, token, respPort, password, width } = options;
    this.#client = new KvClient({ url, token, connections: width, timeoutMs: 30_000 });
    this.#connections = Array.from({ length: width }, () => new Redis({ port: respPort, password, lazyConnect: true }));
    for (const connection of this.#connections) connection.on('error', () => undefined);
  }

  start(): void {
    this.#running = Array.from({ length: this.options.width }, (_, at) => this.#goOn(at));
  }

  /** Resolves when the last command has been answered and its key read. */
  async stop(): Promise<void> {
    this.#isDone = true;
    await Promise.all(this.#running);
  }

  close(): void {
    this.#isDone = true;
    this.#client.close();
    for (const connection of this.#connections) connection.disconnect();
  }

  /** Reads all keys again. @returns one line for each key that differs from the answer or an earlier read */
  async violations(): Promise<string[]> {
    const values = await this.#client.values(this.#looks.map(({ key }) => key));
    return this.#looks.flatMap(({ key, how, outcome, early }, at) => {
      const late = values[at] ?? null;
      const said = `${how} ${key} (${outcome.kind === 'done' ? 'done' : outcome.why})`;
      if (early !== late) return [`${said}: ${early} a second after its answer, ${late} in the end`];
      if (outcome.kind === 'done' && late !== VALUE) return [`${said}: it is not there`];
      if (outcome.kind === 'refused' && late !== null) return [`${said}: it is there`];
      return [];
    });
  }

  async #goOn(at: number): Promise<void> {
    while (!this.#isDone) {
      this.#named += 1;
      await this.#look(`${this.options.prefix}:${this.#named}`, WAYS[at % WAYS.length] as Way, at);
    }
  }

  async #look(key: string, way: Way, at: number): Promise<void> {
    const askedAt = performance.now();
    const outcome = await way.ask({ client: this.#client, redis: this.#connections[at] as Redis }, key);
    if (outcome === undefined) return;
    this.counts.slowestMs = Math.max(this.counts.slowestMs, performance.now() - askedAt);
    await pause(FINAL_AFTER_MS);
    this.#looks.push({ key, how: way.name, outcome, early: await this.#read(key) });
    this.counts.looks += 1;
    this.counts[outcome.kind] += 1;
  }

  async #read(key: string): Promise<string | null> {
    for (;;) {
      const read = await this.#client.command('GET', key);
      if (read.kind === 'done') return read.result as string | null;
      await pause(READ_AGAIN_MS);
    }
  }
}

interface Clients {
  readonly client: KvClient;
  readonly redis: Redis;
}

interface Way {
  readonly name: string;
  /** @returns undefined if the server did not answer (OL1) */
  ask(clients: Clients, key: string): Promise<Outcome | undefined>;
}

const SCRIPT = "return redis.call('SET', KEYS[1], ARGV[1])";

const WAYS: readonly Way[] = [
  { name: 'SET', ask: ({ client }, key) => answered(client.command('SET', key, VALUE)) },
  { name: 'SET over RESP', ask: ({ redis }, key) => toldByRedis(redis.set(key, VALUE)) },
  { name: 'EVAL', ask: ({ client }, key) => answered(client.command('EVAL', SCRIPT, 1, key, VALUE)) },
  { name: 'EXEC', ask: ({ client }, key) => answered(client.transaction([['SET', key, VALUE]])) },
  {
    name: 'MULTI over RESP',
    ask: ({ redis }, key) => toldByRedis(redis.multi({ pipeline: true }).set(key, VALUE).exec()),
  },
];

async function answered(asked: Promise<Outcome>): Promise<Outcome | undefined> {
  const outcome = await asked;
  const isAnswer = outcome.kind === 'done' || /nothing was|was not executed|outcome=/.test(outcome.why);
  return isAnswer ? outcome : undefined;
}

async function toldByRedis(asked: Promise<unknown>): Promise<Outcome | undefined> {
  try {
    return { kind: 'done', result: await asked };
  } catch (error) {
    const why = (error as Error).message;
    if (/outcome=unknown/.test(why)) return { kind: 'unknown', why };
    return /nothing was|was not executed|outcome=/.test(why) ? { kind: 'refused', status: 0, why } : undefined;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
