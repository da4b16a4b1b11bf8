/** The entry of a job's process: its task comes over the channel from the process that started it. */
import { once } from 'node:events';
import { MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { lowerPriorityOfAll, plainFailure, sentLog } from '../worker-support.js';
import type { JobMessage, JobOutcome } from './job-process.js';

/**
 * Runs the job to its outcome; the starting process then ends this one.
 * @param name  as in `the compactor`. @throws DEFECT when it was not started for a job
 */
export async function doJob<Task, Result>(
  name: string,
  niceness: number,
  work: (task: Task, log: Log) => Promise<Result>,
): Promise<void> {
  if (process.send === undefined) throw new MillraceError('DEFECT', `${name} has to be started for a job`);
  // The receiver of the outcome has ended (JP3).
  process.once('disconnect', () => process.exit());
  const send = (message: JobMessage<Result>) => void process.send?.(message);
  const log = sentLog(send);
  lowerPriorityOfAll(niceness, log);
  const [task] = (await once(process, 'message')) as [Task];
  send(await outcomeOf(() => work(task, log)));
}

async function outcomeOf<Result>(work: () => Promise<Result>): Promise<JobOutcome<Result>> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    return { kind: 'failed', ...plainFailure(error) };
  }
}
