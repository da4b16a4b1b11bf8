/** Runs the backup commands of the compiled program to their end, or kills them in between. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, type RunResult, runMillrace } from './millrace-process.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** The printed line of `verify` and `restore`, by partition. */
export type Lines = Readonly<Record<string, string>>;

/** Runs a command that must succeed. @throws with its output */
export async function backup(args: readonly string[], env: Environment): Promise<RunResult> {
  const result = await runMillrace(['backup', ...args], env, { timeoutMs: 120_000 });
  if (result.code !== 0) throw new Error(`backup ${args[0]} ended with ${result.code}: ${result.stderr}`);
  return result;
}

export async function verified(directory: string, env: Environment): Promise<Lines> {
  return linesOf(await backup(['verify', directory], env));
}

export function linesOf({ stdout }: RunResult): Lines {
  const lines = stdout.toString().split('\n');
  const pairs = lines.filter((line) => line.includes(' digest=')).map((line) => splitAtFirstSpace(line));
  return Object.fromEntries(pairs.sort());
}

function splitAtFirstSpace(line: string): [string, string] {
  const at = line.indexOf(' ');
  return [line.slice(0, at), line.slice(at + 1)];
}

/**
 * Runs a command until `isReached` returns true, then kills it with SIGKILL.
 * @returns true if it was killed; false if it ended before
 */
export async function killedWhen(
  args: readonly string[],
  env: Environment,
  isReached: () => Promise<boolean>,
): Promise<boolean> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, MAIN, 'backup', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: 'ignore',
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('exit', (_code, signal) => resolve(signal));
    child.once('error', reject);
  });
  while (child.exitCode === null && child.signalCode === null && !(await isReached())) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  child.kill('SIGKILL');
  return (await ended) === 'SIGKILL';
}

/** The number of files in the directory and its subdirectories; 0 if it does not exist. */
export async function fileCount(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}

/** The files of the directory and its subdirectories, by relative path. */
export async function filesBelow(directory: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(directory.length + 1), await readFile(path));
  }
  return files;
}
