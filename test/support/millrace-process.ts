/**
 * Runs the product as an operator does: the compiled command line as a separate process with its own data directory,
 * which tests kill, freeze and restart.
 *
 *  MPR1 its environment has no variables with the prefix MILLRACE_ except the given ones
 *  MPR2 it ends with the test process (setpriv); `endEverything` ends remaining processes and removes the directories
 *  MPR3 only processes that were started here get signals
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

/** The program of the same build as this file, so that a copy that is compiled elsewhere tests its own build. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/**
 * The limit of a cold start on a machine that is busy with other programs. Tests of speed measure the time
 * themselves.
 */
const READY_TIMEOUT_MS = 120_000;
const KEPT_LINES = 5000;
/** The default heap size in the Makefile. */
const MAKE_RUN_HEAP_MB = '1024';

export type Environment = Readonly<Record<string, string>>;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface MillraceProcess {
  readonly pid: number;
  readonly dataDir: string;
  /** The addresses of the ready line, by name. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly kvUrl: string;
  readonly metricsUrl: string;
  /** The time from the start of the process to its ready line. */
  readonly readyAfterMs: number;
  /** A client with the process's token, closed with the process. */
  readonly kv: KvClient;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<Exit>;
  /** The process id of the embedded nats-server. */
  natsPid(): Promise<number>;
  kill(signal?: NodeJS.Signals): Promise<Exit>;
  /** Stops the process; resolves when all its threads are stopped. */
  freeze(): Promise<void>;
  thaw(): void;
  /** The last printed lines, including the ready line. */
  stdout(): string;
  stderr(): string;
}

export interface StartOptions {
  /** If undefined, a directory is created, and removed at the end. */
  readonly dataDir?: string;
  readonly env?: Environment;
  readonly token?: string;
  /** The main file of the program; by default that of this build. */
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

/** Ends all processes. Every suite that starts one calls it in its `after` hook. */
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

/** The settings of a process with its own embedded nats-server. */
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
    // The tests' users have short passwords, which are made of their names.
    MILLRACE_SECRET_MIN_CHARACTERS: '1',
    MILLRACE_HEAP_MB: '256',
    ...(isAbsolute(resolve(server)) && server.includes('/') ? { MILLRACE_NATS_SERVER: resolve(server) } : {}),
  };
}

/** @throws with all output of the process, if it ends before its ready line */
export async function startMillrace(options: StartOptions = {}): Promise<MillraceProcess> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const env = { ...(await embeddedEnvironment(dataDir)), ...options.env };
  const startedAt = performance.now();
  const child = spawnMain(['serve'], env, options.program);
  const output = { stdout: [] as string[], stderr: [] as string[] };
  const exited = new Promise<Exit>((done) => child.once('exit', (code, signal) => done({ code, signal })));
  // The output streams may close after the process has ended, so the last output arrives only with `close`.
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

/** Runs another command of the command line until it ends. */
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

/** Expects that `serve` ends immediately, with one line that has the reason; all other lines belong to the log. */
export async function expectServeRefused(env: Environment, why: string, program?: string): Promise<void> {
  const { code, stderr } = await runMillrace(['serve'], env, { program });
  expect(code).to.equal(1);
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines).to.have.length(1);
  expect(lines[0]).to.contain(why);
}

/** A command that runs until it is stopped. */
export interface RunningCommand {
  readonly lines: readonly string[];
  /** The lines of standard error. */
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
    // The process may have ended just before.
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
  // SIGKILL ends a stopped process, but SIGTERM is handled only after SIGCONT.
  if (signal !== 'SIGKILL') child.kill('SIGCONT');
  return exit;
}

/** Ends an embedded server that a failed test has left running. Usually the server ends with its process. */
async function endServerOf(dataDir: string): Promise<void> {
  const record = await readFile(join(dataDir, 'nats/server.json'), 'utf8').catch(() => undefined);
  if (record === undefined) return;
  const server = JSON.parse(record) as Parameters<typeof isSameProcess>[0];
  if ((await identifyProcess(server.pid)) === undefined || !(await isSameProcess(server))) return;
  signalPid(server.pid, 'SIGKILL');
}

/** Parses the addresses of a ready line, by the name of the port. */
export function addressesOf(line: string): Record<string, string> {
  const pairs = line.split(' ').slice(1);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
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

function timeout(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms).unref());
}
