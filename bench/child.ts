/** A process that a bench starts, waits for and ends. If it still runs when the bench ends, it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const running = new Set<ChildProcess>();
/** By started process: its last lines of standard error. */
const lastLines: { readonly command: string; readonly lines: string[] }[] = [];
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const START_TIMEOUT_MS = 120_000;
/** Supervisors commonly allow ten seconds, and our process promises to end within them. */
const STOP_TIMEOUT_MS = 12_000;
const MAX_LAST_LINES = 20;

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The bench waits for a line of standard output that matches. */
  readonly readyWhen?: RegExp;
  /** Asks the process questions; see probe.ts. */
  readonly withChannel?: boolean;
  /** Called with each line of standard error. */
  readonly onLogLine?: (line: string) => void;
}

export class Child {
  /** The match of `readyWhen`. */
  ready: RegExpExecArray | undefined;
  #isStopping = false;

  private constructor(readonly process: ChildProcess) {}

  static async start(command: string, args: readonly string[], options: StartOptions = {}): Promise<Child> {
    const { env, readyWhen, withChannel = false, onLogLine } = options;
    const started = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: withChannel ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    });
    running.add(started);
    started.once('exit', () => running.delete(started));
    const child = new Child(started);
    const errors: string[] = [];
    lastLines.push({ command: `${command} (${started.pid})`, lines: errors });
    // Without the measured process the bench would report wrong figures.
    started.once('exit', (code, signal) => {
      if (child.#isStopping || child.ready === undefined) return;
      process.stderr.write(`${command} ended by itself (${code ?? signal}):\n${errors.join('\n')}\n`);
    });
    onLines(started.stderr, (line) => {
      if (errors.push(line) > MAX_LAST_LINES) errors.shift();
      onLogLine?.(line);
    });
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      const fail = (why: string) => reject(new Error(`${command} ${why}\n${errors.join('\n')}`));
      const timer = setTimeout(() => fail('did not say that it is ready'), START_TIMEOUT_MS);
      started.once('exit', (code) => fail(`ended with ${code}`));
      const settle = () => {
        clearTimeout(timer);
        resolve();
      };
      if (readyWhen === undefined) started.once('spawn', settle);
      onLines(started.stdout, (line) => {
        const match = readyWhen?.exec(line);
        if (!match || child.ready !== undefined) return;
        child.ready = match;
        settle();
      });
    });
    return child;
  }

  /** Ends it in order with `SIGTERM`, or immediately with `SIGKILL`. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const { process: own } = this;
    this.#isStopping = true;
    if (own.exitCode !== null || own.signalCode !== null) return;
    const exited = once(own, 'exit');
    own.kill(signal);
    const late = setTimeout(() => own.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(late);
  }
}

/** The last lines of standard error of each process that was started since the last call: they explain why a bench failed. */
export function takeLastLines(): readonly string[] {
  return lastLines.splice(0).flatMap(({ command, lines }) => [`${command}:`, ...lines]);
}

function onLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) onLine(line);
  });
}

/** A loopback port that was free a moment ago, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Repeats a question until its answer is true. @throws after `timeoutMs`, with the last error of the question */
export async function until(isSo: () => Promise<boolean>, timeoutMs: number, what: string): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      if (await isSo()) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > endMs) throw new Error(`${what} took longer than ${timeoutMs} ms`, { cause });
    await delay(20);
  }
}
