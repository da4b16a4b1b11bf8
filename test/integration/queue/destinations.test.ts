/** Destinations that a process calls when private addresses are forbidden except for those on its list. */
import { expect } from 'chai';
import { expectAnswer, expectRefused } from '../../support/queue-answers.js';
import { QueueProcess } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';

const REFUSED = /endpoint .*loopback|not allowed|private/;

describe('destinations with private addresses', function () {
  this.timeout(60_000);
  let queue: QueueProcess;
  let allowed: QueueSink;

  before(async () => {
    allowed = await QueueSink.listening();
    queue = await QueueProcess.start({
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'false',
      MILLRACE_DESTINATION_ALLOW: `127.0.0.1/32:${new URL(allowed.origin).port}`,
    });
  });
  after(async () => {
    await allowed?.close();
    await queue?.stop();
  });

  it('are refused when written as an address, in any notation', async () => {
    const { port } = new URL(queue.sink.origin);
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '017700000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '10.0.0.1',
    ];
    for (const host of [...hosts, '169.254.169.254', '0.0.0.0', '[fd00::1]']) {
      const answer = await queue.post(`/v2/publish/http://${host}:${port}/`, { body: 'b' });
      expectRefused(answer, 400, /^invalid destination url: /);
    }
  });

  it('are refused for callbacks, endpoints of groups, schedules and messages of a batch', async () => {
    const url = queue.sink.url('/x');
    const callback = { 'Svc-Callback': url };
    expectRefused(await queue.post(`/v2/publish/${allowed.url('/x')}`, { headers: callback }), 400, REFUSED);
    const failure = { 'Svc-Failure-Callback': url };
    expectRefused(await queue.post(`/v2/publish/${allowed.url('/x')}`, { headers: failure }), 400, REFUSED);
    expectRefused(await queue.post('/v2/topics/t/endpoints', { body: { endpoints: [{ url }] } }), 400, REFUSED);
    expectRefused(await queue.post(`/v2/schedules/${url}`, { headers: { 'Svc-Cron': '@yearly' } }), 400, REFUSED);
    expectRefused(await queue.post('/v2/batch', { body: [{ destination: url }] }), 400, REFUSED);
  });

  it('are not called when a name resolves to one', async () => {
    const { port } = new URL(queue.sink.origin);
    const id = await queue.publish(`http://localhost:${port}/by-name`, { headers: { 'Svc-Retries': '0' } });
    const entry = await queue.deadLetterOf(id);
    expect(entry).to.include({ responseStatus: 0 });
    expect(entry.error).to.match(/not allowed/);
    expect(queue.sink.calls('/by-name')).to.have.lengthOf(0);
  });

  it('are called when they are on the list', async () => {
    const path = allowed.path();
    expectAnswer(await queue.post(`/v2/publish/${allowed.url(path)}`, { body: 'b' }), 200);
    expect(await allowed.call(path)).to.include({ body: 'b' });
  });
});
