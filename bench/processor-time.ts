/** The processor time of processes under measurement, as the kernel counts it. */
import { readFile } from 'node:fs/promises';

/** The kernel counts processor time in hundredths of a second; Linux has done so since 2.4. */
const MS_PER_TICK = 10;

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

/** A process and its nats-server: `ranMsOf` adds up their times. A compactor is not included, because it starts and ends. */
export async function withServer(pid: number): Promise<readonly number[]> {
  const children = await childrenOf(pid);
  const names = await Promise.all(children.map((child) => readFile(`/proc/${child}/comm`, 'latin1').catch(() => '')));
  return [pid, ...children.filter((_, at) => names[at]?.trim() === 'nats-server')];
}
