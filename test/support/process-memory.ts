/** What processes hold in memory, as the kernel counts it. */
import { readFile } from 'node:fs/promises';

/** Resident set, in MiB. */
export function residentMib(pid: number): Promise<number> {
  return residentOfAllMib([pid]);
}

/**
 * Of processes that run one program, in MiB: what comes from files, the program itself above all, is in each of them and
 * counts once, as large as in the one that has most of it. Unlike the kernel's proportional share it does not depend on
 * what other processes of the machine run. @throws when one of them is gone
 */
export async function residentOfAllMib(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  const own = all.map((status) => kibOf(status, 'RssAnon') + kibOf(status, 'RssShmem'));
  const files = all.map((status) => kibOf(status, 'RssFile'));
  return (own.reduce((sum, kib) => sum + kib, 0) + Math.max(...files)) / 1024;
}

/** NaN for a process that has just ended. */
function kibOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}
