/**
 * Starts threads before their tasks are known, because a core is idle while the process itself loads. Each receives its
 * task once, on demand; a thread that was not started early starts then.
 */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, type ResourceLimits, Worker, workerData } from 'node:worker_threads';

/** The constants of a kind of thread. */
export interface AnsweringKind<Status> {
  /** Used in sentences: `read models`. */
  readonly name: string;
  /** The first word of its events in the log: `read-model`. */
  readonly events: string;
  readonly limits: ResourceLimits;
  /** The largest number of open questions. */
  readonly maxQuestions: number;
  /** The longest pause before a replacement; undefined: the pause does not grow. */
  readonly maxRestartMs?: number;
  /** The status while the thread has not been used; undefined: it begins when it is started. */
  readonly unneeded?: Status;
}

type Begun = Pick<AnsweringKind<unknown>, 'name' | 'limits'>;

interface Waiting {
  readonly worker: Worker;
  readonly tasks: MessagePort;
}

const waitingByEntry = new Map<string, Waiting>();

export function beginEarly(entry: URL, kind: Begun): Worker {
  const waiting = begin(entry, kind);
  // The replacement meets and reports the same error.
  waiting.worker.on('error', () => undefined);
  waiting.worker.on('exit', () => {
    if (waitingByEntry.get(entry.href) === waiting) waitingByEntry.delete(entry.href);
  });
  waitingByEntry.set(entry.href, waiting);
  return waiting.worker;
}

/** @param task  plain data */
export function beginThread(entry: URL, kind: Begun, task: unknown): Worker {
  const { worker, tasks } = waitingByEntry.get(entry.href) ?? begin(entry, kind);
  waitingByEntry.delete(entry.href);
  tasks.postMessage(task);
  return worker;
}

/** In the thread: its task. */
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
