/**
 * Threads that begin to load before it is known what they will work on: while the process itself is still loading, there
 * is a core to spare. Each is told its task once, when it is asked for; a thread that nobody began early begins then.
 */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker, workerData } from 'node:worker_threads';
import type { AnsweringKind } from './answering-thread.js';

type Begun = Pick<AnsweringKind<unknown>, 'name' | 'limits'>;

interface Waiting {
  readonly worker: Worker;
  readonly tasks: MessagePort;
}

const waitingByEntry = new Map<string, Waiting>();

export function beginEarly(entry: URL, kind: Begun): Worker {
  const waiting = begin(entry, kind);
  // What it died of is met again, and told, by the one that begins in its place.
  waiting.worker.on('error', () => undefined);
  waiting.worker.on('exit', () => {
    if (waitingByEntry.get(entry.href) === waiting) waitingByEntry.delete(entry.href);
  });
  waitingByEntry.set(entry.href, waiting);
  return waiting.worker;
}

/** @param task plain data */
export function beginThread(entry: URL, kind: Begun, task: unknown): Worker {
  const { worker, tasks } = waitingByEntry.get(entry.href) ?? begin(entry, kind);
  waitingByEntry.delete(entry.href);
  tasks.postMessage(task);
  return worker;
}

/** In the thread: what it is to work on. */
export async function taskOfThread<Task>(): Promise<Task> {
  const tasks = workerData as MessagePort;
  const [task] = (await once(tasks, 'message')) as [Task];
  tasks.close();
  return task;
}

function begin(entry: URL, { name, limits }: Begun): Waiting {
  const { port1: tasks, port2: inThread } = new MessageChannel();
  const options = { name, workerData: inThread, transferList: [inThread], resourceLimits: limits };
  return { worker: new Worker(entry, options), tasks };
}
