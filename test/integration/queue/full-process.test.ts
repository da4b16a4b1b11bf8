/**
 * One account publishes until its process has no memory for more: other accounts are served as before, and no message
 * is lost.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { expectAnswer } from '../../support/queue-answers.js';
import { QueueProcess, type RawAnswer } from '../../support/queue-process.js';
import { QueueTenant } from '../../support/queue-tenant.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const BATCH = 1000;
/** At three hundred bytes each, the heap of the process has no room for this many. */
const MOST = 1_000_000;
const NO_ROOM = { error: 'the server has no room for more waiting messages' };

describe('a process that one account fills with messages', function () {
  this.timeout(180_000);
  const queue = standOfAllTests(() => QueueProcess.start({ MILLRACE_HEAP_MB: '256' }));
  let first: QueueTenant;
  let second: QueueTenant;
  let accepted = 0;

  before(async () => {
    first = QueueTenant.first(queue);
    second = await QueueTenant.create(queue, 'second');
  });

  /** Publishes until a batch is refused. @returns the number of accepted messages */
  async function fill(itemAt: (number: number) => object): Promise<number> {
    for (let from = 0; from < MOST; from += BATCH) {
      const body = Array.from({ length: BATCH }, (_, at) => itemAt(from + at));
      const answer = await first.request('POST', '/v2/batch', { body });
      if (answer.status !== 200) {
        expectNoRoom(answer);
        return from;
      }
    }
    return MOST;
  }

  function expectNoRoom({ status, text, json }: RawAnswer): void {
    expect(status, text).to.equal(429);
    expect(json).to.deep.equal(NO_ROOM);
  }

  const waiting = async () => {
    const text = await (await fetch(`${queue.millrace.metricsUrl}/metrics`)).text();
    return Number(/^millrace_queue_messages (\S+)$/m.exec(text)?.[1]);
  };

  it('refuses it after 100,000 or more small messages, and accepts messages of others', async () => {
    accepted = await fill(() => ({ destination: UNREACHABLE, headers: { 'Svc-Delay': '1d' }, body: 'b' }));
    expect(accepted).to.be.within(100_000, 400_000);
    await second.keepPace({ count: 20, everyMs: 10 });
    await eventually(async () => expect(await waiting()).to.equal(accepted));
  });

  it('is as full after a kill, and accepts messages again once it is emptied', async () => {
    await queue.restart('SIGKILL');
    expectNoRoom(await first.request('POST', '/v2/batch', { body: Array(BATCH).fill({ destination: UNREACHABLE }) }));
    await second.keepPace({ count: 20, everyMs: 10 });
    // A message of the second tenant may still wait when the gauge is updated.
    await eventually(async () => expect(await waiting()).to.equal(accepted));
    expectAnswer(await first.request('DELETE', '/v2/messages'), 200);
    await eventually(async () => expect(await waiting()).to.equal(0));
    await first.publish(UNREACHABLE, { headers: { 'Svc-Delay': '1d' } });
  });

  it('refuses it earlier when each message has its own headers', async () => {
    const larger = await fill((number) => ({
      destination: UNREACHABLE,
      headers: { 'Svc-Delay': '1d', 'Svc-Forward-X-Own': `${number} ${'x'.repeat(1000)}` },
    }));
    expect(larger).to.be.within(8_000, 30_000);
    await second.keepPace({ count: 20, everyMs: 10 });
  });
});
