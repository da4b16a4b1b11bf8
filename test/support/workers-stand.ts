/** An installation with two workers, and published clients of its ports. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@upstash/qstash';
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { Redis as IoRedis } from 'ioredis';
import { commandOf } from '../../src/adapters/nats/embedded/process-identity.js';
import { credentialsIn, type PrintedCredentials } from './db-output-reader.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { WIRE_ALIAS } from './millrace-clients.js';
import {
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  PASSWORD,
  runMillrace,
  signalPid,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from './millrace-process.js';
import { QUEUE_TOKEN } from './queue-process.js';

export const THIS_PROGRAM = `await import(${JSON.stringify(new URL('../../src/cli/main.js', import.meta.url))});`;

const SIGNALS = { kill: 'SIGKILL', freeze: 'SIGSTOP', end: 'SIGTERM' } as const;

export type WorkerFault = keyof typeof SIGNALS;

export class WorkersStand {
  installation!: MillraceProcess;
  rest!: Redis;
  native!: IoRedis;
  queue!: Client;

  private constructor(
    readonly environment: Record<string, string>,
    /** The main file of the program, which an upgrade replaces. */
    readonly program: string,
  ) {}

  /** @param more  settings of the stand, in place of its own */
  static async start(more: Readonly<Record<string, string>> = {}): Promise<WorkersStand> {
    // One after another, in the order in which ports are given.
    const workerPorts = [await freePort(), await freePort()];
    const environment = {
      ...(await embeddedEnvironment(await temporaryDirectory())),
      ...WIRE_ALIAS,
      MILLRACE_WORKERS: '2',
      // With few shards, one worker could own all of them.
      MILLRACE_KV_SHARDS: '12',
      MILLRACE_QUEUE_SHARDS: '2',
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_RESP_WORKER_PORT: String(Math.min(...workerPorts)),
      MILLRACE_QUEUE_PORT: String(await freePort()),
      MILLRACE_MGMT_PORT: String(await freePort()),
      MILLRACE_METRICS_PORT: String(await freePort()),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      // A long limit, because test machines are busy.
      MILLRACE_REQUEST_HOLD_MS: '30000',
      MILLRACE_SHUTDOWN_MS: '30000',
      ...more,
    };
    const stand = new WorkersStand(environment, join(await temporaryDirectory(), 'program.mjs'));
    await stand.serve();
    return stand;
  }

  /** Of databases and queues, and the control shard. */
  get shards(): number {
    const { MILLRACE_KV_SHARDS: databases, MILLRACE_QUEUE_SHARDS: queues } = this.environment;
    return Number(databases) + Number(queues) + 1;
  }

  async serve(): Promise<void> {
    const { environment: env, program } = this;
    await this.install(THIS_PROGRAM);
    this.installation = await startMillrace({ dataDir: env.MILLRACE_DATA_DIR as string, env, program });
    const { kv = '', resp = '', queue: baseUrl = '' } = this.installation.addresses;
    this.native?.disconnect();
    this.rest = new Redis({ url: kv, token: TOKEN });
    this.native = new IoRedis({ port: Number(new URL(resp).port), host: '127.0.0.1', password: PASSWORD });
    this.native.on('error', () => undefined);
    this.queue = new Client({ baseUrl, token: QUEUE_TOKEN });
  }

  /** Creates a database that both workers own partitions of. */
  async spreadDatabase(): Promise<PrintedCredentials> {
    const made = await runMillrace(['db', 'create', '--name', 'spread', '--partitions', '16'], this.environment);
    return credentialsIn(made.stdout.toString());
  }

  /** A client of each worker's port, which does not retry. */
  async clientsOfWorkers(password: string): Promise<IoRedis[]> {
    const first = Number(this.environment.MILLRACE_RESP_WORKER_PORT);
    const options = { host: '127.0.0.1', password, retryStrategy: () => null } as const;
    const clients = [first, first + 1].map((port) => new IoRedis({ port, ...options }));
    for (const client of clients) client.on('error', () => undefined);
    await Promise.all(clients.map((client) => client.ping()));
    return clients;
  }

  /** A worker is killed, frozen until the other one has its shards, or ended in order. */
  async strike(kind: WorkerFault, victim: number): Promise<void> {
    const within = { timeoutMs: 60_000, everyMs: 100 };
    signalPid(victim, SIGNALS[kind]);
    await this.ownAll();
    if (kind === 'freeze') signalPid(victim, 'SIGCONT');
    await eventually(async () => {
      const workers = await this.workers();
      expect(workers.length === 2 && workers.includes(victim)).to.equal(kind === 'freeze');
      expect(await this.metric(/^millrace_workers 2$/)).to.have.length(1);
    }, within);
  }

  /** Waits until both workers serve, and own all shards. */
  async serveWithBoth(): Promise<void> {
    const within = { timeoutMs: 60_000, everyMs: 100 };
    await eventually(async () => expect(await this.metric(/^millrace_workers 2$/)).to.have.length(1), within);
    await this.ownAll();
  }

  /** Waits until all shards have owners that answer. */
  async ownAll(): Promise<void> {
    const owned = /^millrace_shard_owned\{.* 1$/;
    await eventually(async () => expect(await this.metric(owned)).to.have.length(this.shards), {
      timeoutMs: 60_000,
      everyMs: 100,
    });
  }

  /** @param source the program of later workers; undefined for the tested one */
  install(source = THIS_PROGRAM): Promise<void> {
    return writeFile(this.program, source);
  }

  /** The process ids of the workers: children of the supervisor that run the same command. */
  async workers(): Promise<number[]> {
    const { pid } = this.installation;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
    const commands = await Promise.all(children.map(async (child) => [child, await commandOf(child)] as const));
    return commands.filter(([, command]) => command.includes('serve')).map(([child]) => child);
  }

  /** The matching lines of the metrics page. */
  async metric(pattern: RegExp): Promise<string[]> {
    const page = await (await fetch(`${this.installation.metricsUrl}/metrics`)).text();
    return page.split('\n').filter((line) => pattern.test(line));
  }

  async end(): Promise<void> {
    this.native?.disconnect();
    await endEverything();
  }
}
