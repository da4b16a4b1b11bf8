/**
 * The product as an operator runs it: the compiled command line in a process of its own, with a data
 * directory of its own, which tests kill, freeze and start again.
 *
 *  MPR1 it gets the environment it is given and nothing else that begins with MILLRACE_
 *  MPR2 it dies with the test process (setpriv); `endEverything` ends what is left and removes the directories
 *  MPR3 only processes started here are ever signalled
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { identifyProcess, isSameProcess } from '../../src/adapters/nats/embedded/process-identity.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { KvClient } from './kv-client.js';
import { findNatsServer } from './nats-server.js';

/** Beside this file, so that a copy compiled elsewhere tests itself. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** Of a cold start on a machine that does much else; tests of speed measure themselves. */
const READY_TIMEOUT_MS = 120_000;
const KEPT_LINES = 5000;
/** What the Makefile gives where nothing is set. */
const MAKE_RUN_HEAP_MB = '1024';

export type Environment = Readonly<Record<string, string>>;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface MillraceProcess {
  readonly pid: number;
  readonly dataDir: string;
  /** From the ready line, by name. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly kvUrl: string;
  readonly metricsUrl: string;
  /** From the start of the process to its ready line. */
  readonly readyAfterMs: number;
  /** A client with the token that the process was given; closed with the process. */
  readonly kv: KvClient;
  /** Resolves when it is gone, for whatever reason. */
  readonly exited: Promise<Exit>;
  /** Of its embedded server. */
  natsPid(): Promise<number>;
  kill(signal?: NodeJS.Signals): Promise<Exit>;
  /** Resolves when no thread of it runs any more. */
  freeze(): Promise<void>;
  thaw(): void;
  /** The last lines it printed, the ready line among them. */
  stdout(): string;
  stderr(): string;
}

export interface StartOptions {
  /** Made, and removed at the end, when it is not given. */
  readonly dataDir?: string;
  readonly env?: Environment;
  readonly token?: string;
  /** The program's first file; that of this build when it is not given. */
  readonly program?: string;
}

export const TOKEN = 'token-of-the-tests-0123456789abcdef';
export const READONLY_TOKEN = 'readonly-of-the-tests-0123456789abcdef';
export const PASSWORD = 'password-of-the-tests-0123456789abcdef';

const running = new Set<ChildProcess>();
const clients = new Set<KvClient>();
const directories = new Set<string>();

export async function temporaryDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  directories.add(dir);
  return dir;
}

/** For the `after` hook of every suite that starts something here. */
export async function endEverything(): Promise<void> {
  for (const client of clients) client.close();
  clients.clear();
  const children = [...running];
  await Promise.all(children.map((child) => gone(child, 'SIGKILL')));
  for (const dir of directories) {
    await endServerOf(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
  directories.clear();
}

/** Settings of a process on its own embedded server. */
export async function embeddedEnvironment(dataDir: string): Promise<Environment> {
  const server = findNatsServer();
  return {
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_KV_PORT: String(await freePort()),
    MILLRACE_QUEUE_PORT: '0',
    MILLRACE_MGMT_PORT: '0',
    MILLRACE_RESP_PORT: '0',
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_KV_TOKEN: TOKEN,
    MILLRACE_KV_READONLY_TOKEN: READONLY_TOKEN,
    MILLRACE_KV_PASSWORD: PASSWORD,
    // Tests name their users' passwords after them.
    MILLRACE_SECRET_MIN_CHARACTERS: '1',
    MILLRACE_HEAP_MB: '256',
    ...(isAbsolute(resolve(server)) && server.includes('/') ? { MILLRACE_NATS_SERVER: resolve(server) } : {}),
  };
}

/** @throws with everything the process printed, when it ends before its ready line */
export async function startMillrace(options: StartOptions = {}): Promise<MillraceProcess> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const env = { ...(await embeddedEnvironment(dataDir)), ...options.env };
  const startedAt = performance.now();
  const child = spawnMain(['serve'], env, options.program);
  const output = { stdout: [] as string[], stderr: [] as string[] };
  const exited = new Promise<Exit>((done) => child.once('exit', (code, signal) => done({ code, signal })));
  // Streams end after the process does; until then some of what it said may be on its way.
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  keep(child, 'stderr', output.stderr);
  const ready = new Promise<string>((found) => {
    keep(child, 'stdout', output.stdout, (line) => line.startsWith('ready ') && found(line));
  });
  const told = (): string => `${output.stdout.join('\n')}\n${output.stderr.join('\n')}`;
  const line = await Promise.race([
    ready,
    exited.then(async ({ code, signal }) => {
      await closed;
      throw new Error(`millrace ended with ${code ?? signal} before it was ready:\n${told()}`);
    }),
    timeout(READY_TIMEOUT_MS).then(() => {
      throw new Error(`millrace was not ready after ${READY_TIMEOUT_MS} ms:\n${told()}`);
    }),
  ]).catch(async (error: unknown) => {
    await gone(child, 'SIGKILL');
    throw error;
  });
  const readyAfterMs = performance.now() - startedAt;
  const addresses = addressesOf(line);
  const kv = new KvClient({ url: addresses.kv ?? '', token: options.token ?? TOKEN });
  clients.add(kv);
  return {
    pid: child.pid!,
    dataDir,
    addresses,
    kvUrl: addresses.kv ?? '',
    metricsUrl: addresses.metrics ?? '',
    readyAfterMs,
    kv,
    exited,
    natsPid: async () => {
      const record = JSON.parse(await readFile(join(dataDir, 'nats/server.json'), 'utf8')) as { pid: number };
      return record.pid;
    },
    kill: (signal = 'SIGKILL') => gone(child, signal),
    freeze: async () => {
      child.kill('SIGSTOP');
      await eventually(() => expectStopped(child.pid!));
    },
    thaw: () => void child.kill('SIGCONT'),
    stdout: () => output.stdout.join('\n'),
    stderr: () => output.stderr.join('\n'),
  };
}

export interface RunResult extends Exit {
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Another command of the same command line, to its end. */
export async function runMillrace(
  args: readonly string[],
  env: Environment,
  { timeoutMs = 30_000, program }: { timeoutMs?: number; program?: string | undefined } = {},
): Promise<RunResult> {
  const child = spawnMain(args, env, program);
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout?.on('data', (piece: Buffer) => stdout.push(piece));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done) =>
    child.once('close', (...exit) => done(exit)),
  );
  clearTimeout(timer);
  return { code, signal, stdout: Buffer.concat(stdout), stderr };
}

/** `serve` ends at once, and one line says why; beside it there is only the log. */
export async function expectServeRefused(env: Environment, why: string, program?: string): Promise<void> {
  const { code, stderr } = await runMillrace(['serve'], env, { program });
  expect(code).to.equal(1);
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines).to.have.length(1);
  expect(lines[0]).to.contain(why);
}

/** A command that goes on until it is told to stop. */
export interface RunningCommand {
  readonly lines: readonly string[];
  /** Of standard error. */
  readonly errors: readonly string[];
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

export function watchMillrace(args: readonly string[], env: Environment): RunningCommand {
  const child = spawnMain(args, env);
  const lines: string[] = [];
  const errors: string[] = [];
  keep(child, 'stdout', lines);
  keep(child, 'stderr', errors);
  return { lines, errors, stop: (signal = 'SIGTERM') => gone(child, signal) };
}

export function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may just have gone by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function spawnMain(args: readonly string[], env: Environment, program = MAIN): ChildProcess {
  const heapMb = env.MILLRACE_HEAP_MB === '' ? MAKE_RUN_HEAP_MB : (env.MILLRACE_HEAP_MB ?? '256');
  const heap = `--max-old-space-size=${heapMb}`;
  const node = [process.execPath, '--enable-source-maps', heap, program, ...args];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...node], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

function keep(child: ChildProcess, name: 'stdout' | 'stderr', lines: string[], onLine?: (line: string) => void): void {
  createInterface(child[name]!).on('line', (line) => {
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    onLine?.(line);
  });
}

function gone(child: ChildProcess, signal: NodeJS.Signals): Promise<Exit> {
  const { exitCode: code, signalCode } = child;
  if (code !== null || signalCode !== null) return Promise.resolve({ code, signal: signalCode });
  const exit = new Promise<Exit>((done) => child.once('exit', (...how) => done({ code: how[0], signal: how[1] })));
  child.kill(signal);
  // A stopped process dies of SIGKILL, but answers SIGTERM only once it runs again.
  if (signal !== 'SIGKILL') child.kill('SIGCONT');
  return exit;
}

/** The embedded server dies with its process; a test that failed half-way must not leave one all the same. */
async function endServerOf(dataDir: string): Promise<void> {
  const record = await readFile(join(dataDir, 'nats/server.json'), 'utf8').catch(() => undefined);
  if (record === undefined) return;
  const server = JSON.parse(record) as Parameters<typeof isSameProcess>[0];
  if ((await identifyProcess(server.pid)) === undefined || !(await isSameProcess(server))) return;
  signalPid(server.pid, 'SIGKILL');
}

/** The addresses in a ready line, by the name of the port. */
export function addressesOf(line: string): Record<string, string> {
  const pairs = line.split(' ').slice(1);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** The signal reaches each thread a moment later; one that still runs may still answer. */
function expectStopped(pid: number): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const state = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1').split(') ').at(-1)?.charAt(0);
    if (state !== 'T') throw new Error(`thread ${thread} of ${pid} is in state ${state}`);
  }
}

function timeout(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms).unref());
}
