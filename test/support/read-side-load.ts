/**
 * A continuous load of publishes, runs, commands and documents on one edge, one lane for each kind. The load counts
 * acknowledged requests itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describeOutcome, KvClient } from './kv-client.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from './queue-process.js';
import type { QueueSink } from './queue-sink.js';
import { type SearchDatabase, searchCall } from './search-process.js';
import { TwoStepRuns } from './two-step-runs.js';

export interface ReadSideLoadParts {
  readonly queueUrl: string;
  readonly sink: QueueSink;
  readonly kv: KvClient;
  readonly search: SearchDatabase;
}

export interface Accepted {
  /** The ids of messages, by the success of their destination. */
  readonly ids: { readonly good: readonly string[]; readonly bad: readonly string[] };
  readonly messages: number;
  /** The ids of runs, each with two steps. */
  readonly runs: readonly string[];
  readonly commands: number;
  readonly documents: number;
}

/** The number of messages in a batch; every fifth goes to a failing destination. */
const BATCH = 5;
const COMMANDS = 20;
const DOCUMENTS = 3;
/** A pause that keeps the load small, so that a rebuild of its read models is quick. */
const PAUSE_MS = 25;
/** The pause between runs, each of which needs four deliveries. */
const RUN_PAUSE_MS = 200;

export class ReadSideLoad {
  readonly #good: string[] = [];
  readonly #bad: string[] = [];
  readonly #queue: KvClient;
  #commands = 0;
  #documents = 0;
  #isStopping = false;
  #working: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly parts: ReadSideLoadParts,
    private readonly runs: TwoStepRuns,
  ) {
    this.#queue = new KvClient({ url: parts.queueUrl, token: QUEUE_TOKEN });
    parts.sink.answer('/bad', { status: 500, body: 'no' });
  }

  static async over(parts: ReadSideLoadParts): Promise<ReadSideLoad> {
    const options = { baseUrl: parts.queueUrl, token: QUEUE_TOKEN, signingKeys: SIGNING_KEYS, retries: 0 };
    return new ReadSideLoad(parts, await TwoStepRuns.listening(options));
  }

  /** @throws while the queue is not ready; such a call has no effect */
  async prepare(): Promise<void> {
    const { status } = await this.#queue.raw('/v2/queues');
    if (status !== 200) throw new Error(`queues answer ${status}`);
    const info = await searchCall(this.parts.search, 'info');
    if (info.status !== 200) throw new Error(`the search index answers ${info.status}`);
  }

  start(): void {
    const lanes = [() => this.#publish(), () => this.#command(), () => this.#upsert()];
    const running = this.#repeat(() => this.runs.trigger(), RUN_PAUSE_MS);
    this.#working = Promise.all([running, ...lanes.map((lane) => this.#repeat(lane))]);
    // `stop` reports the error.
    this.#working.catch(() => {});
  }

  /** @throws if a request was not acknowledged, because the counts would then be unknown */
  async stop(): Promise<Accepted> {
    this.#isStopping = true;
    await this.#working;
    this.#queue.close();
    const [good, bad] = [this.#good, this.#bad];
    return {
      ids: { good, bad },
      messages: good.length + bad.length,
      runs: this.runs.acked,
      commands: this.#commands,
      documents: this.#documents,
    };
  }

  /** The number of accepted messages so far. */
  get count(): number {
    return this.#good.length + this.#bad.length;
  }

  /** Closes the endpoint; runs continue until then. */
  close(): Promise<void> {
    return this.runs.close();
  }

  async #repeat(lane: () => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
    while (!this.#isStopping) {
      await lane();
      await pause(pauseMs);
    }
  }

  async #publish(): Promise<void> {
    const { sink } = this.parts;
    const items = Array.from({ length: BATCH }, (_, at) => ({
      destination: sink.url(at === 0 ? '/bad' : '/good'),
      headers: { 'Svc-Retries': '0' },
      body: 'hello',
    }));
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await this.#queue.raw('/v2/batch', {
      method: 'POST',
      headers,
      body: JSON.stringify(items),
    });
    const text = body.toString('utf8');
    if (status !== 200) throw new Error(`a batch is answered ${status} ${text}`);
    const [bad, ...good] = (JSON.parse(text) as { messageId: string }[]).map(({ messageId }) => messageId);
    this.#bad.push(bad as string);
    this.#good.push(...good);
  }

  async #command(): Promise<void> {
    const words = Array.from({ length: COMMANDS }, (_, at) => [at % 2 === 0 ? 'INCR' : 'GET', `counter-${at >> 1}`]);
    const outcome = await this.parts.kv.pipeline(words);
    if (outcome.kind !== 'done') throw new Error(`a pipeline ended: ${describeOutcome(outcome)}`);
    this.#commands += COMMANDS;
  }

  async #upsert(): Promise<void> {
    const documents = Array.from({ length: DOCUMENTS }, (_, at) => {
      const number = this.#documents + at;
      return { id: `d${number}`, content: { text: `document ${number}: word${number % 10} of number ${number % 37}` } };
    });
    const { status, body } = await searchCall(this.parts.search, 'upsert-data/notes', documents);
    if (status !== 200) throw new Error(`an upsert is answered ${status} ${JSON.stringify(body)}`);
    this.#documents += DOCUMENTS;
  }
}
