/**
 * One process with several tenants: one that works steadily, and others that attack with ordinary credentials. A process
 * that an attack has ended is started again, on its data, for the next one.
 *
 *  ATK1 each tenant has an account, a database and tokens of its own, made as an operator makes them
 *  ATK2 the steady tenant works before, during and after every attack; what it was refused is kept
 *  ATK3 names are asked of a name server that never answers
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  type RunResult,
  runMillrace,
  signalPid,
  startMillrace,
} from '../millrace-process.js';
import { NameServer } from '../name-server.js';
import { residentMib } from '../process-memory.js';
import { QueueSink } from '../queue-sink.js';
import { SteadyTenant } from './steady-tenant.js';

/** As in infra/Dockerfile, and in the Makefile. */
const ALLOCATOR: Environment = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
const OPERATOR = { email: 'operator@tests.example', key: 'mrk_operator-of-the-tests-0123456789' };

/** How a process is started. */
export interface Surroundings {
  /** Empty: as `make run` does where nobody says anything. */
  readonly heapMb: string;
  /** Of what is resident at any time. */
  readonly peakMib: number;
}
/** The container has as much, without what the nats-server needs. */
export const OF_THE_IMAGE: Surroundings = { heapMb: '512', peakMib: 1000 };
/** As much beside the heap. */
export const OF_MAKE_RUN: Surroundings = { heapMb: '', peakMib: 1500 };
const COLLECTOR = fileURLToPath(new URL('../collect-on-signal.js', import.meta.url));

export interface Memory {
  /** What it cannot let go of, within its heap and beyond it. */
  readonly heldMib: number;
  readonly residentMib: number;
}

export interface Tenant {
  readonly email: string;
  readonly mgmtKey: string;
  readonly queueToken: string;
  readonly databaseId: string;
  readonly restToken: string;
  readonly readOnlyToken: string;
  readonly password: string;
}

export class AttackStand {
  /** Of the first account. */
  readonly operator = OPERATOR;
  readonly attackers: Tenant[] = [];
  steady!: SteadyTenant;
  #hasEnded = false;

  private constructor(
    public millrace: MillraceProcess,
    private readonly env: Environment,
    readonly sink: QueueSink,
    private readonly names: NameServer,
  ) {
    this.#watch();
  }

  static async start({ heapMb }: Surroundings, attackers: number): Promise<AttackStand> {
    const names = await NameServer.listening(() => undefined);
    const env: Environment = {
      NODE_OPTIONS: `--import ${COLLECTOR}`,
      ...ALLOCATOR,
      MILLRACE_HEAP_MB: heapMb,
      MILLRACE_DELIVERY_NAME_SERVERS: `127.0.0.1:${names.port}`,
      MILLRACE_QUEUE_PORT: String(await freePort()),
      MILLRACE_MGMT_PORT: String(await freePort()),
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_METRICS_PORT: String(await freePort()),
      MILLRACE_KV_PORT: String(await freePort()),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_MGMT_EMAIL: OPERATOR.email,
      MILLRACE_MGMT_KEY: OPERATOR.key,
    };
    const stand = new AttackStand(await startMillrace({ env }), env, await QueueSink.listening(), names);
    for (let at = 0; at < attackers; at += 1) stand.attackers.push(await stand.#tenant(`attacker-${at}`));
    // The first script of a database loads what it stands on for good: that is not what an attack leaves behind.
    for (const { restToken } of stand.attackers) {
      const headers = { authorization: `Bearer ${restToken}` };
      await fetch(stand.addresses.kv as string, { method: 'POST', headers, body: '["EVAL","return 1","0"]' });
    }
    stand.steady = new SteadyTenant(await stand.#tenant('steady'), stand.addresses, stand.sink.url('/steady'));
    return stand;
  }

  /** The same through every restart. */
  get addresses(): MillraceProcess['addresses'] {
    return this.millrace.addresses;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** On its data and its ports. */
  async startAgain(): Promise<void> {
    const { dataDir } = this.millrace;
    await this.millrace.kill();
    this.millrace = await startMillrace({ env: this.env, dataDir });
    this.#hasEnded = false;
    this.#watch();
  }

  log(): string {
    return this.millrace.stderr();
  }

  /** How it ended, in its own last words. */
  lastWords(): string {
    return this.log().split('\n').slice(-12).join('\n');
  }

  /** Of the command line, beside the process. @throws with what it said when it fails */
  async command(...args: readonly string[]): Promise<RunResult> {
    const environment = await embeddedEnvironment(this.millrace.dataDir);
    const result = await runMillrace(args, environment, { timeoutMs: 60_000 });
    if (result.code !== 0) throw new Error(`${args.join(' ')}: ${result.code} ${result.stdout}${result.stderr}`);
    return result;
  }

  /** After a collection. */
  async memory(): Promise<Memory> {
    signalPid(this.millrace.pid, 'SIGUSR2');
    const text = await (await fetch(`${this.addresses.metrics}/metrics`)).text();
    const mib = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 1024 / 1024;
    return {
      heldMib: mib('nodejs_heap_size_used_bytes') + mib('nodejs_external_memory_bytes'),
      residentMib: await residentMib(this.millrace.pid),
    };
  }

  /** The most that was resident since it was asked last, in MiB; undefined when the process is gone. */
  async peakMib(): Promise<number | undefined> {
    const { pid } = this.millrace;
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    if (peak === undefined) return undefined;
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    return Math.round(Number(peak) / 1024);
  }

  async stop(): Promise<void> {
    this.steady?.stop();
    await this.sink.close();
    await this.names.close();
    await endEverything();
  }

  #watch(): void {
    const { millrace } = this;
    void millrace.exited.then(() => {
      if (millrace === this.millrace) this.#hasEnded = true;
    });
  }

  async #tenant(name: string): Promise<Tenant> {
    const email = `${name}@tests.example`;
    const created = await this.command('account', 'create', '--name', name, '--email', email);
    const printed = (label: string): string => {
      const value = new RegExp(`^${label}=(\\S+)$`, 'm').exec(created.stdout.toString())?.[1];
      if (value === undefined) throw new Error(`no ${label}: ${created.stdout}${created.stderr}`);
      return value;
    };
    const mgmtKey = printed('mgmt-key');
    const answer = await eventually(async () => {
      const response = await fetch(`${this.addresses.mgmt}/v2/kv/database`, {
        method: 'POST',
        headers: { authorization: basic(email, mgmtKey), 'content-type': 'application/json' },
        body: JSON.stringify({ database_name: name, region: 'global', primary_region: 'us-east-1', plan: 'payg' }),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return JSON.parse(text) as Record<'database_id' | 'rest_token' | 'read_only_rest_token' | 'password', string>;
    });
    return {
      email,
      mgmtKey,
      queueToken: printed('queue-token'),
      databaseId: answer.database_id,
      restToken: answer.rest_token,
      readOnlyToken: answer.read_only_rest_token,
      password: answer.password,
    };
  }
}

export function basic(email: string, key: string): string {
  return `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
}
