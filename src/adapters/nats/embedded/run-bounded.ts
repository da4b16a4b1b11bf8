/**
 * Runs a program of the machine to its end, never longer than it was given and never keeping more of
 * its output than an error line needs.
 *
 *  RBO1 When the time is over the whole process group is killed: apt's download methods are children of
 *       its own and would otherwise go on.
 *  RBO2 Output is kept from its end, because that is where programs say why they failed.
 */
import { spawn } from 'node:child_process';

/** Enough for the last words of apt or tar; what is longer loses its beginning. */
const KEPT_OUTPUT_BYTES = 16 * 1024;

export interface RunOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A descriptor of ours that the program gets as its number 3. */
  readonly descriptor3?: number;
}

export interface RunResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** @throws an Error in words when the program cannot be started at all */
export function runBounded(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...(options.descriptor3 === undefined ? [] : [options.descriptor3])],
    });
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-KEPT_OUTPUT_BYTES);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-KEPT_OUTPUT_BYTES);
    });
    const deadline = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, options.timeoutMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      reject(new Error(error.code === 'ENOENT' ? `${program} was not found` : `${program}: ${error.message}`));
    });
    child.once('close', (exitCode) => {
      clearTimeout(deadline);
      resolve({ exitCode, stdout, stderr, timedOut });
    });
  });
}

/** This is `runBounded` for callers that need it to succeed; the error is one line. */
export async function runOrThrow(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const result = await runBounded(program, args, options);
  if (result.timedOut) throw new Error(`${program} took longer than ${options.timeoutMs} ms`);
  if (result.exitCode !== 0) throw new Error(`${program} failed: ${lastWords(result)}`);
  return result;
}

/** The line of the output that most probably says why. */
export function lastWords({ stdout, stderr, exitCode }: RunResult): string {
  const lines = (stderr.trim() === '' ? stdout : stderr).split('\n').filter((line) => line.trim() !== '');
  const telling = lines.find((line) => line.startsWith('E: ')) ?? lines.at(-1);
  return (telling ?? `exit code ${exitCode}`).trim().slice(0, 300);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself between the deadline and here.
  }
}
