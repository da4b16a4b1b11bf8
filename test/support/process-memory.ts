/** The memory of processes, as the kernel counts it. */
import { readFile } from 'node:fs/promises';

/** The resident set in MiB. */
export function residentMib(pid: number): Promise<number> {
  return residentOfAllMib([pid]);
}

/**
 * The memory of several processes of one program, in MiB. Pages of files, mainly of the program, are in each process
 * and count once, with the size of the largest. Unlike the kernel's proportional share, the result does not depend on
 * other processes. @throws if a process has ended
 */
export async function residentOfAllMib(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  const own = all.map((status) => kibOf(status, 'RssAnon') + kibOf(status, 'RssShmem'));
  const files = all.map((status) => kibOf(status, 'RssFile'));
  return (own.reduce((sum, kib) => sum + kib, 0) + Math.max(...files)) / 1024;
}

/** Returns NaN for a process that has just ended. */
function kibOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}
