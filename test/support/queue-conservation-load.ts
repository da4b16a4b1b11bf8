/**
 * The producer of a conservation test: one lane for each kind of publish, to destinations that fail. It runs in the
 * test process, which no fault kills, and records each publish before it is sent.
 */
import type { ConservationClient } from './queue-conservation-client.js';
import type { PublishRecord } from './queue-conservation-history.js';
import type { Behaviour, HostileSinks } from './queue-conservation-sinks.js';
import type { SeededRandom } from './seeded-random.js';

const LINE = 'line-of-one';
const LINES = 'line-of-three';
const LANES = 'two-lanes';
const GATE = 'gate';
export const PARALLELISM = { [LINE]: 1, [LINES]: 3, [LANES]: 2 };
export const RATES = { [GATE]: { rate: 6, periodMs: 2000 } };

interface Lane {
  readonly name: string;
  readonly everyMs: number;
  readonly to: readonly Behaviour[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly queue?: string;
  readonly flow?: string;
  readonly maxRetries?: number;
  /** The number of publishes with callbacks, out of ten. */
  readonly callbacks?: number;
  readonly isFar?: boolean;
  readonly isCancelled?: boolean;
}

/** The time limit of a delivery: hanging destinations exceed it, others answer much faster. */
const TIMEOUT = '2s';

const LANES_OF_THE_LOAD: readonly Lane[] = [
  { name: 'plain', everyMs: 40, to: ['ok', 'ok', 'slow', 'flaky', 'lie', 'die', 'dead', 'gone'], callbacks: 3 },
  { name: 'stuck', everyMs: 250, to: ['hang', 'drip'] },
  { name: 'first in, first out', everyMs: 250, to: ['ok', 'ok', 'slow', 'flaky', 'dead'], queue: LINE, callbacks: 5 },
  { name: 'three at once', everyMs: 80, to: ['ok', 'slow', 'flaky', 'die'], queue: LINES, callbacks: 2 },
  {
    name: 'two lanes',
    everyMs: 80,
    to: ['slow', 'slow', 'flaky'],
    flow: LANES,
    headers: { 'svc-flow-control-value': 'parallelism=2' },
  },
  {
    name: 'gate',
    everyMs: 270,
    to: ['ok', 'ok', 'ok', 'flaky'],
    flow: GATE,
    headers: { 'svc-flow-control-value': 'rate=6, period=2s' },
  },
  { name: 'delayed', everyMs: 150, to: ['ok', 'flaky'], headers: { 'svc-delay': '2s' } },
  { name: 'tomorrow', everyMs: 1000, to: ['ok'], headers: { 'svc-delay': '1d' }, isFar: true },
  { name: 'called off', everyMs: 120, to: ['ok', 'slow'], headers: { 'svc-delay': '1s' }, isCancelled: true },
];

const DEFAULT_RETRIES = 3;
/** The pause after a failed call, because the server is probably down. */
const PAUSE_AFTER_FAILURE_MS = 50;
const MAX_CANCEL_AFTER_MS = 1500;

export class ConservationLoad {
  readonly publishes: PublishRecord[] = [];
  #isStopping = false;
  #working: Promise<unknown>[] = [];

  /**
   * @param clients a lane moves to the next client after a call without an answer
   * @param slowness factor by which the pauses between publishes are longer
   */
  constructor(
    private readonly clients: readonly ConservationClient[],
    private readonly sinks: HostileSinks,
    private readonly random: SeededRandom,
    private readonly slowness = 1,
  ) {}

  /** Creates the queues with their own parallelism. */
  async prepare(): Promise<void> {
    const [client] = this.clients as [ConservationClient];
    await client.ask('POST', '/v2/queues', { queueName: LINE, parallelism: PARALLELISM[LINE], paused: false });
    await client.ask('POST', '/v2/queues', { queueName: LINES, parallelism: PARALLELISM[LINES], paused: false });
  }

  start(): void {
    this.#working = LANES_OF_THE_LOAD.map((lane, index) => this.#work(lane, index));
  }

  /** Stops all lanes and waits for the answers of open calls. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#working);
    for (const client of this.clients) client.close();
  }

  get accepted(): number {
    return this.count('acked');
  }

  count(is: PublishRecord['is']): number {
    return this.publishes.filter((publish) => publish.is === is).length;
  }

  async #work(lane: Lane, index: number): Promise<void> {
    const cancelling: Promise<void>[] = [];
    let turn = index;
    while (!this.#isStopping) {
      const client = this.clients[turn % this.clients.length] as ConservationClient;
      const record = this.#intend(lane);
      await this.#publish(lane, record, client);
      if (lane.isCancelled === true && record.is === 'acked') cancelling.push(this.#cancelLater(record, client));
      if (record.is !== 'acked') turn += 1;
      await pause(record.is === 'acked' ? lane.everyMs * this.slowness : PAUSE_AFTER_FAILURE_MS);
    }
    await Promise.all(cancelling);
  }

  #intend({ maxRetries = DEFAULT_RETRIES, queue, flow, callbacks = 0, isFar = false }: Lane): PublishRecord {
    const record: PublishRecord = {
      number: this.publishes.length + 1,
      is: 'unknown',
      id: undefined,
      why: undefined,
      maxRetries,
      queue,
      flow,
      hasCallbacks: this.random.below(10) < callbacks,
      isFar,
      cancel: undefined,
    };
    this.publishes.push(record);
    return record;
  }

  async #publish({ to, queue, flow, headers }: Lane, record: PublishRecord, client: ConservationClient): Promise<void> {
    const url = this.sinks.url(this.random.pick(to));
    const callback = this.sinks.url('callback');
    const outcome = await client.publish(
      queue === undefined ? `/v2/publish/${url}` : `/v2/enqueue/${queue}/${url}`,
      JSON.stringify({ publish: record.number }),
      {
        'content-type': 'application/json',
        'svc-retries': String(record.maxRetries),
        'svc-retry-delay': '100 * (1 + retried)',
        'svc-timeout': TIMEOUT,
        ...(flow === undefined ? {} : { 'svc-flow-control-key': flow }),
        ...(record.hasCallbacks ? callbacksTo(callback) : {}),
        ...headers,
      },
    );
    if (outcome.kind === 'accepted') {
      record.is = 'acked';
      record.id = outcome.id;
    } else {
      record.is = outcome.kind;
      record.why = outcome.why;
    }
  }

  async #cancelLater(record: PublishRecord, client: ConservationClient): Promise<void> {
    await pause(this.random.below(MAX_CANCEL_AFTER_MS));
    record.cancel = await client.cancel(record.id as string);
  }
}

function callbacksTo(url: string): Record<string, string> {
  const delay = '100';
  return {
    'svc-callback': url,
    'svc-callback-retry-delay': delay,
    'svc-failure-callback': url,
    'svc-failure-callback-retry-delay': delay,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
