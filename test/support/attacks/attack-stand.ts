/**
 * A Millrace process with several tenants: one works steadily, and the others attack with ordinary credentials. If an
 * attack ends the process, it is restarted on the same data before the next attack.
 *
 *  ATK1 each tenant has its own account, database and tokens, created by the commands that an operator uses
 *  ATK2 the steady tenant works before, during and after every attack; its failed requests are recorded
 *  ATK3 host names are resolved by a name server that never answers
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
  temporaryDirectory,
} from '../millrace-process.js';
import { NameServer } from '../name-server.js';
import { residentMib } from '../process-memory.js';
import { QueueSink } from '../queue-sink.js';
import { SteadyTenant } from './steady-tenant.js';

/** The allocator settings of infra/Dockerfile and of the Makefile. */
const ALLOCATOR: Environment = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
const OPERATOR = { email: 'operator@tests.example', key: 'mrk_operator-of-the-tests-0123456789' };

/** The memory settings of the process under attack. */
export interface MemorySettings {
  /** An empty value gives the default heap size of `make run`. */
  readonly heapMb: string;
  /** The bound of the peak resident memory. */
  readonly peakMib: number;
}
/** The limits of the container image, minus the memory of the nats-server. */
export const OF_THE_IMAGE: MemorySettings = { heapMb: '512', peakMib: 1000 };
/** The limits of `make run`: a larger heap, and the same memory outside of the heap. */
export const OF_MAKE_RUN: MemorySettings = { heapMb: '', peakMib: 1500 };
const COLLECTOR = fileURLToPath(new URL('../collect-on-signal.js', import.meta.url));

export interface Memory {
  /** Memory that is still in use after a garbage collection: heap and external memory. */
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
  /** Credentials of the first account. */
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

  static async start({ heapMb }: MemorySettings, attackers: number): Promise<AttackStand> {
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
    // The first script of a database loads the script engine permanently. That memory must not count as memory that
    // an attack has left in use.
    for (const { restToken } of stand.attackers) {
      const headers = { authorization: `Bearer ${restToken}` };
      await fetch(stand.addresses.kv as string, { method: 'POST', headers, body: '["EVAL","return 1","0"]' });
    }
    const { addresses, sink } = stand;
    const tenant = await stand.#tenant('steady');
    stand.steady = new SteadyTenant(tenant, addresses, sink.url('/steady'), await temporaryDirectory());
    return stand;
  }

  /** The addresses do not change when the process restarts. */
  get addresses(): MillraceProcess['addresses'] {
    return this.millrace.addresses;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Restarts the process with the same data and ports. */
  async restart(): Promise<void> {
    const { dataDir } = this.millrace;
    await this.millrace.kill();
    this.millrace = await startMillrace({ env: this.env, dataDir });
    this.#hasEnded = false;
    this.#watch();
  }

  log(): string {
    return this.millrace.stderr();
  }

  /** The last lines of the process's log, which show why it ended. */
  logTail(): string {
    return this.log().split('\n').slice(-12).join('\n');
  }

  /** Runs a command of the command line while the process runs. @throws with the output of a failed command */
  async command(...args: readonly string[]): Promise<RunResult> {
    const environment = await embeddedEnvironment(this.millrace.dataDir);
    const result = await runMillrace(args, environment, { timeoutMs: 60_000 });
    if (result.code !== 0) throw new Error(`${args.join(' ')}: ${result.code} ${result.stdout}${result.stderr}`);
    return result;
  }

  /** Memory in use after a forced garbage collection. */
  async memory(): Promise<Memory> {
    signalPid(this.millrace.pid, 'SIGUSR2');
    const text = await (await fetch(`${this.addresses.metrics}/metrics`)).text();
    const mib = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 1024 / 1024;
    return {
      heldMib: mib('nodejs_heap_size_used_bytes') + mib('nodejs_external_memory_bytes'),
      residentMib: await residentMib(this.millrace.pid),
    };
  }

  /** Peak resident memory since the previous call, in MiB; undefined if the process has ended. */
  async peakMib(): Promise<number | undefined> {
    const { pid } = this.millrace;
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    if (peak === undefined) return undefined;
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    return Math.round(Number(peak) / 1024);
  }

  async stop(): Promise<void> {
    await this.steady?.stop();
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
