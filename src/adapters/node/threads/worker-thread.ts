/** The entry of a thread of this process. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { lowerPriority, sentLog } from '../worker-support.js';
import { taskOfThread } from './early-threads.js';

/** The port of the starting thread, the data, and the log. */
export interface Thread<Data> {
  readonly port: MessagePort;
  readonly data: Data;
  readonly log: Log;
}

/** @param name  as in `the read models`. @throws DEFECT in the main thread */
export function enterThread<Data>(name: string, niceness: number): Thread<Data> {
  const port = parentPort;
  if (port === null) throw new MillraceError('DEFECT', `${name} has to be started as a thread`);
  const log = sentLog((message) => port.postMessage(message));
  lowerPriority(niceness, log);
  return { port, data: workerData as Data, log };
}

/** As `enterThread`, for a thread that answers questions: it receives its task later, and loads at full speed. */
export async function enterAnswering<Task>(name: string, niceness: number): Promise<Thread<Task>> {
  const task = await taskOfThread<Task>();
  return { ...enterThread<unknown>(name, niceness), data: task };
}
