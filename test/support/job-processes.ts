/** Finds the child processes that a Millrace process has started for single jobs: compaction and backups. */
import { readdir, readFile } from 'node:fs/promises';

/** The index of the parent's process id in /proc/<pid>/stat, counted from the state. */
const PARENT_FIELD = 1;

/** @returns the process ids; usually there are none */
export async function jobProcessesOf(pid: number): Promise<readonly number[]> {
  const all = (await readdir('/proc')).map(Number).filter((other) => other > 0);
  const found = await Promise.all(all.map(async (other) => ((await isJobOf(pid, other)) ? [other] : [])));
  return found.flat();
}

async function isJobOf(pid: number, other: number): Promise<boolean> {
  const read = (name: string) => readFile(`/proc/${other}/${name}`, 'latin1').catch(() => '');
  const stat = await read('stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[PARENT_FIELD]) === pid && (await read('cmdline')).includes('-worker.js');
}
