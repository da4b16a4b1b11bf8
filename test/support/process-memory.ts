/** What a process holds in memory, as the kernel counts it. */
import { readFile } from 'node:fs/promises';

/** Resident set, in MiB. */
export async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
