/**
 * A nats-server for a test with a free loopback port and a temporary store, stopped and removed at the end. The
 * binary is MILLRACE_NATS_SERVER, else the newest in .tools/, else `nats-server` on the PATH.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

export interface NatsServerOptions {
  /** Syncs every write to disk before it is acknowledged. */
  readonly syncAlways?: boolean;
  readonly user?: string;
  readonly password?: string;
  /** Adds a system account whose user is `sys` with this password; needs `user` and `password`. */
  readonly systemPassword?: string;
  /** Additional lines of the configuration, such as authentication or TLS. */
  readonly config?: string;
  readonly binary?: string;
  /** The directory of the store; a temporary one by default. */
  readonly storeDir?: string;
}

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  /** Freezes the server with open connections (SIGSTOP); resolves when all its threads are stopped. */
  pause(): Promise<void>;
  resume(): void;
  signal(signal: NodeJS.Signals): void;
  /** Kills the server with SIGKILL; the store is kept. */
  kill(): Promise<void>;
  /** Restarts the killed server with the same store and port, and possibly changed settings. */
  start(changed?: Pick<NatsServerOptions, 'syncAlways'>): Promise<void>;
  /** Stops the server and removes its store. */
  stop(): Promise<void>;
}

/** The limit of a start, because recovery of a large store on a busy machine takes time. */
const START_TIMEOUT_MS = 30_000;

export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-nats-'));
  const { storeDir = join(dir, 'store') } = options;
  const port = await freePort();
  const configFile = join(dir, 'server.conf');
  await writeFile(configFile, configOf(options, port, storeDir));
  let child: ChildProcess | undefined;
  const start: NatsServer['start'] = async (changed) => {
    if (changed !== undefined) await writeFile(configFile, configOf({ ...options, ...changed }, port, storeDir));
    child = spawn(options.binary ?? findNatsServer(), ['-c', configFile], { stdio: 'ignore' });
    const failed = new Promise<never>((_, reject) => {
      child?.once('error', (cause) => reject(new Error('no nats-server to run: set MILLRACE_NATS_SERVER', { cause })));
      child?.once('exit', (code) => reject(new Error(`nats-server ended with code ${code}`)));
    });
    failed.catch(() => {}); // later it is expected
    const ready = eventually(
      async () => {
        const greeting = await greetingOf(port);
        if (!greeting.includes('"jetstream":true')) throw new Error(`not ready: ${greeting}`);
      },
      { timeoutMs: START_TIMEOUT_MS },
    );
    await Promise.race([ready, failed]);
  };
  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
    const gone = new Promise((resolve) => dying.once('exit', resolve));
    dying.kill('SIGKILL');
    await gone;
  };
  try {
    await start();
  } catch (error) {
    await kill();
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDir,
    pause: async () => {
      const paused = child;
      paused?.kill('SIGSTOP');
      await eventually(() => expectStopped(paused?.pid ?? 0));
    },
    resume: () => void child?.kill('SIGCONT'),
    signal: (signal) => void child?.kill(signal),
    kill,
    start,
    stop: async () => {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export function findNatsServer(): string {
  const given = process.env.MILLRACE_NATS_SERVER;
  if (given !== undefined && given !== '') return given;
  const tools = join(process.cwd(), '.tools');
  const unpacked = existsSync(tools) ? readdirSync(tools).filter((name) => name.startsWith('nats-server')) : [];
  const newestFirst = unpacked.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  for (const name of newestFirst) {
    const binary = join(tools, name, 'nats-server');
    if (existsSync(binary)) return binary;
  }
  return 'nats-server';
}

/** The version that the binary reports, such as `2.15.1`. */
export function natsServerVersion(binary: string = findNatsServer()): string {
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  return /v(\d\S*)/.exec(stdout ?? '')?.[1] ?? '0.0.0';
}

function configOf(options: NatsServerOptions, port: number, store: string) {
  const { syncAlways, user, password, systemPassword, config = '' } = options;
  const sync = syncAlways === true ? 'sync_interval: always' : '';
  const app = `{ user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)} }`;
  const accounts =
    systemPassword === undefined
      ? `authorization ${app}`
      : `accounts {
           APP { jetstream: enabled, users: [ ${app} ] }
           SYS { users: [ { user: sys, password: ${JSON.stringify(systemPassword)} } ] }
         }
         system_account: SYS`;
  return `
    host: 127.0.0.1
    port: ${port}
    server_name: test
    jetstream { store_dir: ${JSON.stringify(store)}, ${sync} }
    ${user === undefined ? '' : accounts}
    ${config}
  `;
}

/**
 * Checks that all threads are stopped, because the signal reaches each thread with a delay, and a running thread may
 * still answer.
 */
function expectStopped(pid: number): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const state = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1').split(') ').at(-1)?.charAt(0);
    if (state !== 'T') throw new Error(`thread ${thread} of ${pid} is in state ${state}`);
  }
}

/** The server's first line, which shows whether JetStream is ready. */
function greetingOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ port, host: '127.0.0.1' });
    socket.setTimeout(1000, () => socket.destroy(new Error('the server does not greet')));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString('utf8'));
    });
    socket.once('error', reject);
  });
}
