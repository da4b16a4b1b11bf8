/**
 * Measures the waiting times of clients during a failure. Each database is read and written at each process at a
 * steady pace, and a request starts even if earlier ones have no answer, so that one slow answer does not hide
 * others.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describeOutcome, KvClient } from './kv-client.js';
import type { MillraceProcess } from './millrace-process.js';

export interface ProbedDatabase {
  readonly name: string;
  readonly token: string;
}

interface Asked {
  readonly database: string;
  readonly process: number;
  readonly sentAtMs: number;
  readonly tookMs: number;
  /** Undefined if the request was answered. */
  readonly failure: string | undefined;
}

const EVERY_MS = 50;
const KEY = 'probed';

export class WaitingTimes {
  #asked: Asked[] = [];
  readonly #clients: KvClient[] = [];
  readonly #open = new Set<Promise<void>>();
  #count = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly processes: readonly MillraceProcess[],
    private readonly databases: readonly ProbedDatabase[],
  ) {
    this.#timer = setInterval(() => this.#askAll(), EVERY_MS);
  }

  /** Clears the results, runs an action, and waits until all requests of the next `ms` milliseconds have ended. */
  async during(ms: number, action: () => Promise<void> | void): Promise<void> {
    await Promise.all(this.#open);
    this.#asked = [];
    await action();
    await pause(ms);
    await Promise.all(this.#open);
  }

  /** The longest wait and the failures of requests of these databases at these processes. */
  worst(databases: readonly string[], processes = [...this.processes.keys()]) {
    const some = this.#asked.filter((one) => databases.includes(one.database) && processes.includes(one.process));
    return {
      asked: some.length,
      waitMs: Math.max(0, ...some.map(({ tookMs }) => tookMs)),
      failures: some.flatMap(({ failure }) => failure ?? []),
    };
  }

  /** The end of the last request that took longer than `ms` or failed. */
  overAtMs(ms: number): number {
    const slow = this.#asked.filter(({ tookMs, failure }) => tookMs > ms || failure !== undefined);
    return Math.max(0, ...slow.map(({ sentAtMs, tookMs }) => sentAtMs + tookMs));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    for (const client of this.#clients) client.close();
  }

  #askAll(): void {
    this.#count += 1;
    for (const [process, { kvUrl: url }] of this.processes.entries()) {
      for (const { name: database, token } of this.databases) {
        const client = this.#clientOf(process, database, url, token);
        for (const words of [['GET', KEY] as const, ['SET', `${KEY}-${process}`, this.#count] as const]) {
          const sentAtMs = performance.now();
          const asking = client.command(...words).then((outcome) => {
            const failure = outcome.kind === 'done' ? undefined : `${words[0]}: ${describeOutcome(outcome)}`;
            this.#asked.push({ database, process, sentAtMs, tookMs: performance.now() - sentAtMs, failure });
            this.#open.delete(asking);
          });
          this.#open.add(asking);
        }
      }
    }
  }

  readonly #clientByUse = new Map<string, KvClient>();

  #clientOf(process: number, database: string, url: string, token: string): KvClient {
    const use = `${process} ${database}`;
    const known = this.#clientByUse.get(use);
    if (known !== undefined) return known;
    const client = new KvClient({ url, token, connections: 400, timeoutMs: 30_000 });
    this.#clients.push(client);
    this.#clientByUse.set(use, client);
    return client;
  }
}
