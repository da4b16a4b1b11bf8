/** Several processes on one separate nats-server, with timeouts so short that tests can wait for a takeover. */
import { join } from 'node:path';
import type { NatsOptions } from '../../src/adapters/nats/index.js';
import { type JournalReader, openJournalReader } from './journal-reader.js';
import {
  type Environment,
  embeddedEnvironment,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from './millrace-process.js';
import { type NatsServer, startNatsServer } from './nats-server.js';

/**
 * A takeover after six missed heartbeats, as by default, and a shorter read lease. The times are long enough that a
 * process on a busy machine with two cores is not taken for dead.
 */
const TEST_TIMES: Environment = {
  // No pause before a stop; tests of that pause set it.
  MILLRACE_DRAIN_NOTICE_MS: '0',
  MILLRACE_SESSION_HEARTBEAT_MS: '200',
  MILLRACE_LEASE_RENEWAL_MS: '300',
  MILLRACE_READ_LEASE_MS: '800',
  MILLRACE_READ_LEASE_MARGIN_MS: '100',
  MILLRACE_TAKEOVER_SILENCE_MS: '1500',
  MILLRACE_NATS_APPEND_TIMEOUT_MS: '1000',
};
export const TAKEOVER_MS = Number(TEST_TIMES.MILLRACE_TAKEOVER_SILENCE_MS);

export interface NatsFacts {
  /** The URLs, separated by commas. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly sysUser: string;
  readonly sysPassword: string;
  stop(): Promise<void>;
}

/** Starts one nats-server that syncs each write before it acknowledges. */
export async function startPlainNats(): Promise<NatsFacts & Pick<NatsServer, 'port' | 'kill' | 'start'>> {
  const password = 'app-secret';
  const systemPassword = 'sys-secret';
  const server = await startNatsServer({ syncAlways: true, user: 'app', password, systemPassword });
  const { url, port, kill, start } = server;
  return {
    url,
    port,
    kill,
    start,
    user: 'app',
    password,
    sysUser: 'sys',
    sysPassword: systemPassword,
    stop: () => server.stop(),
  };
}

export class MillraceCluster {
  readonly processes: MillraceProcess[] = [];

  private constructor(
    private readonly nats: NatsFacts,
    private readonly sealKeyFile: string,
    private readonly settings: Environment,
  ) {}

  /** Prepares the nats-server by `millrace cluster init` of this build or of another program. */
  static async prepare(nats: NatsFacts, settings: Environment = {}, program?: string): Promise<MillraceCluster> {
    const dir = await temporaryDirectory();
    const cluster = new MillraceCluster(nats, join(dir, 'seal.key'), settings);
    const { code, stderr } = await runMillrace(['cluster', 'init'], await cluster.environment(dir), { program });
    if (code !== 0) throw new Error(`cluster init ended with ${code}: ${stderr}`);
    return cluster;
  }

  /** The environment of processes and commands of this installation. */
  async environment(dataDir: string, settings: Environment = {}): Promise<Environment> {
    const { MILLRACE_NATS_SERVER: _embedded, ...environment } = await embeddedEnvironment(dataDir);
    const { url, user, password, sysUser, sysPassword } = this.nats;
    return {
      ...environment,
      MILLRACE_NATS_URL: url,
      MILLRACE_NATS_USER: user,
      MILLRACE_NATS_PASSWORD: password,
      MILLRACE_NATS_SYS_USER: sysUser,
      MILLRACE_NATS_SYS_PASSWORD: sysPassword,
      MILLRACE_SEAL_KEY_FILE: this.sealKeyFile,
      // One shard, so that one process owns all data and tests know the owner.
      MILLRACE_KV_SHARDS: '1',
      MILLRACE_QUEUE_SHARDS: '1',
      ...TEST_TIMES,
      ...this.settings,
      ...settings,
    };
  }

  async start(settings: Environment = {}): Promise<MillraceProcess> {
    const dataDir = await temporaryDirectory();
    const started = await startMillrace({ dataDir, env: await this.environment(dataDir, settings) });
    this.processes.push(started);
    return started;
  }

  async run(args: readonly string[]): ReturnType<typeof runMillrace> {
    return runMillrace(args, await this.environment(await temporaryDirectory()));
  }

  natsOptions(): NatsOptions {
    const { url, user, password } = this.nats;
    return { servers: url.split(','), user, password };
  }

  reader(): Promise<JournalReader> {
    return openJournalReader(this.natsOptions());
  }
}

/** The process that serves the shard in the highest epoch according to its log. */
export function ownerOf(shard: string, processes: readonly MillraceProcess[]): MillraceProcess {
  let owner: MillraceProcess | undefined;
  let highest = 0;
  for (const candidate of processes) {
    const epoch = servingEpochOf(candidate, shard);
    if (epoch > highest) [owner, highest] = [candidate, epoch];
  }
  if (owner === undefined) throw new Error(`no process serves ${shard}`);
  return owner;
}

/** The highest epoch in which the process has served the shard; 0 if there is none. */
export function servingEpochOf(millrace: MillraceProcess, shard: string): number {
  const epochs = logOf(millrace)
    .filter(({ event, shard: of }) => event === 'shard.serving' && of === shard)
    .map(({ epoch }) => Number(epoch));
  return Math.max(0, ...epochs);
}

export function logOf(millrace: MillraceProcess): Record<string, unknown>[] {
  return millrace
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
