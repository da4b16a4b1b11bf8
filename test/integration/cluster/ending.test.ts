/** SIGTERM to a process of a cluster, while a balancer still sends it requests. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { MillraceCluster, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything } from '../../support/millrace-process.js';

const NOTICE_MS = 1500;

describe('SIGTERM to a process of a cluster', function () {
  this.timeout(60_000);
  let nats: Awaited<ReturnType<typeof startPlainNats>>;

  before(async () => {
    nats = await startPlainNats();
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  it('makes /readyz/edge answer 503, while requests are still served for the drain notice', async () => {
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
