/**
 * Checks a data directory before any directory is made in it: making directories below /proc blocks Node for ever, and
 * elsewhere fails with an unclear error.
 */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { MillraceError } from '../../kernel/index.js';

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
