/** Where a thread of this process begins. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { lowerPriority, sentLog } from '../beside.js';
import { taskOfThread } from './early-threads.js';

/** Who started it, with what, and where its lines go. */
export interface Thread<Data> {
  readonly port: MessagePort;
  readonly data: Data;
  readonly log: Log;
}

/** @param name as in `the read models`. @throws DEFECT in the main thread */
export function enterThread<Data>(name: string, niceness: number): Thread<Data> {
  const port = parentPort;
  if (port === null) throw new MillraceError('DEFECT', `${name} has to be started as a thread`);
  const log = sentLog((message) => port.postMessage(message));
  lowerPriority(niceness, log);
  return { port, data: workerData as Data, log };
}

/** As `enterThread`, of a thread that answers questions: it has a task once somebody wants it, and loads at full speed. */
export async function enterAnswering<Task>(name: string, niceness: number): Promise<Thread<Task>> {
  const task = await taskOfThread<Task>();
  return { ...enterThread<unknown>(name, niceness), data: task };
}
