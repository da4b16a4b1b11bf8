/**
 * The load of all fault tests. Four databases get registers, counters and lists with a recorded history, transactions
 * and subscriptions; two accounts get publishes of every kind and workflow runs. Clients start at different processes
 * and follow the balancer; one client of each kind connects through haproxy if the stand has it. Each call is logged,
 * and the complete history is checked at the end.
 */

import { eventually } from '../eventually.js';
import { HistoryRecorder } from '../history-recorder.js';
import { ConservationClient } from '../queue-conservation-client.js';
import { ConservationLoad } from '../queue-conservation-load.js';
import { ConservationRun } from '../queue-conservation-run.js';
import { HostileSinks } from '../queue-conservation-sinks.js';
import type { SeededRandom } from '../seeded-random.js';
import { TwoStepRuns } from '../two-step-runs.js';
import { BalancedClient } from './balanced-client.js';
import type { Entrance } from './balancer.js';
import type { ClusterStand, LoadAccount, LoadDatabase } from './cluster-stand.js';
import { Front } from './front.js';
import { News } from './news.js';
import { OutcomeLog } from './outcomes.js';
import { Pairs } from './pairs.js';
import { repeat } from './repeat.js';

/** The number of clients of a kind, one for each process. */
const HOMES = 3;
const KEYS = 3;
/** The pause between two calls of a client, so that two CPUs are enough for seven servers. */
const PACE_MS = 40;
const PAIR_PACE_MS = 60;
/** Publishes have longer pauses, because each causes several replicated writes and a delivery. */
const PUBLISH_SLOWNESS = 6;
const NEWS_PACE_MS = 100;
/** The pause between two runs, each of which needs four deliveries. */
const RUN_PACE_MS = 1000;
/** Retries of a run, enough to continue through any fault. */
const RUN_SETTINGS = { retries: 20, retryDelay: '500' };
const READY = { timeoutMs: 60_000, everyMs: 100 };

interface DatabaseLoad {
  readonly recorder: HistoryRecorder;
  readonly clients: readonly BalancedClient[];
  readonly pairs: Pairs;
  readonly news: News;
}

interface AccountLoad {
  readonly account: LoadAccount;
  readonly run: ConservationRun;
  readonly workflows: TwoStepRuns;
}

export class ClusterLoad {
  readonly log = new OutcomeLog();
  readonly accounts: AccountLoad[] = [];
  readonly #databases: DatabaseLoad[] = [];
  #isStopping = false;
  #working: Promise<void>[] = [];

  private constructor(
    private readonly stand: ClusterStand,
    private readonly random: SeededRandom,
    private readonly front: Front,
    private readonly mayHearTwice: boolean,
  ) {}

  /** @param mayHearTwice  subscribers may receive a message twice, because a process of the previous version takes part */
  static async start(stand: ClusterStand, random: SeededRandom, mayHearTwice = false): Promise<ClusterLoad> {
    const load = new ClusterLoad(stand, random, await Front.listening(stand.balancer, 'queue'), mayHearTwice);
    for (const [at, database] of stand.databases.entries()) await load.#startDatabase(database, `load${at}:`);
    for (const account of stand.accounts) await load.#startAccount(account);
    return load;
  }

  /** Stops the load and waits for the answer of every open call. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#databases.map(({ recorder }) => recorder.stop()));
    await Promise.all(this.accounts.map(({ run }) => run.load.stop()));
    await Promise.all(this.#working);
  }

  close(): void {
    this.#isStopping = true;
    for (const { news, clients } of this.#databases) {
      news.close();
      for (const client of clients) client.close();
    }
    for (const { run, workflows } of this.accounts) {
      run.sinks.close();
      void workflows.close();
    }
    this.front.close();
  }

  /** Call this after `stop`. @returns one line for each violation */
  async violations(): Promise<string[]> {
    const found: string[] = [];
    for (const { recorder, pairs, news } of this.#databases) {
      for (const verdict of recorder.verdicts()) {
        if (verdict.kind !== 'linearizable') found.push(JSON.stringify(verdict));
      }
      found.push(...(await eventually(() => pairs.judge(), READY)), ...news.judge());
    }
    return found;
  }

  async #startDatabase(database: LoadDatabase, prefix: string): Promise<void> {
    const clients = this.#clients('kv', database, HOMES + 1);
    const [first, ...others] = clients as [BalancedClient, ...BalancedClient[]];
    await eventually(() => first.ask('SET', `${prefix}settled`, 'yes'), READY);
    const recorder = new HistoryRecorder(prefix, this.random, KEYS);
    const pairs = new Pairs(first, prefix);
    const number = this.#databases.length;
    const balancer = number === 0 ? this.#entrance : this.stand.balancer;
    const { log, mayHearTwice } = this;
    const news = new News({ balancer, log, database, publisher: first, home: number, mayHearTwice });
    this.#databases.push({ recorder, clients, pairs, news });
    recorder.start(others, PACE_MS);
    this.#repeat(() => pairs.step(), PAIR_PACE_MS);
    this.#repeat(() => news.step(), NEWS_PACE_MS);
  }

  async #startAccount(account: LoadAccount): Promise<void> {
    const { queueToken, signingKey, shard } = account;
    const sinks = await HostileSinks.start(signingKey, this.random);
    const owner = { token: queueToken, shard };
    const clients = this.#clients('queue', owner, HOMES).map((client) => new ConservationClient(client));
    const run = new ConservationRun(sinks, new ConservationLoad(clients, sinks, this.random, PUBLISH_SLOWNESS));
    const workflows = await TwoStepRuns.listening({
      baseUrl:
        (this.accounts.length === 0 ? this.stand.realBalancer?.process.addresses.queue : undefined) ?? this.front.url,
      token: queueToken,
      signingKeys: { current: signingKey, next: signingKey },
      ...RUN_SETTINGS,
    });
    this.accounts.push({ account, run, workflows });
    await eventually(() => run.load.prepare(), READY);
    run.load.start();
    // A run without an acknowledgement may have started; it is not waited for.
    this.#repeat(() => workflows.trigger().catch(() => undefined), RUN_PACE_MS);
  }

  #repeat(step: () => Promise<void>, paceMs: number): void {
    const isDone = (): boolean => this.#isStopping;
    this.#working.push(repeat(step, paceMs, isDone));
  }

  get #entrance(): Entrance {
    return this.stand.realBalancer ?? this.stand.balancer;
  }

  /** Returns `count` clients and one more, which connects through haproxy. */
  #clients(face: 'kv' | 'queue', { token, shard }: { token: string; shard: string }, count: number): BalancedClient[] {
    return Array.from({ length: count + 1 }, (_, home) => {
      const balancer = home === count ? this.#entrance : this.stand.balancer;
      return new BalancedClient({ balancer, log: this.log, face, token, shard, home });
    });
  }
}
