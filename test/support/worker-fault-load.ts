/**
 * The load of faults of workers: registers, counters and lists with a recorded history; a ledger of publishes of every
 * kind, to destinations that fail, with queues of parallelism 1; and workflow runs.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { repeat } from './cluster-load/repeat.js';
import { eventually } from './eventually.js';
import { openJournalReader } from './journal-reader.js';
import { ConservationClient } from './queue-conservation-client.js';
import type { FaultRecord } from './queue-conservation-history.js';
import { ConservationLoad } from './queue-conservation-load.js';
import { ConservationRun } from './queue-conservation-run.js';
import { HostileSinks, NOWHERE } from './queue-conservation-sinks.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from './queue-process.js';
import { ReadSide } from './read-side.js';
import { seededRandom } from './seeded-random.js';
import { TwoStepRuns } from './two-step-runs.js';
import { WorkerLoad } from './worker-load.js';
import type { WorkersStand } from './workers-stand.js';

/** Longer pauses between publishes, because two workers share two processors with the test. */
const SLOWNESS = 2;
const RUN_PACE_MS = 500;
/** Enough retries of a run to continue through any fault. */
const RUN_SETTINGS = { retries: 20, retryDelay: '500' };
const ENDED_WITHIN = { timeoutMs: 60_000, everyMs: 200 };

export class WorkerFaultLoad {
  #isOver = false;
  #triggering = Promise.resolve();

  private constructor(
    private readonly stand: WorkersStand,
    private readonly registers: WorkerLoad,
    private readonly messages: ConservationRun,
    private readonly workflows: TwoStepRuns,
  ) {}

  static async start(stand: WorkersStand, seed: number): Promise<WorkerFaultLoad> {
    const { kv: url = '', queue: baseUrl = '' } = stand.installation.addresses;
    const { token } = await stand.spreadDatabase();
    const random = seededRandom(seed);
    const sinks = await HostileSinks.start(SIGNING_KEYS.current, random);
    const clients = [1, 2].map(() => new ConservationClient(baseUrl));
    const messages = new ConservationRun(sinks, new ConservationLoad(clients, sinks, random, SLOWNESS));
    messages.everStarted.push(stand.installation);
    await eventually(() => messages.load.prepare());
    const options = { baseUrl, token: QUEUE_TOKEN, signingKeys: SIGNING_KEYS, ...RUN_SETTINGS };
    const workflows = await TwoStepRuns.listening(options);
    const load = new WorkerFaultLoad(stand, new WorkerLoad({ url, token }, random), messages, workflows);
    messages.load.start();
    // A run without an acknowledgement may have started; it is not waited for.
    const trigger = () => workflows.trigger().catch(() => undefined);
    load.#triggering = repeat(trigger, RUN_PACE_MS, () => load.#isOver);
    return load;
  }

  /** Records a fault that `strike` causes. Resolves when messages are accepted and delivered again. */
  during(fault: FaultRecord['what'], strike: () => Promise<void>): Promise<void> {
    return this.messages.fault(fault, NOWHERE, strike);
  }

  /** @throws if an acknowledged effect is missing, happened twice or in another order, or a history is not linearizable */
  async judge(): Promise<void> {
    this.#isOver = true;
    await this.#triggering;
    expect(this.registers.recorded).to.be.greaterThan(0);
    expect(await this.registers.end()).to.deep.equal(['linearizable', 'linearizable', 'linearizable']);
    await this.#judgeMessages();
    await this.#judgeRuns();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.messages.load.stop();
    this.messages.sinks.close();
    await this.workflows.close();
  }

  async #judgeMessages(): Promise<void> {
    const { MILLRACE_DATA_DIR: dataDir = '' } = this.stand.environment;
    const { url, user, password } = JSON.parse(await readFile(join(dataDir, 'nats/client.json'), 'utf8'));
    const journal = await openJournalReader({ servers: [url], user, password });
    try {
      await this.messages.judge(new ConservationClient(this.#queueUrl), journal);
    } finally {
      await journal.close();
    }
  }

  /** Every run that was acknowledged succeeded. */
  async #judgeRuns(): Promise<void> {
    const { acked } = this.workflows;
    expect(acked.length, 'acknowledged runs').to.be.greaterThan(0);
    const endpoints = { queueUrl: this.#queueUrl, queueToken: QUEUE_TOKEN, mgmtUrl: '', email: '', key: '' };
    const shown = new ReadSide(endpoints);
    await eventually(async () => {
      const runs = await shown.list('/v2/workflows/logs', 'runs', 'count=50');
      const states = new Map(runs.map(({ workflowRunId, workflowState }) => [workflowRunId, workflowState]));
      const left = acked.filter((id) => states.get(id) !== 'RUN_SUCCESS').map((id) => `${id}: ${states.get(id)}`);
      expect(left, 'runs that did not succeed').to.deep.equal([]);
    }, ENDED_WITHIN);
    console.log(`      ${acked.length} runs, ${this.registers.recorded} operations`);
  }

  get #queueUrl(): string {
    return this.stand.installation.addresses.queue ?? '';
  }
}
