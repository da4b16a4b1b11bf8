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

/** @param addresses URLs by name. @throws the error of the file system */
export function writeRunningFile(dataDir: string, addresses: Readonly<Record<string, string>>): Promise<void> {
  return writeFileAtomic(pathIn(dataDir), `${JSON.stringify({ pid: process.pid, addresses })}\n`, MODE);
}

export function removeRunningFile(dataDir: string): Promise<void> {
  return rm(pathIn(dataDir), { force: true });
}

/** @returns the addresses by name; undefined if no process runs there */
export async function readRunningFile(dataDir: string): Promise<Readonly<Record<string, string>> | undefined> {
  const found = await readFileIfThere(pathIn(dataDir));
  if (found === undefined) return undefined;
  const { pid, addresses } = JSON.parse(found.toString('utf8')) as { pid: number; addresses: Record<string, string> };
  return isAlive(pid) ? addresses : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user cannot be signalled, but it exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
