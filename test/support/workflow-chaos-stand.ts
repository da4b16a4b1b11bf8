/**
 * Runs programs with the unmodified published client against a real process: the endpoint, the third parties and
 * external clients, and the faults between them.
 */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client as QueueClient, Receiver } from '@upstash/qstash';
import { Client } from '@upstash/workflow';
import { serveMany } from '@upstash/workflow/nextjs';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import type { Environment } from './millrace-process.js';
import { QUEUE_TOKEN, QueueProcess, SIGNING_KEYS } from './queue-process.js';
import type { SeededRandom } from './seeded-random.js';
import { OutsideAgents } from './workflow-chaos-agents.js';
import { ChaosEndpoint } from './workflow-chaos-endpoint.js';
import { judgeRuns } from './workflow-chaos-judge.js';
import { judgeListed } from './workflow-chaos-listed.js';
import { CuttingProxy } from './workflow-chaos-proxy.js';
import { restartKilled, restartWithJournal } from './workflow-chaos-restart.js';
import { ThirdParty } from './workflow-chaos-third-party.js';
import { interpreter, PROGRAM_HEADER } from './workflow-interpreter.js';
import { WorkflowLedger } from './workflow-ledger.js';
import { expectedOf } from './workflow-model.js';
import { earlyEvents, type Program } from './workflow-programs.js';

export interface ChaosOptions {
  readonly random: SeededRandom;
  /** The share of answers that are dropped between the endpoint and the server, in each direction. */
  readonly losses?: number;
  readonly retryDelay: string;
  readonly patienceSeconds: number;
  readonly env?: Environment;
}

/** The time from just before a kill of the server or the endpoint until the next one is ready. */
export interface Fault {
  readonly fromMs: number;
  untilMs: number;
}

const ENVIRONMENT: Environment = {
  // A small limit, so that short lists are sent with a delivery and longer ones are fetched.
  MILLRACE_WORKFLOW_INLINE_BYTES: '2500',
  // Outdated permissions are accepted longer, because on a busy machine a refusal for them would use up retries.
  MILLRACE_CONTROL_STALE_MS: '60000',
};
const SETTLED_TIMEOUT_MS = 60_000;
const ASKED_AT_ONCE = 20;
const MAX_VIOLATIONS = 20;
/** The file with the history of the last failed run. */
const HISTORY_FILE = join(tmpdir(), 'millrace-workflow-model.json');

export class WorkflowChaosStand {
  readonly faults: Fault[] = [];
  readonly programs: Program[] = [];
  kills = 0;
  /** The ids of acknowledged runs, by program. */
  readonly started = new Map<string, string>();
  /** Programs with an unknown outcome of their start. */
  readonly unknown = new Set<string>();

  private constructor(
    readonly queue: QueueProcess,
    readonly proxy: CuttingProxy,
    readonly endpoint: ChaosEndpoint,
    readonly thirdParty: ThirdParty,
    readonly ledger: WorkflowLedger,
    readonly agents: OutsideAgents,
    private readonly client: Client,
    private readonly options: ChaosOptions,
    private readonly dice: { losses: number },
  ) {}

  /** From now on no answer is dropped. */
  stopLosingAnswers(): void {
    this.dice.losses = 0;
  }

  static async start(options: ChaosOptions): Promise<WorkflowChaosStand> {
    const { random, retryDelay, patienceSeconds } = options;
    const queue = await QueueProcess.start({ ...ENVIRONMENT, ...options.env });
    const dice = { losses: options.losses ?? 0 };
    const isLost = (): boolean => dice.losses > 0 && random.next() < dice.losses;
    const proxy = await CuttingProxy.start(queue.url, isLost);
    const ledger = new WorkflowLedger();
    const thirdParty = await ThirdParty.listening();
    const qstashClient = new QueueClient({ baseUrl: proxy.url, token: QUEUE_TOKEN });
    const receiver = new Receiver({ currentSigningKey: SIGNING_KEYS.current, nextSigningKey: SIGNING_KEYS.next });
    const program = interpreter({ ledger, thirdParty: thirdParty.url, patienceSeconds, retryDelay });
    const { POST } = serveMany({ program } as never, { qstashClient, receiver });
    const endpoint = await ChaosEndpoint.listening(POST, isLost);
    const agents = new OutsideAgents(
      proxy.url,
      QUEUE_TOKEN,
      () => random.next(),
      (runId, eventId) => ledger.endedWaits.has(`${runId} ${eventId}`),
    );
    ledger.watcher = agents;
    const client = new Client({ baseUrl: proxy.url, token: QUEUE_TOKEN });
    return new WorkflowChaosStand(queue, proxy, endpoint, thirdParty, ledger, agents, client, options, dice);
  }

  async stop(): Promise<void> {
    await this.agents.stop();
    await this.endpoint.stop();
    await this.proxy.close();
    await this.thirdParty.close();
    await this.queue.stop();
  }

  /** Starts a program and never throws: the outcome is in `started` or `unknown`. */
  async trigger(program: Program): Promise<void> {
    this.programs.push(program);
    const { id, retries } = program;
    const url = `${this.endpoint.url}/program`;
    const headers = { [PROGRAM_HEADER]: id };
    const settings = { retries, retryDelay: this.options.retryDelay };
    try {
      const { workflowRunId } = await this.client.trigger({
        url,
        body: program,
        headers,
        workflowRunId: id,
        ...settings,
      });
      this.started.set(id, workflowRunId);
      for (const eventId of earlyEvents(program)) this.agents.notifyEarly(workflowRunId, eventId);
    } catch {
      this.unknown.add(id);
      for (const eventId of earlyEvents(program)) this.agents.notifyEarly(`wfr_${id}`, eventId);
    }
  }

  /** Resumes failed runs at their failed step, or restarts them. @returns the new run ids, by the old ones */
  async redrive(how: 'resume' | 'restart', runIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const news = new Map<string, string>();
    for (const runId of runIds) {
      const { messages } = await this.client.dlq.list({ filter: { workflowRunId: runId } });
      const dlqId = messages[0]?.dlqId as string;
      const { workflowRunId } = await this.client.dlq[how]({ dlqId });
      news.set(runId, workflowRunId);
    }
    return news;
  }

  /** Kills the server, with its nats-server first if `stoppedMs` is given, and restarts it on its data. */
  killServer(stoppedMs?: number): Promise<void> {
    this.kills += 1;
    const { queue } = this;
    return this.#fault(() => (stoppedMs === undefined ? restartKilled(queue) : restartWithJournal(queue, stoppedMs)));
  }

  /** Stops the endpoint's HTTP server for this time. */
  stopEndpoint(ms: number): Promise<void> {
    return this.#fault(async () => {
      await this.endpoint.stop();
      await pause(ms);
      await this.endpoint.start();
    });
  }

  async #fault(strike: () => Promise<void>): Promise<void> {
    const fault: Fault = { fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    this.faults.push(fault);
    await strike();
    fault.untilMs = Date.now();
  }

  /** Waits until no known run is active and no request is in progress. */
  async settled(timeoutMs = SETTLED_TIMEOUT_MS): Promise<void> {
    let open = this.#knownRuns();
    await eventually(
      async () => {
        open = await this.#active(open);
        if (open.length === 0) open = await this.#active(this.#knownRuns());
        expect(open.slice(0, 5), `${open.length} runs are active`).to.deep.equal([]);
        expect(this.endpoint.posts.filter(({ done }) => done === undefined).length, 'requests at work').to.equal(0);
        const { json } = await this.queue.get('/v2/globalParallelism');
        expect((json as { parallelismCount: number }).parallelismCount, 'calls in flight').to.equal(0);
      },
      { timeoutMs, everyMs: 100 },
    ).catch(async (error: Error) => {
      await this.#keepHistory([error.message], open);
      throw error;
    });
  }

  /** The number of top-level programs that have ended, according to the endpoint. */
  get ended(): number {
    return [...this.started.keys()].filter((id) => this.ledger.over.has(id)).length;
  }

  /** Checks WCJ1 to WCJ8 (workflow-chaos-judge.ts) and the server's lists. @returns one line for each violation */
  async judge(programs: readonly Program[], isFaulty: boolean): Promise<string[]> {
    const expected = programs.map(expectedOf);
    const { ledger, unknown, faults, thirdParty } = this;
    const { posts } = this.endpoint;
    const { races } = this.agents;
    const history = { isFaulty, ledger, unknown, posts, faults, calls: thirdParty.calls, races };
    const violations = [...judgeRuns(expected, history), ...thirdParty.problems];
    const all = [...violations, ...(await judgeListed(expected, this.queue, ledger))];
    const violated = new Set(all.map((line) => line.split(' ', 1)[0] ?? ''));
    const runIds = [...violated].flatMap((id) => [...(ledger.runIds.get(id) ?? [])]);
    if (all.length > 0) await this.#keepHistory(all, runIds);
    return all.slice(0, MAX_VIOLATIONS);
  }

  /** @param runIds runs that are stored in detail */
  async #keepHistory(violations: readonly string[], runIds: readonly string[]): Promise<void> {
    const { ledger, faults, programs } = this;
    const logs: unknown[] = [];
    for (const runId of runIds) logs.push((await this.queue.get(`/v2/workflows/logs?workflowRunId=${runId}`)).json);
    const { posts } = this.endpoint;
    const { executions, failures } = ledger;
    const runs = [...ledger.runIds].map(([program, ids]) => [program, ...ids]);
    const history = { violations, faults, programs, runs, logs, failures, posts, executions };
    await writeFile(HISTORY_FILE, JSON.stringify(history));
    console.log(`      what happened is in ${HISTORY_FILE}`);
  }

  counts(): Readonly<Record<string, number>> {
    const { ledger, endpoint, proxy, started, unknown, thirdParty } = this;
    return {
      programs: started.size,
      unknown: unknown.size,
      runs: ledger.runIds.size,
      posts: endpoint.posts.length,
      fetched: endpoint.posts.filter(({ body }) => body === '').length,
      executions: ledger.executions.length,
      failures: ledger.failures.length,
      calls: [...thirdParty.calls.values()].flat().length,
      races: this.agents.races.size,
      hooks: this.agents.hooked,
      repeatedHooks: this.agents.repeatedHooks,
      kills: this.kills,
      faults: this.faults.length,
      cuts: proxy.cuts,
      lost: endpoint.posts.filter(({ isAnswered }) => !isAnswered).length,
    };
  }

  #knownRuns(): string[] {
    const ofUnknown = [...this.unknown].map((id) => `wfr_${id}`);
    const seen = [...this.ledger.runIds.values()].flatMap((ids) => [...ids]);
    return [...new Set([...this.started.values(), ...ofUnknown, ...seen])];
  }

  async #active(ids: readonly string[]): Promise<string[]> {
    const active: string[] = [];
    for (let from = 0; from < ids.length; from += ASKED_AT_ONCE) {
      const some = ids.slice(from, from + ASKED_AT_ONCE);
      const statuses = await Promise.all(
        some.map(async (id) => (await this.queue.get(`/v2/workflows/runs/${id}`)).status),
      );
      for (const [at, id] of some.entries()) if (statuses[at] !== 404) active.push(id);
    }
    return active;
  }
}
