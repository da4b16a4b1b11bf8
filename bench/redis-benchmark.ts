/** Load by redis-benchmark: the same commands, from as many connections, against either server. */
import { execFile, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CONNECTIONS = 50;
/** A server that has stopped answering sends no further output. */
const TIMEOUT_MS = 120_000;
/**
 * Tries of a run: redis-benchmark gives up at the first error, and on a busy machine our process may refuse commands because
 * its permissions are half a second old.
 */
const ATTEMPTS = 3;
const PAUSE_MS = 1_000;

export interface RespLoad {
  readonly port: number;
  readonly password?: string | undefined;
  /** Commands sent before the first reply is waited for. */
  readonly pipeline: number;
  readonly requests: number;
  /** 50 by default. */
  readonly connections?: number;
  /** `__rand_int__` in a command is a number below it, of twelve digits. */
  readonly randomBelow: number;
  /** Words of a command, or the name of one of redis-benchmark's tests. */
  readonly command: readonly string[] | { readonly test: string };
}

export function isRedisBenchmarkMissing(): boolean {
  return spawnSync('which', ['redis-benchmark']).status !== 0;
}

/** @returns requests a second. @throws when a server refuses commands at each of a few attempts */
export async function redisBenchmark(load: RespLoad): Promise<number> {
  const { port, password, pipeline, requests, connections = CONNECTIONS, randomBelow, command } = load;
  const args = [
    '-p',
    `${port}`,
    '-c',
    `${connections}`,
    '-n',
    `${requests}`,
    '-P',
    `${pipeline}`,
    '-r',
    `${randomBelow}`,
  ];
  if (password !== undefined) args.push('-a', password);
  args.push('--csv', ...('test' in command ? ['-t', command.test] : command));
  const { stdout, stderr } = await attempt(args, ATTEMPTS);
  // The line is the name, requests a second, and latencies, each in quotes.
  const perSecond = Number(/^"[^\n]*?","([0-9.]+)","/m.exec(stdout.split('\n').slice(1).join('\n'))?.[1]);
  if (!(perSecond > 0)) throw new Error(`redis-benchmark said something else:\n${stdout}${stderr}`);
  return perSecond;
}

/** Repeats a command until `end.isOver`. */
export async function loadUntil(end: { readonly isOver: boolean }, load: RespLoad): Promise<void> {
  while (!end.isOver) await redisBenchmark(load);
}

async function attempt(args: readonly string[], attempts: number): Promise<{ stdout: string; stderr: string }> {
  try {
    return await run('redis-benchmark', args, { timeout: TIMEOUT_MS });
  } catch (error) {
    if (attempts === 1) throw error;
    process.stderr.write(`again, because of: ${String((error as { stderr?: string }).stderr ?? error).trim()}\n`);
    await delay(PAUSE_MS);
    return attempt(args, attempts - 1);
  }
}
