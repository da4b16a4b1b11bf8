/**
 * What is wrong with a directory that data is to be kept in, before anything is made there: making directories below /proc
 * keeps Node busy for ever, and elsewhere fails with what the file system says of some file in it.
 */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { MillraceError } from '../../kernel/index.js';

/** File systems that the kernel makes up, by their magic numbers (statfs(2)). */
const MADE_UP: Readonly<Record<number, string>> = { 40864: '/proc', 1650812274: '/sys', 2613483: 'a cgroup' };

/** @param variable the setting that names it. @throws BAD_CONFIG with the setting and the cause, each once */
export async function refuseUnusableDirectory(path: string, variable: string): Promise<void> {
  const trouble = await directoryTrouble(path);
  if (trouble !== undefined) throw new MillraceError('BAD_CONFIG', `${variable}: ${trouble}`, { variable, path });
}

/** @returns what is wrong, as a sentence without its full stop; undefined: it is there, or can be made */
export async function directoryTrouble(path: string): Promise<string | undefined> {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      if (!(await stat(at)).isDirectory()) return `${at} is a file, not a directory`;
      const { type } = await statfs(at);
      const madeUp = MADE_UP[type];
      if (madeUp !== undefined) return `${path} is on ${madeUp}, where nothing can be kept`;
      await access(at, constants.W_OK | constants.X_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS') return `${at} is on a file system that is read-only`;
      if (code === 'EACCES' || code === 'EPERM') return `${at} is not writable for this user`;
      // What is not there yet is made in the nearest directory that is; a file in the way is found there too.
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || at === dirname(at)) throw error;
    }
  }
}
