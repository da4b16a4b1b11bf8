/** Processes with one job each, also failing ones. Proves JP1, JP2, JP3. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { JobProcesses } from '../../../../src/adapters/node/index.js';
import { eventually } from '../../../support/eventually.js';
import { silentLog } from '../../../support/silent-log.js';
import { directoryOf } from '../../../support/stand-hooks.js';

const JOBS = new URL('../../../../src/adapters/node/jobs/', import.meta.url).href;
const SILENT = 'setInterval(() => {}, 1000)';
/** An entry like those of the program, with this work. */
const entryOf = (work: string) => `import { doJob } from '${JOBS}job-processes.js';
await doJob('a test', 0, async ({ job, installation }, log) => { ${work} });`;

type Processes = JobProcesses<string, string, unknown>;

describe('a process that does one job', () => {
  const folder = directoryOf('all tests');
  let files = 0;

  async function fileOf(code: string): Promise<URL> {
    files += 1;
    const path = join(folder.path, `entry-${files}.mjs`);
    await writeFile(path, code);
    return pathToFileURL(path);
  }

  async function processes(code: string, options: { timeLimitMs?: number; maxHeapMb?: number } = {}) {
    const words = { lost: 'nothing came', detailsOf: (job: string) => ({ job }) };
    const entry = await fileOf(code);
    return new JobProcesses({ entry, installation: 'for ', log: silentLog, ...words, ...options }) as Processes;
  }

  /** The error of the job of such a process. */
  async function failureOf(code: string, options: { timeLimitMs?: number; maxHeapMb?: number } = {}) {
    const jobs = await processes(code, options);
    return jobs.run('a job').then(
      () => 'done',
      ({ code, message }) => `${code} ${message}`,
    );
  }

  it('receives the job and the installation, and returns a result of any type', async () => {
    const both = await processes(entryOf('return [installation + job, new Uint8Array([1]), Infinity]'));
    const results = await Promise.all([both.run('one'), both.run('two')]);
    const rest = [new Uint8Array([1]), Number.POSITIVE_INFINITY];
    expect(results).to.deep.equal([
      ['for one', ...rest],
      ['for two', ...rest],
    ]);
  });

  it('fails its job when it dies, throws, is killed, takes too long or has no memory, with the reason (JP1)', async () => {
    expect(await failureOf('process.exit(3)')).to.equal('TIMED_OUT nothing came: its process ended with code 3');
    expect(await failureOf('throw new Error("broken on purpose")')).to.match(
      /ended with code 1: Error: broken on purp/,
    );
    expect(await failureOf("process.kill(process.pid, 'SIGKILL')")).to.match(/ended with SIGKILL$/);
    expect(await failureOf(SILENT, { timeLimitMs: 50 })).to.match(/it took longer than 50 ms$/);
    const hungry = 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length))';
    expect(await failureOf(hungry, { maxHeapMb: 32 })).to.match(/ended with SIG\w+: FATAL ERROR: .*heap/);
  });

  it('reports an error of its work unchanged', async () => {
    expect(await failureOf(entryOf('throw new Error(`no room`)'))).to.match(/^DEFECT .*no room/);
  });

  it('has ended before its job is answered, in success and failure (JP2)', async () => {
    const done = await processes(entryOf('setInterval(() => {}, 1000); return process.pid'));
    expect(isThere((await done.run('a job')) as number)).to.equal(false);
    const failing = await failureOf(entryOf('setInterval(() => {}, 1000); throw new Error("pid " + process.pid)'));
    expect(isThere(Number(/pid (\d+)/.exec(failing)?.[1]))).to.equal(false);
  });

  it('ends with its owner: the running job fails, and later ones are refused', async () => {
    const ending = await processes(SILENT);
    const codeOf = (result: Promise<unknown>) => result.catch(({ code }) => code);
    const underWay = codeOf(ending.run('a job'));
    await ending.close();
    expect(await underWay).to.equal('SHUTTING_DOWN');
    expect(await codeOf(ending.run('another'))).to.equal('SHUTTING_DOWN');
  });

  it('ends with the process that started it, when that one is killed (JP3)', async () => {
    const entry = await fileOf(entryOf('log.info(String(process.pid)); await new Promise(() => {})'));
    const owner = await fileOf(`import { JobProcesses } from '${JOBS}job-processes.js';
      const log = { info: (pid) => process.stdout.write(pid) };
      const options = { installation: '', log, lost: '', detailsOf: () => ({}) };
      await new JobProcesses({ ...options, entry: new URL('${entry.href}') }).run('a job');`);
    const started = spawn(process.execPath, [owner.pathname], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [pid] = await once(started.stdout, 'data');
    expect(isThere(Number(pid))).to.equal(true);
    started.kill('SIGKILL');
    await eventually(() => expect(isThere(Number(pid))).to.equal(false));
  });
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
