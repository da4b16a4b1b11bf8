/**
 * A light load on an installation with workers: writes over REST and RESP, deliveries and runs, each kind one after
 * another. Clients do not retry, so the first failed request fails the load.
 */
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Client } from '@upstash/qstash';
import { Redis } from '@upstash/redis';
import { serve, Client as WorkflowClient } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { TOKEN } from './millrace-process.js';
import { QUEUE_TOKEN } from './queue-process.js';
import { QueueSink } from './queue-sink.js';
import type { WorkersStand } from './workers-stand.js';
import { WorkflowApp } from './workflow-app.js';
import { silenceClient } from './workflow-stand.js';

/** The pauses of each kind. A run takes a dozen requests, half of them from this process. */
const PAUSES_MS = { rest: 20, resp: 20, delivered: 50, runs: 250 } as const;
/** The wait for deliveries and runs, on a machine that is busy with other programs. */
const DONE_WITHIN = { timeoutMs: 60_000 };
const NO_RETRY = { retry: false } as const;

export interface LoadCounts {
  readonly rest: number;
  readonly resp: number;
  readonly delivered: number;
  readonly runs: number;
}

export class WorkersLoad {
  readonly #counts = { rest: 0, resp: 0, delivered: 0, runs: 0 };
  readonly #results = new Map<string, unknown>();
  #isOver = false;

  private constructor(
    private readonly stand: WorkersStand,
    private readonly sink: QueueSink,
    private readonly app: WorkflowApp,
  ) {}

  /** Runs the load while `during` runs. @throws if a request failed, or an effect is missing or happened twice */
  static async during(stand: WorkersStand, during: () => Promise<unknown>): Promise<LoadCounts> {
    silenceClient();
    const [sink, app] = [await QueueSink.listening(), await WorkflowApp.listening()];
    const load = new WorkersLoad(stand, sink, app);
    try {
      const parts = [load.#until(during), load.#rest(), load.#resp(), load.#deliveries(), load.#runs()];
      // A failed part ends the load; the others end before the failure is thrown, so that the next test finds none at work.
      const ends = await Promise.allSettled(parts.map((part) => part.catch((error: unknown) => load.#fail(error))));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      return load.#counts;
    } finally {
      load.#isOver = true;
      await sink.close();
      await app.close();
    }
  }

  async #until(during: () => Promise<unknown>): Promise<void> {
    await during().finally(() => {
      this.#isOver = true;
    });
  }

  #fail(error: unknown): never {
    this.#isOver = true;
    throw error;
  }

  /** Repeats a call, which is one request with its number, from 1. */
  async #repeat(name: keyof LoadCounts, call: (number: number) => Promise<unknown>): Promise<void> {
    for (; !this.#isOver; this.#counts[name] += 1) {
      const number = this.#counts[name] + 1;
      await call(number).catch((cause: unknown) => {
        // `fetch` has the reason in its cause.
        throw new Error(`request ${number} of ${name}: ${inspect(cause)}`, { cause });
      });
      await setTimeout(PAUSES_MS[name]);
    }
  }

  async #rest(): Promise<void> {
    const client = new Redis({ url: this.stand.installation.addresses.kv ?? '', token: TOKEN, ...NO_RETRY });
    await client.del('load-rest');
    await this.#repeat('rest', async (number) => expect(await client.incr('load-rest')).to.equal(number));
  }

  async #resp(): Promise<void> {
    const { native } = this.stand;
    await native.del('load-resp');
    await this.#repeat('resp', async (number) => expect(await native.incr('load-resp')).to.equal(number));
  }

  async #deliveries(): Promise<void> {
    const client = new Client({ baseUrl: this.#queueUrl, token: QUEUE_TOKEN, ...NO_RETRY });
    const path = this.sink.path('load');
    await this.#repeat('delivered', (number) => client.publish({ url: this.sink.url(path), body: `${number}` }));
    const published = Array.from({ length: this.#counts.delivered }, (_, at) => `${at + 1}`);
    const arrived = () => this.sink.calls(path).map(({ body }) => body);
    await eventually(() => expect(arrived().length).to.be.at.least(published.length), DONE_WITHIN);
    expect(arrived(), 'each message once').to.have.members(published);
  }

  async #runs(): Promise<void> {
    const settings = { baseUrl: this.#queueUrl, token: QUEUE_TOKEN };
    const { handler } = serve<number>(
      async (context) => {
        const first = await context.run('first', () => context.requestPayload * 2);
        this.#results.set(context.workflowRunId, await context.run('second', () => first + 1));
      },
      // The endpoint publishes its steps with this client, which retries as that of any endpoint does.
      { qstashClient: new Client(settings), receiver: undefined as never },
    );
    const url = this.app.route('load', handler);
    const client = new WorkflowClient({ ...settings, ...NO_RETRY });
    const expected = new Map<string, number>();
    await this.#repeat('runs', async (number) => {
      const { workflowRunId } = await client.trigger({ url, body: number });
      expected.set(workflowRunId, number * 2 + 1);
    });
    await eventually(() => expect(this.#results.size).to.equal(expected.size), DONE_WITHIN);
    expect(this.#results).to.deep.equal(expected);
  }

  get #queueUrl(): string {
    return this.stand.installation.addresses.queue ?? '';
  }
}
