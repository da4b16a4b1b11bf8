/** Threads that do a job each, when they come to nothing. Proves TJ1. */
import { expect } from 'chai';
import { JobThreads } from '../../../../src/adapters/node/index.js';
import { silentLog } from '../../../spec/journal/shard-history.js';

const SILENT = 'setInterval(() => {}, 1000)';
const ANSWERING = `
  import { parentPort, workerData } from 'node:worker_threads';
  parentPort.postMessage({ kind: 'done', result: workerData.installation + workerData.job });
`;

type Threads = JobThreads<string, string, string>;

function threads(code: string, options: { timeLimitMs?: number } = {}): Threads {
  const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const words = { nameOf: (job: string) => job, lost: 'nothing came', detailsOf: (job: string) => ({ job }) };
  return new JobThreads({ entry, installation: 'installation and ', log: silentLog, ...words, ...options });
}

function codeOf(result: Promise<unknown>): Promise<string> {
  return result.then(
    () => 'done',
    ({ code }) => code as string,
  );
}

describe('a thread that does one job', () => {
  it('is given the job and its installation, and its result is the answer', async () => {
    const both = threads(ANSWERING);
    expect(await Promise.all([both.run('one'), both.run('two')])).to.deep.equal([
      'installation and one',
      'installation and two',
    ]);
  });

  it('fails its job when it dies, throws or takes too long', async () => {
    expect(await codeOf(threads('process.exit(3)').run('a job'))).to.equal('TIMED_OUT');
    expect(await codeOf(threads('throw new Error("broken on purpose")').run('a job'))).to.equal('TIMED_OUT');
    expect(await codeOf(threads(SILENT, { timeLimitMs: 50 }).run('a job'))).to.equal('TIMED_OUT');
  });

  it('ends with its process: what is under way fails, and what comes later', async () => {
    const ending = threads(SILENT);
    const underWay = codeOf(ending.run('a job'));
    await ending.close();
    expect(await underWay).to.equal('SHUTTING_DOWN');
    expect(await codeOf(ending.run('another'))).to.equal('SHUTTING_DOWN');
  });
});
