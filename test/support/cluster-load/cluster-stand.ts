/**
 * A cluster of three nats-servers with three replicas and fsync, and Millrace processes on fixed ports, which a
 * restart keeps. Process `c` connects to the nats-servers through proxies, which can cut it off.
 */
import {
  accountIdOfUuid,
  databaseIdOfUuid,
  kvPartition,
  queuePartition,
  shardOf,
} from '../../../src/protocol/index.js';
import { eventually } from '../eventually.js';
import { FakeTime } from '../fake-time.js';
import { freePort } from '../free-port.js';
import { basic } from '../management-endpoint.js';
import { WIRE_ALIAS } from '../millrace-clients.js';
import { logOf, MillraceCluster } from '../millrace-cluster.js';
import { type Environment, type MillraceProcess, startMillrace, temporaryDirectory } from '../millrace-process.js';
import { type NatsCluster, startNatsCluster } from '../nats-cluster.js';
import { NatsProxy } from '../nats-proxy.js';
import { findNatsServer } from '../nats-server.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from '../queue-process.js';
import { MGMT_EMAIL, MGMT_KEY, SEARCH_ENVIRONMENT } from '../search-process.js';
import { Balancer } from './balancer.js';
import { RealBalancer } from './real-balancer.js';

export const KV_SHARDS = 4;
const QUEUE_SHARDS = 2;
const DATABASES = 4;
/** Databases are created until there are four on four different shards; this is the maximum. */
const MAX_TRIES = 40;
/** The wait for a start, on a machine that is busy with other programs. */
const READY = { timeoutMs: 60_000, everyMs: 50 };

/** Empty settings, so that the default timeouts of the product apply. */
export const DEFAULT_TIMES: Environment = Object.fromEntries(
  ['SESSION_HEARTBEAT_MS', 'LEASE_RENEWAL_MS', 'READ_LEASE_MS', 'READ_LEASE_MARGIN_MS', 'TAKEOVER_SILENCE_MS']
    .concat('NATS_APPEND_TIMEOUT_MS')
    .map((name) => [`MILLRACE_${name}`, '']),
);

interface StandOptions {
  /** Also runs haproxy in front of the processes, if it is installed. */
  readonly hasRealBalancer?: boolean;
  /**
   * Prepares the stand for every fault: the clock of `b` can be changed, the servers can be partitioned, and one
   * server has its own disk.
   */
  readonly canSuffer?: boolean;
  /** The program that initialises and starts the cluster, if it is not this build. */
  readonly program?: string;
}

export interface LoadAccount {
  readonly email: string;
  readonly key: string;
  readonly queueToken: string;
  readonly signingKey: string;
  readonly shard: string;
  readonly id: Parameters<typeof queuePartition>[0];
}

export interface LoadDatabase {
  readonly token: string;
  readonly password: string;
  readonly shard: string;
}

/** The owner and epoch of each shard. */
export type Owners = ReadonlyMap<string, { readonly name: string; readonly epoch: number }>;

export class ClusterStand {
  readonly balancer = new Balancer();
  readonly processes = new Map<string, MillraceProcess>();
  /** All processes that were ever started; the logs of ended processes are read too. */
  readonly everStarted: { readonly name: string; readonly process: MillraceProcess }[] = [];
  readonly accounts: LoadAccount[] = [];
  readonly databases: LoadDatabase[] = [];
  readonly #environments = new Map<string, Environment>();
  #realBalancer: RealBalancer | undefined;

  private constructor(
    readonly nats: NatsCluster,
    readonly cluster: MillraceCluster,
    /** The proxies between process `c` and each nats-server. */
    readonly proxies: readonly NatsProxy[],
    /** The clock of process `b`, if faults can change it. */
    readonly clock: FakeTime | undefined,
  ) {}

  static async start(
    settings: Environment = {},
    { canSuffer = false, hasRealBalancer = false, program }: StandOptions = {},
  ): Promise<ClusterStand> {
    const clock = canSuffer ? await FakeTime.create() : undefined;
    const nats = await startNatsCluster(findNatsServer(), { canSuffer });
    const proxies = await Promise.all(nats.nodes.map(({ url }) => NatsProxy.start(Number(new URL(url).port))));
    const facts = { ...nats, url: nats.urls.join(',') };
    const prepared = {
      MILLRACE_KV_SHARDS: String(KV_SHARDS),
      MILLRACE_QUEUE_SHARDS: String(QUEUE_SHARDS),
      MILLRACE_REPLICAS: '3',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      ...WIRE_ALIAS,
      MILLRACE_WIRE_ALIAS_DELIVER: 'both',
      ...SEARCH_ENVIRONMENT,
      ...settings,
    };
    const cluster = await MillraceCluster.prepare(facts, prepared, program);
    const stand = new ClusterStand(nats, cluster, proxies, clock);
    const started = await Promise.all(['a', 'b', 'c'].map((name) => stand.startProcess(name, program)));
    if (hasRealBalancer) stand.#realBalancer = await RealBalancer.start(started);
    await stand.#makeTenants();
    return stand;
  }

  get realBalancer(): RealBalancer | undefined {
    return this.#realBalancer;
  }

  /** Starts a process, or restarts an ended one with its ports and directory. */
  async startProcess(name: string, program?: string): Promise<MillraceProcess> {
    const env = this.#environments.get(name) ?? (await this.#environmentOf(name));
    this.#environments.set(name, env);
    const started = await startMillrace({
      dataDir: env.MILLRACE_DATA_DIR as string,
      env,
      ...(program !== undefined && { program }),
    });
    this.processes.set(name, started);
    this.everStarted.push({ name, process: started });
    this.balancer.add(name, started);
    return started;
  }

  /** Resolves when the process has ended. The balancer detects the end by its health checks. */
  async endProcess(name: string, signal: NodeJS.Signals): Promise<void> {
    const ending = this.processes.get(name) as MillraceProcess;
    this.processes.delete(name);
    await ending.kill(signal);
  }

  /** Removes a process that will not restart. */
  forget(name: string): void {
    this.balancer.remove(name);
    this.#environments.delete(name);
  }

  /** The owners according to the processes' logs. */
  owners(): Owners {
    const owners = new Map<string, { name: string; epoch: number }>();
    for (const { name, process } of this.everStarted) {
      for (const { event, shard, epoch } of logOf(process)) {
        if (event !== 'shard.serving') continue;
        const known = owners.get(String(shard));
        if (known === undefined || Number(epoch) > known.epoch) {
          owners.set(String(shard), { name, epoch: Number(epoch) });
        }
      }
    }
    return owners;
  }

  async stop(): Promise<void> {
    this.balancer.close();
    this.#realBalancer?.close();
    await Promise.all([...this.processes.values()].map((each) => each.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.nats.stop();
  }

  async #environmentOf(name: string): Promise<Environment> {
    const ports = ['KV', 'QUEUE', 'MGMT', 'RESP', 'METRICS'];
    const settings: Record<string, string> = {};
    for (const port of ports) settings[`MILLRACE_${port}_PORT`] = String(await freePort());
    if (name === 'c') settings.MILLRACE_NATS_URL = this.proxies.map(({ url }) => url).join(',');
    // Destinations identify the calling process by its region; `c` has no region.
    if (name === 'a') settings.MILLRACE_REGION = 'EU-CENTRAL-1';
    if (name === 'b') settings.MILLRACE_REGION = 'US-EAST-1';
    const clock = name === 'b' ? this.clock?.env : {};
    return this.cluster.environment(await temporaryDirectory(), { ...settings, ...clock });
  }

  async #makeTenants(): Promise<void> {
    await this.#addAccount({
      email: MGMT_EMAIL,
      key: MGMT_KEY,
      queueToken: QUEUE_TOKEN,
      signingKey: SIGNING_KEYS.current,
    });
    const args = ['account', 'create', '--name', 'second', '--email', 'second@tests.example'];
    const printed = await eventually(async () => {
      const { code, stdout, stderr } = await this.cluster.run(args);
      if (code !== 0) throw new Error(stderr);
      return stdout.toString();
    }, READY);
    const of = (label: string): string => new RegExp(`^${label}=(\\S+)$`, 'm').exec(printed)?.[1] as string;
    const [key, queueToken, signingKey] = [of('mgmt-key'), of('queue-token'), of('signing-key-current')];
    await this.#addAccount({ email: 'second@tests.example', key, queueToken, signingKey });
    const taken = new Set<string>();
    for (let number = 0; this.databases.length < DATABASES; number += 1) {
      if (number >= MAX_TRIES) throw new Error(`no ${DATABASES} databases on shards of their own`);
      const made = await this.#makeDatabase(number);
      if (taken.has(made.shard)) continue;
      taken.add(made.shard);
      this.databases.push(made);
    }
  }

  async #addAccount(account: Omit<LoadAccount, 'id' | 'shard'>): Promise<void> {
    const { id } = (await this.#manage(account, 'GET', '/v2/msgq/user')) as { id: string };
    const accountId = accountIdOfUuid(id) as LoadAccount['id'];
    this.accounts.push({ ...account, id: accountId, shard: shardOf('queue', queuePartition(accountId), QUEUE_SHARDS) });
  }

  async #makeDatabase(number: number): Promise<LoadDatabase> {
    const account = this.accounts[number % this.accounts.length] as LoadAccount;
    const body = { database_name: `load-${number}`, region: 'global', primary_region: 'us-east-1', plan: 'payg' };
    const made = await this.#manage(account, 'POST', '/v2/kv/database', body);
    const { database_id, rest_token: token, password } = made as Record<string, string>;
    const partition = kvPartition(databaseIdOfUuid(database_id as string) as never, 0);
    return { token: token as string, password: password as string, shard: shardOf('kv', partition, KV_SHARDS) };
  }

  #manage({ email, key }: Pick<LoadAccount, 'email' | 'key'>, method: string, path: string, body?: object) {
    return eventually(async () => {
      const { addresses } = this.processes.get('a') as MillraceProcess;
      const response = await fetch(`${addresses.mgmt}${path}`, {
        method,
        headers: { authorization: basic(email, key), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as unknown;
    }, READY);
  }
}
