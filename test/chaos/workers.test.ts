/** Workers that are killed and replaced under a light load. Proves SUL1, SUP1, WPO1–WPO3, WPR1, WPR2. */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { identifyProcess } from '../../src/adapters/nats/embedded/process-identity.js';
import { eventually } from '../support/eventually.js';
import { runMillrace, signalPid } from '../support/millrace-process.js';
import { WorkersStand } from '../support/workers-stand.js';

/** A light load. */
const BETWEEN_WRITES_MS = 20;

describe('the supervisor of two workers', () => {
  let stand: WorkersStand;

  before(async () => {
    stand = await WorkersStand.start();
    expect(await stand.rest.set('kept', 2)).to.equal('OK');
  });
  after(() => stand?.end());

  /** Writes over REST and RESP, one after the other. @returns the numbers of writes, when `during` has ended */
  async function underLoad(during: () => Promise<unknown>): Promise<{ rest: number; resp: number }> {
    const written = { rest: 0, resp: 0 };
    let isOver = false;
    const work = during().finally(() => {
      isOver = true;
    });
    const overRest = async () => {
      for (; !isOver; written.rest += 1) {
        expect(await stand.rest.incr('over-rest')).to.equal(written.rest + 1);
        await setTimeout(BETWEEN_WRITES_MS);
      }
    };
    const overResp = async () => {
      for (; !isOver; written.resp += 1) {
        expect(await stand.native.incr('over-resp')).to.equal(written.resp + 1);
        await setTimeout(BETWEEN_WRITES_MS);
      }
    };
    await Promise.all([work, overRest(), overResp()]);
    return written;
  }

  it('replaces all workers at millrace reload, with new settings, without a failed request or an unknown outcome', async () => {
    const before = await stand.workers();
    const settings = { ...stand.environment, MILLRACE_LOG_LEVEL: 'error' };
    const written = await underLoad(async () => {
      const { code, stdout } = await runMillrace(['reload', '--settings'], settings, { timeoutMs: 250_000 });
      expect([code, stdout.toString()]).to.deep.equal([0, 'all workers are replaced\n']);
    });
    expect(written.rest).to.be.greaterThan(10);
    expect(written.resp).to.be.greaterThan(10);
    const after = await stand.workers();
    expect(after).to.have.length(2).and.not.include.members(before);
    // Those of the first start alone.
    expect(stand.installation.stderr().match(/"event":"process.ready","worker"/g)).to.have.length(2);
  });

  it('keeps the old workers when a new program ends at each start', async () => {
    const before = await stand.workers();
    await stand.install('process.exit(3);');
    const { code, stderr } = await runMillrace(['reload'], stand.environment);
    expect([code, stderr]).to.deep.equal([
      1,
      'millrace: the new worker 1 does not serve, and the old ones stay: exit code 3\n',
    ]);
    await stand.install();
    expect(await stand.workers()).to.have.members(before);
    expect(await stand.rest.get('kept')).to.equal(2);
  });

  it('keeps each acknowledged write and serves within a second or two when a worker is killed', async () => {
    const acknowledged: string[] = [];
    let slowestMs = 0;
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n += 1) {
        const startedAt = performance.now();
        await eventually(() => stand.native.set(`key-${n}`, n));
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        acknowledged.push(`key-${n}`);
        await setTimeout(BETWEEN_WRITES_MS);
      }
    })();
    const [victim] = await stand.workers();
    signalPid(victim as number, 'SIGKILL');
    await eventually(async () => expect(await stand.metric(/^millrace_worker_restarts_total 1$/)).to.have.length(1));
    isOver = true;
    await writing;
    expect(slowestMs).to.be.lessThan(10_000);
    expect(await stand.native.exists(...acknowledged)).to.equal(acknowledged.length);
    expect(stand.installation.stderr()).to.match(/"event":"worker.ended".*"reason":"signal SIGKILL"/);
    // The read models have moved, if they were kept by that worker.
    await eventually(() => stand.queue.logs());
  });

  it('leaves no process when the supervisor is killed, not even a frozen worker after the next start, which has all data', async () => {
    const [frozen = 0, ...others] = await stand.workers();
    const natsPid = await stand.installation.natsPid();
    signalPid(frozen, 'SIGSTOP');
    await stand.installation.kill('SIGKILL');
    await eventually(async () => {
      for (const pid of [...others, natsPid]) expect(await identifyProcess(pid)).to.equal(undefined);
    });
    await stand.serve();
    expect(await identifyProcess(frozen)).to.equal(undefined);
    expect(await stand.rest.get('kept')).to.equal(2);
  });
});
