/** The processor time of processes under measurement, as the kernel counts it. */
import { readdir, readFile } from 'node:fs/promises';

/** The kernel counts processor time in hundredths of a second; Linux has done so since 2.4. */
const MS_PER_TICK = 10;
const NATS_SERVER = 'nats-server';

/** The processes that the main thread of this one has started. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Processor time of whole processes so far, milliseconds. */
export async function ranMsOf(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')));
  return texts.reduce((sum, text) => {
    // The name, in parentheses, may contain any characters.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }, 0);
}

/** Processor time of all running threads of processes so far, milliseconds. */
export async function ranOfThreadsMs(...pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`)) {
      const statistics = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').catch(() => '0');
      sum += Number(statistics.split(' ')[0]) / 1e6;
    }
  }
  return sum;
}

/** A process and its nats-server: `ranMsOf` adds up their times. A compactor is not included, because it starts and ends. */
export async function withServer(pid: number): Promise<readonly number[]> {
  return [pid, ...(await serversOf(pid))];
}

/** The nats-servers that a process has started. */
export async function serversOf(pid: number): Promise<readonly number[]> {
  return childrenBy(pid, (name) => name === NATS_SERVER);
}

/** The workers that a supervisor has started, in order. */
export async function workersOf(pid: number): Promise<readonly number[]> {
  return childrenBy(pid, (name) => name !== NATS_SERVER);
}

async function childrenBy(pid: number, isMeant: (name: string) => boolean): Promise<readonly number[]> {
  const children = await childrenOf(pid);
  const names = await Promise.all(children.map((child) => readFile(`/proc/${child}/comm`, 'latin1').catch(() => '')));
  return children.filter((_, at) => isMeant(names[at]?.trim() ?? ''));
}
