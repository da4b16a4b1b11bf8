/**
 * A real process, an application with workflows of the published client beside it, and the clients that start and
 * watch them. Every delivery is checked with the published receiver and the account's keys.
 */
import { Receiver } from '@upstash/qstash';
import {
  Client,
  serve,
  type TriggerOptions,
  type WorkflowContext,
  type WorkflowRunLog,
  type WorkflowServeOptions,
} from '@upstash/workflow';
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { type Environment, endEverything } from './millrace-process.js';
import { QUEUE_TOKEN, QueueProcess } from './queue-process.js';
import type { QueueSink } from './queue-sink.js';
import { type Handler, type Post, WorkflowApp } from './workflow-app.js';

// biome-ignore lint/suspicious/noExplicitAny: what a run is sent is its test's business
export type Flow = (context: WorkflowContext<any>) => Promise<unknown>;
// biome-ignore lint/suspicious/noExplicitAny: as above
export type FlowOptions = WorkflowServeOptions<any, any>;
export type Invokable = ReturnType<typeof createWorkflow<unknown, unknown>>;

export interface EndedRun {
  readonly id: string;
  /** What its function returned; undefined when it never did. */
  readonly result: unknown;
}

/** For workflows that are asked by others than the server, who sign nothing. */
export const UNSIGNED = { receiver: undefined } as unknown as FlowOptions;
/** A run on a machine that does much else. */
export const RUN_TIMEOUT_MS = 60_000;
const ASK_EVERY_MS = 500;
/** No retries: a test that wants some says so. */
const ONCE = { retries: 0 };
/** Lines that the published client prints of what tests provoke. */
const OF_THE_CLIENT = /Upstash Workflow|Workflow Warning|Upstash QStash|\[QStash/i;

let isMuted = false;

export class WorkflowStand {
  readonly client: Client;
  /** The URL of a workflow that a schedule starts each minute. */
  scheduled: string | undefined;
  readonly options: { readonly qstashClient: QueueProcess['client']; readonly receiver: Receiver };
  readonly #results = new Map<string, unknown>();

  private constructor(
    readonly queue: QueueProcess,
    readonly app: WorkflowApp,
    keys: { readonly current: string; readonly next: string },
  ) {
    this.client = new Client({ baseUrl: queue.url, token: QUEUE_TOKEN });
    const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    this.options = { qstashClient: queue.client, receiver };
  }

  static async start(env: Environment = {}): Promise<WorkflowStand> {
    muteClient();
    const queue = await QueueProcess.start(env);
    const keys = (await queue.get('/v2/keys')).json as { current: string; next: string };
    return new WorkflowStand(queue, await WorkflowApp.listening(), keys);
  }

  /** Destinations of calls. */
  get sink(): QueueSink {
    return this.queue.sink;
  }

  /** Ends what is its own: another may be shared. */
  async stop(): Promise<void> {
    await this.queue.millrace.kill('SIGKILL');
    await this.sink.close();
    await this.app.close();
  }

  /** Serves one workflow. @returns its URL */
  serve(word: string, flow: Flow, options: FlowOptions = {}): string {
    const { handler } = serve(this.#watched(flow), { ...this.options, ...options });
    return this.app.route(this.app.name(word), handler as Handler);
  }

  /** The first minute begins somewhere in the next sixty seconds: what it starts is looked at by one of the last files. */
  async startSchedule(): Promise<void> {
    const url = this.serve('scheduled', (context) => context.run('one', () => context.requestPayload));
    await this.queue.client.schedules.create({ destination: url, cron: '* * * * *', body: '"tick"' });
    this.scheduled = url;
  }

  /** A workflow that others of its group call by name. */
  invokable(flow: Flow, options: FlowOptions = {}): Invokable {
    return createWorkflow<unknown, unknown>(this.#watched(flow), options);
  }

  /** Serves workflows that call each other. @returns their URLs */
  serveMany<T extends Record<string, Invokable>>(
    word: string,
    flows: T,
    options: FlowOptions = {},
  ): Record<keyof T, string> {
    const { POST } = serveMany(flows, { ...this.options, ...options });
    const url = this.app.route(this.app.name(word), POST);
    return Object.fromEntries(Object.keys(flows).map((name) => [name, `${url}/${name}`])) as Record<keyof T, string>;
  }

  async trigger(url: string, options: Omit<TriggerOptions, 'url'> = {}): Promise<string> {
    const { workflowRunId } = await this.client.trigger({ ...ONCE, ...options, url });
    return workflowRunId;
  }

  async run(url: string, options: Omit<TriggerOptions, 'url'> = {}): Promise<EndedRun> {
    return this.ended(await this.trigger(url, options));
  }

  /** Once a run that was started is over, in whatever way. */
  async ended(id: string): Promise<EndedRun> {
    let answeredBefore = -1;
    let nextAtMs = 0;
    await eventually(
      async () => {
        // The answer holds all of the run: it is asked for when something happened, and now and then.
        const answered = this.posts(id).filter(({ isOpen }) => !isOpen).length;
        const isDue = answered !== answeredBefore || performance.now() > nextAtMs;
        expect(isDue, `${id} is still active, sent ${this.toldOf(id)}`).to.equal(true);
        answeredBefore = answered;
        nextAtMs = performance.now() + ASK_EVERY_MS;
        const { status } = await this.queue.get(`/v2/workflows/runs/${id}`);
        expect(status, `entries of ${id}, sent ${this.toldOf(id)}`).to.equal(404);
      },
      { timeoutMs: RUN_TIMEOUT_MS },
    );
    return { id, result: this.#results.get(id) };
  }

  /** Requests that were made for a run, earliest first. */
  posts(id: string): readonly Post[] {
    return this.app.posts.filter(({ headers }) => headers['upstash-workflow-runid'] === id);
  }

  /** Once there are so many requests for a run. */
  async arrived(id: string, count: number): Promise<readonly Post[]> {
    return eventually(
      () => {
        const posts = this.posts(id);
        expect(posts.length, `requests for ${id}, sent ${this.toldOf(id)}`).to.be.at.least(count);
        return posts;
      },
      { timeoutMs: RUN_TIMEOUT_MS },
    );
  }

  /** The log's record of a run, once it satisfies the check. */
  async log(id: string, check: (run: WorkflowRunLog) => void = () => {}): Promise<WorkflowRunLog> {
    return eventually(
      async () => {
        const { runs } = await this.client.logs({ filter: { workflowRunId: id } });
        expect(runs.length, `records of ${id}`).to.equal(1);
        const [run] = runs as [WorkflowRunLog];
        check(run);
        return run;
      },
      { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 },
    );
  }

  /** The log's record, once it shows the state. @throws when the run has come to another end */
  async logOf(id: string, state: WorkflowRunLog['workflowState']): Promise<WorkflowRunLog> {
    const run = await this.log(id, ({ workflowState }) => {
      const isSettled = workflowState === state || workflowState !== 'RUN_STARTED';
      expect(isSettled, `${id} is ${workflowState}, sent ${this.toldOf(id)}`).to.equal(true);
    });
    expect(run.workflowState, `${id}, sent ${this.toldOf(id)}`).to.equal(state);
    return run;
  }

  /** For messages of failed expectations. */
  toldOf(id: string): string {
    return JSON.stringify(
      this.posts(id).map(({ path, status, answer }) => `${path} ${status} ${answer?.slice(0, 300)}`),
    );
  }

  /** The function runs once without effects before each step; only what it truly returns counts. */
  #watched(flow: Flow): Flow {
    return async (context) => {
      const result = await flow(context);
      this.#results.set(context.workflowRunId, result);
      return result;
    };
  }
}

let shared: Promise<WorkflowStand> | undefined;

/** One for all test files that need nothing of their own: they name their workflows, events and keys apart. */
export function sharedStand(): Promise<WorkflowStand> {
  shared ??= WorkflowStand.start().then(async (stand) => {
    // A file that ends every process ends this one too; its servers would keep the tests' process alive.
    void stand.queue.millrace.exited.then(() => {
      shared = undefined;
      return stand.stop();
    });
    await stand.startSchedule();
    return stand;
  });
  return shared;
}

after('what is shared ends with the last file', async () => {
  if (shared !== undefined) await (await shared).stop();
  await endEverything();
});

/** For good: what is still under way when a test has failed goes on printing. */
export function muteClient(): void {
  if (isMuted) return;
  isMuted = true;
  const { error, warn } = console;
  const unlessOfTheClient =
    (print: typeof console.error) =>
    (first: unknown, ...rest: unknown[]) => {
      if (!OF_THE_CLIENT.test(String(first))) print(first, ...rest);
    };
  Object.assign(console, { error: unlessOfTheClient(error), warn: unlessOfTheClient(warn) });
}
