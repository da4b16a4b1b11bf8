/** What threads of this process have in common: a log that the main thread writes, and a place behind live commands. */
import { setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { Log, LogFields } from '../../../ports/index.js';
import type { JobOutcome, LogMessage, PlainFailure } from '../thread-job.js';
import { taskOfThread } from './early-threads.js';

function threadLog(send: (message: LogMessage) => void, context: LogFields = {}): Log {
  const write =
    (level: LogMessage['level']) =>
    (event: string, fields: LogFields = {}) =>
      send({ kind: 'log', level, event, fields: plainFields({ ...context, ...fields }) });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => threadLog(send, { ...context, ...fields }),
  };
}

/** Where a thread begins: who started it, with what, and where its lines go. */
export interface Thread<Data> {
  readonly port: MessagePort;
  readonly data: Data;
  readonly log: Log;
}

/** @param name as in `the compactor`. @throws DEFECT in the main thread */
export function enterThread<Data>(name: string, niceness: number): Thread<Data> {
  const port = parentPort;
  if (port === null) throw new MillraceError('DEFECT', `${name} has to be started as a thread`);
  const log = threadLog((message) => port.postMessage(message));
  lowerPriority(niceness, log);
  return { port, data: workerData as Data, log };
}

/** As `enterThread`, of a thread that answers questions: it has a task once somebody wants it, and loads at full speed. */
export async function enterAnswering<Task>(name: string, niceness: number): Promise<Thread<Task>> {
  const task = await taskOfThread<Task>();
  return { ...enterThread<unknown>(name, niceness), data: task };
}

/** What can be cloned to another thread, whatever it was. */
function plainFields(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields)) as LogFields;
}

/** What went wrong, as the main thread can make it again; DEFECT for what is no MillraceError. */
export function plainFailure(error: unknown): PlainFailure {
  const { code, details } =
    error instanceof MillraceError ? error : ({ code: 'DEFECT', details: {} } satisfies Partial<PlainFailure>);
  return { code, message: describeError(error), details: plainFields(details) };
}

/** What the one job of a thread came to. */
async function outcomeOf<Result>(work: () => Promise<Result>): Promise<JobOutcome<Result>> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    return { kind: 'failed', ...plainFailure(error) };
  }
}

/** A thread of one job, from its beginning to its outcome. */
export async function doJob<Task, Result>(
  name: string,
  niceness: number,
  work: (task: Task, log: Log) => Promise<Result>,
): Promise<void> {
  const { port, data, log } = enterThread<Task>(name, niceness);
  port.postMessage(await outcomeOf(() => work(data, log)));
}

/** On Linux this is the priority of the calling thread alone; elsewhere it would be the whole process's. */
function lowerPriority(niceness: number, log: Log): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(niceness);
  } catch (error) {
    log.debug('thread.priority-kept', { reason: describeError(error) });
  }
}
