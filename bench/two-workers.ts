/** An installation with two workers, the owner of each database, and connections to a certain worker. */
import { databaseIdOfUuid, kvPartition, shardOf } from '../src/protocol/index.js';
import { freePort } from '../test/support/free-port.js';
import { until } from './child.js';
import { makeDatabases } from './cluster-databases.js';
import { Millrace, PASSWORD } from './millrace.js';
import { workersOf } from './processor-time.js';
import { RespLink } from './resp-link.js';

export type WorkerNumber = 1 | 2;

const SHARDS = 16;
const DATABASES = 32;
const SERVED_TIMEOUT_MS = 60_000;

export interface PlacedDatabase {
  readonly password: string;
  readonly shard: string;
}

export class TwoWorkers {
  readonly #pids = new Map<WorkerNumber, number>();
  /** The shards of the first worker. */
  #atStart: string | undefined;

  private constructor(
    private readonly millrace: Millrace,
    private readonly ports: Readonly<Record<WorkerNumber, number>>,
    private readonly metricsUrl: string,
    /** The first one is that of the first start, which has no limit of commands a second. */
    readonly databases: readonly PlacedDatabase[],
  ) {}

  static async start(): Promise<TwoWorkers> {
    // One after another, in the order in which ports are given.
    const [higher, lower, metrics] = [await freePort(), await freePort(), await freePort()];
    const millrace = await Millrace.create();
    const env = {
      MILLRACE_WORKERS: '2',
      MILLRACE_KV_SHARDS: `${SHARDS}`,
      MILLRACE_RESP_WORKER_PORT: `${lower}`,
      MILLRACE_METRICS_PORT: `${metrics}`,
      MILLRACE_SECRET_MIN_CHARACTERS: '1',
      // No shard moves because of the load.
      MILLRACE_PLACEMENT_LOAD_MS: '0',
    };
    try {
      await millrace.start({ isWatched: false, env });
      const [first] = (await millrace.manage('GET', '/v2/kv/databases')) as { database_id: string }[];
      const all = [{ id: first?.database_id ?? '', password: PASSWORD }, ...(await makeDatabases(millrace, DATABASES))];
      const databases = all.map(({ id, password }) => ({ password, shard: shardOfDatabase(id) }));
      const stand = new TwoWorkers(millrace, { 1: lower, 2: higher }, `http://127.0.0.1:${metrics}`, databases);
      await stand.bothServe();
      return stand;
    } catch (error) {
      await millrace.dispose();
      throw error;
    }
  }

  pidOf(worker: WorkerNumber): number {
    return this.#pids.get(worker) ?? 0;
  }

  portOf(worker: WorkerNumber): number {
    return this.ports[worker];
  }

  link(worker: WorkerNumber, { password }: PlacedDatabase): Promise<RespLink> {
    return RespLink.open(this.portOf(worker), password);
  }

  /** Databases whose owner is the worker, one for each of its shards. */
  async databasesOf(worker: WorkerNumber): Promise<readonly PlacedDatabase[]> {
    const owned = await this.#shardsOf(worker);
    const byShard = new Map(this.databases.map((database) => [database.shard, database]));
    return [...byShard.values()].filter(({ shard }) => owned.includes(shard));
  }

  /** Kills a worker with SIGKILL. */
  kill(worker: WorkerNumber): void {
    process.kill(this.pidOf(worker), 'SIGKILL');
  }

  /** Waits until both workers serve, each with the shards that it had at the start. */
  async bothServe(): Promise<void> {
    const isServed = async () => {
      const [one, two] = [await this.#shardsOf(1), await this.#shardsOf(2)];
      this.#atStart ??= one.length + two.length === SHARDS ? one.join() : undefined;
      return one.length + two.length === SHARDS && one.join() === this.#atStart;
    };
    await until(isServed, SERVED_TIMEOUT_MS, 'the start of both workers');
    const pids = await workersOf(this.millrace.pid);
    const fresh = pids.filter((pid) => ![...this.#pids.values()].includes(pid));
    for (const worker of [1, 2] as const) {
      if (!pids.includes(this.pidOf(worker))) this.#pids.set(worker, fresh.shift() ?? 0);
    }
  }

  dispose(): Promise<void> {
    return this.millrace.dispose();
  }

  /** The shards of databases that a worker serves. */
  async #shardsOf(worker: WorkerNumber): Promise<readonly string[]> {
    const page = await (await fetch(`${this.metricsUrl}/metrics`)).text();
    const owned = page.matchAll(new RegExp(`^millrace_shard_owned\\{shard="(KV_\\d+)",worker="${worker}"\\} 1$`, 'gm'));
    return [...owned].map(([, shard = '']) => shard);
  }
}

function shardOfDatabase(uuid: string): string {
  const id = databaseIdOfUuid(uuid);
  if (id === undefined) throw new Error(`${uuid} is no id of a database`);
  return shardOf('kv', kvPartition(id, 0), SHARDS);
}
