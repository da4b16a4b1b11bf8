/** Threads that do a job each, when they come to nothing. Proves TJ1, TJ2. */
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

  it('is gone before its job is answered, whatever came of it (TJ2)', async () => {
    const counting = (outcome: string) => `
      import { parentPort, workerData } from 'node:worker_threads';
      const steps = new Int32Array(workerData.installation);
      setInterval(() => Atomics.add(steps, 0, 1), 0);
      setTimeout(() => { ${outcome} }, 10);
    `;
    const outcomes = {
      done: "parentPort.postMessage({ kind: 'done', result: 'x' })",
      INVALID: "parentPort.postMessage({ kind: 'failed', code: 'INVALID', message: 'x', details: {} })",
      TIMED_OUT: '',
    };
    for (const [expected, outcome] of Object.entries(outcomes)) {
      const installation = new SharedArrayBuffer(4);
      const entry = new URL(`data:text/javascript,${encodeURIComponent(counting(outcome))}`);
      const words = { nameOf: () => 'job', lost: 'nothing came', detailsOf: () => ({}), timeLimitMs: 500 };
      const job = new JobThreads<SharedArrayBuffer, string, string>({ entry, installation, log: silentLog, ...words });
      expect(await codeOf(job.run('a job'))).to.equal(expected);
      const steps = Atomics.load(new Int32Array(installation), 0);
      expect(steps, expected).to.be.greaterThan(0);
      // Another job takes longer than many of its steps.
      await threads(ANSWERING).run('later');
      expect(Atomics.load(new Int32Array(installation), 0), expected).to.equal(steps);
    }
  });

  it('ends with its process: what is under way fails, and what comes later', async () => {
    const ending = threads(SILENT);
    const underWay = codeOf(ending.run('a job'));
    await ending.close();
    expect(await underWay).to.equal('SHUTTING_DOWN');
    expect(await codeOf(ending.run('another'))).to.equal('SHUTTING_DOWN');
  });
});
