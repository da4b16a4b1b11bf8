/** A process of a cluster that is asked to end, and a balancer that has yet to hear of it. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { MillraceCluster, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything } from '../../support/millrace-process.js';

const NOTICE_MS = 1500;

describe('a process of a cluster that is asked to end', function () {
  this.timeout(60_000);
  let nats: Awaited<ReturnType<typeof startPlainNats>>;

  before(async () => {
    nats = await startPlainNats();
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  it('tells balancers that it takes no requests, and takes them until they have heard', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    const millrace = await cluster.start({ MILLRACE_DRAIN_NOTICE_MS: String(NOTICE_MS) });
    const probe = async (path: string) => {
      const answer = await fetch(`${millrace.metricsUrl}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    await eventually(async () => expect((await probe('/readyz/edge')).status).to.equal(200));
    const askedAt = performance.now();
    const exited = millrace.kill('SIGTERM');
    await eventually(async () => {
      const { status, text } = await probe('/readyz/edge');
      expect(status, text).to.equal(503);
      expect(text).to.contain('stop');
    });
    expect((await probe('/livez')).status).to.equal(200);
    await millrace.kv.ask('SET', 'k', 'while it ends');
    expect(await millrace.kv.ask('GET', 'k')).to.equal('while it ends');
    expect(await exited).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - askedAt).to.be.at.least(NOTICE_MS);
  });
});
