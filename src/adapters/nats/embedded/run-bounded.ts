/**
 * Runs a program of the machine to its end, within a time limit, and keeps only as much of its output as an
 * error line needs.
 *
 *  RBO1 After the time limit the whole process group is killed: apt's download methods are its children
 *       and would otherwise continue.
 *  RBO2 The end of the output is kept, because it has the reason of a failure.
 */
import { spawn } from 'node:child_process';

/** Enough for the error messages of apt or tar; longer output loses its beginning. */
const KEPT_OUTPUT_BYTES = 16 * 1024;

export interface RunOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A descriptor of this process that the program gets as its number 3. */
  readonly descriptor3?: number;
}

export interface RunResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** @throws an Error with a readable text when the program cannot be started */
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

/** Like `runBounded`, but a failure is an error with one line. */
export async function runOrThrow(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const result = await runBounded(program, args, options);
  if (result.timedOut) throw new Error(`${program} took longer than ${options.timeoutMs} ms`);
  if (result.exitCode !== 0) throw new Error(`${program} failed: ${lastWords(result)}`);
  return result;
}

/** The line of the output that most probably has the reason. */
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
