/** The backup commands of the compiled program, run to their end or killed on the way. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, type RunResult, runMillrace } from './millrace-process.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** A partition's name and what `verify` and `restore` say of it. */
export type Lines = Readonly<Record<string, string>>;

/** A command that has to succeed. @throws with what it said */
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
 * The command until `isReached` says so, then SIGKILL.
 * @returns whether it was killed; false when it had come to its end before
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

/** How many files lie below; 0 while there is no such directory. */
export async function fileCount(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}

/** Every file below, by its path in the directory. */
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
