/**
 * A real process, an application with workflows of the published client, and clients that start and observe them.
 * Every delivery is verified by the published receiver with the account's keys.
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
  /** The return value of the function; undefined if it did not return. */
  readonly result: unknown;
}

/** Options of workflows that get unsigned requests from others than the server. */
export const UNSIGNED = { receiver: undefined } as unknown as FlowOptions;
/** The time limit of a run on a machine that is busy with other programs. */
export const RUN_TIMEOUT_MS = 60_000;
const ASK_EVERY_MS = 500;
/** The default is no retries; a test that needs retries sets them. */
const ONCE = { retries: 0 };
/** The pattern of lines that the published client prints for failures that tests cause. */
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
    silenceClient();
    const queue = await QueueProcess.start(env);
    const keys = (await queue.get('/v2/keys')).json as { current: string; next: string };
    return new WorkflowStand(queue, await WorkflowApp.listening(), keys);
  }

  /** The destinations of calls. */
  get sink(): QueueSink {
    return this.queue.sink;
  }

  /** Stops only its own process and servers, because a shared stand may be in use. */
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

  /**
   * Creates a schedule for each minute. Its first run starts within 60 seconds, and one of the last test files checks
   * it.
   */
  async startSchedule(): Promise<void> {
    const url = this.serve('scheduled', (context) => context.run('one', () => context.requestPayload));
    await this.queue.client.schedules.create({ destination: url, cron: '* * * * *', body: '"tick"' });
    this.scheduled = url;
  }

  /** A workflow that others of its group can invoke by name. */
  invokable(flow: Flow, options: FlowOptions = {}): Invokable {
    return createWorkflow<unknown, unknown>(this.#watched(flow), options);
  }

  /** Serves workflows that invoke each other. @returns their URLs */
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

  /** Waits until a started run has ended in any way. */
  async ended(id: string): Promise<EndedRun> {
    let answeredBefore = -1;
    let nextAtMs = 0;
    await eventually(
      async () => {
        // The answer contains the whole run, so it is read only after a request was answered, and at intervals.
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

  /** The requests of a run, earliest first. */
  posts(id: string): readonly Post[] {
    return this.app.posts.filter(({ headers }) => headers['upstash-workflow-runid'] === id);
  }

  /** Waits until a run has this number of requests. */
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

  /** Waits until the log record of a run passes the check. */
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

  /** Waits until the log record has the state. @throws if the run ends in another state */
  async logOf(id: string, state: WorkflowRunLog['workflowState']): Promise<WorkflowRunLog> {
    const run = await this.log(id, ({ workflowState }) => {
      const isSettled = workflowState === state || workflowState !== 'RUN_STARTED';
      expect(isSettled, `${id} is ${workflowState}, sent ${this.toldOf(id)}`).to.equal(true);
    });
    expect(run.workflowState, `${id}, sent ${this.toldOf(id)}`).to.equal(state);
    return run;
  }

  /** A description of the run for failed assertions. */
  toldOf(id: string): string {
    return JSON.stringify(
      this.posts(id).map(({ path, status, answer }) => `${path} ${status} ${answer?.slice(0, 300)}`),
    );
  }

  /** Records the function's result. The client runs the function again for each step, so only a real return counts. */
  #watched(flow: Flow): Flow {
    return async (context) => {
      const result = await flow(context);
      this.#results.set(context.workflowRunId, result);
      return result;
    };
  }
}

let shared: Promise<WorkflowStand> | undefined;

/** A stand shared by all test files without special needs; they use different names for workflows, events and keys. */
export function sharedStand(): Promise<WorkflowStand> {
  shared ??= WorkflowStand.start().then(async (stand) => {
    // A test file that ends every process also ends this one. The stand then stops its servers, which would keep the
    // test process alive.
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

/** Mutes the client permanently, because work that a failed test leaves running continues to print. */
export function silenceClient(): void {
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
