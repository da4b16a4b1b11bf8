/**
 * `<data dir>/running.json`: the addresses of the process that runs there, for commands on the same machine. A file of
 * a process that was killed stays until the next start, and is recognised by its process id.
 */

import { constants } from 'node:fs';
import { access, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { MillraceError } from '../../kernel/index.js';
import { readFileIfThere, writeFileAtomic } from './files.js';

/** Virtual file systems of the kernel, by their magic numbers (statfs(2)). */
const MADE_UP: Readonly<Record<number, string>> = { 40864: '/proc', 1650812274: '/sys', 2613483: 'a cgroup' };

/** @param variable  the setting that names it. @throws BAD_CONFIG with the setting and the cause */
export async function refuseUnusableDirectory(path: string, variable: string): Promise<void> {
  const trouble = await directoryTrouble(path);
  if (trouble !== undefined) throw new MillraceError('BAD_CONFIG', `${variable}: ${trouble}`, { variable, path });
}

/** @returns the fault as a sentence without a full stop; undefined: the directory exists or can be made */
export async function directoryTrouble(path: string): Promise<string | undefined> {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      if (!(await stat(at)).isDirectory()) return `${at} is a file, not a directory`;
      const { type } = await statfs(at);
      const madeUp = MADE_UP[type];
      if (madeUp !== undefined) return `${path} is on ${madeUp}, which cannot store files`;
      await access(at, constants.W_OK | constants.X_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS') return `${at} is on a file system that is read-only`;
      if (code === 'EACCES' || code === 'EPERM') return `${at} is not writable for this user`;
      // A missing directory is made in the nearest existing one; a file in its place is found there too.
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || at === dirname(at)) throw error;
    }
  }
}

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
