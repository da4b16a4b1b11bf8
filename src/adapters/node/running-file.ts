/**
 * `<data dir>/running.json`: the addresses of the process that runs there, for commands on the same machine. A file of
 * a process that was killed stays until the next start, and is recognised by its process id.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfThere, writeFileAtomic } from './files.js';

const MODE = 0o644;

function pathIn(dataDir: string): string {
  return join(dataDir, 'running.json');
}

export interface Running {
  readonly pid: number;
  /** URLs by name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** 1 for a process without a supervisor. */
  readonly workers: number;
}

/** @throws the error of the file system */
export function writeRunningFile(dataDir: string, facts: Omit<Running, 'pid'>): Promise<void> {
  return writeFileAtomic(pathIn(dataDir), `${JSON.stringify({ pid: process.pid, ...facts })}\n`, MODE);
}

export function removeRunningFile(dataDir: string): Promise<void> {
  return rm(pathIn(dataDir), { force: true });
}

/** @returns undefined if no process runs there */
export async function readRunningFile(dataDir: string): Promise<Running | undefined> {
  const found = await readFileIfThere(pathIn(dataDir));
  if (found === undefined) return undefined;
  const running = JSON.parse(found.toString('utf8')) as Running;
  return isAlive(running.pid) ? running : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user cannot be signalled, but it exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
