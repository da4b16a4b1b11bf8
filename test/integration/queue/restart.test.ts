/** Records of the queue read the same after its process was killed and started again. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { expectAnswer, expectDone, type PublishedRecord } from '../../support/queue-answers.js';
import { QueueProcess, quietly } from '../../support/queue-process.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';

describe('a queue that is killed and started again', function () {
  this.timeout(90_000);
  let queue: QueueProcess;
  after(() => queue?.stop());

  /** All that can be read without knowing an id. */
  const RESOURCES = [
    'destinations',
    'queues',
    'topics',
    'schedules',
    'flowControl',
    'dlq',
    'events?count=1000',
    'keys',
  ];
  const readAll = async () => {
    const read: Record<string, unknown> = {};
    for (const path of RESOURCES) read[path] = expectAnswer(await queue.get(`/v2/${path}`), 200);
    return read;
  };

  it('shows the same queues, groups, schedules, keys, DLQ entries, events and waiting messages', async () => {
    queue = await QueueProcess.start();
    const { sink } = queue;
    const flow = { 'Svc-Flow-Control-Key': 'kept', 'Svc-Flow-Control-Value': 'parallelism=2, rate=3, period=1h' };
    const settings = { 'Svc-Retries': '7', 'Svc-Label': 'a,b', 'Svc-Forward-X-Own': '1', 'Svc-Callback': UNREACHABLE };

    expectDone(await queue.post('/v2/queues', { body: { queueName: 'kept', parallelism: 2, paused: true } }));
    const endpoints = [{ url: UNREACHABLE, name: 'one' }, { url: `${UNREACHABLE}/2` }];
    expectDone(await queue.post('/v2/topics/kept/endpoints', { body: { endpoints } }));
    expectDone(await queue.patch('/v2/topics/kept', { body: { headers: { 'Svc-Retries': '5' } } }));
    const schedule = { ...settings, 'Svc-Cron': 'CRON_TZ=Asia/Tokyo 1 1 1 1 *', 'Svc-Schedule-Id': 'kept' };
    await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers: schedule, body: 'of the schedule' });
    expectDone(await queue.patch('/v2/schedules/kept/pause'));
    await queue.publish(sink.url(sink.path()), { headers: flow });
    expectDone(await queue.post('/v2/flowControl/kept/pin?parallelism=9'));
    expectDone(await queue.post('/v2/flowControl/kept/pause'));
    await queue.deadLetterOf(await queue.publish(UNREACHABLE, { headers: { 'Svc-Retries': '0' }, body: 'dead' }));
    const cancelled = await queue.publish(UNREACHABLE, { headers: { 'Svc-Delay': '1h' } });
    expectAnswer(await queue.delete(`/v2/messages/${cancelled}`), 200);
    await queue.eventsOf(cancelled, 'CANCELED');

    expectDone(await queue.post('/v2/destinations/rules', { body: { disableAfterSeconds: 3600 } }));
    expectDone(await queue.post('/v2/destinations/disable', { body: { url: `${UNREACHABLE}/stopped` } }));

    const waiting: string[] = [];
    const answers = [
      await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: { ...settings, 'Svc-Delay': '1h' }, body: 'text' }),
      await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: { 'Svc-Delay': '1h' }, body: Buffer.from([0, 255]) }),
      await queue.post('/v2/publish/kept', { headers: { 'Svc-Delay': '1h' }, body: 'of the group' }),
      await queue.post(`/v2/enqueue/kept/${UNREACHABLE}`, { body: 'of the queue' }),
      await queue.post(`/v2/publish/${UNREACHABLE}`, { headers: flow, body: 'of the key' }),
    ];
    for (const answer of answers) {
      const published = [expectAnswer<PublishedRecord | PublishedRecord[]>(answer, 200)].flat();
      waiting.push(...published.map(({ messageId }) => messageId));
    }
    const once = { headers: { 'Svc-Deduplication-Id': 'kept', 'Svc-Delay': '1h' } };
    const first = expectAnswer<PublishedRecord>(await queue.post(`/v2/publish/${UNREACHABLE}`, once), 200);
    await queue.eventsOf(first.messageId, 'CREATED');
    const messagesOf = () =>
      Promise.all(waiting.map(async (id) => expectAnswer(await queue.get(`/v2/messages/${id}`), 200)));
    const [read, messages] = [await readAll(), await messagesOf()];

    await queue.restart('SIGKILL');
    expect(await messagesOf()).to.deep.equal(messages);
    await eventually(async () => expect(await readAll()).to.deep.equal(read));
    const again = expectAnswer<PublishedRecord>(await queue.post(`/v2/publish/${UNREACHABLE}`, once), 202);
    expect(again.messageId).to.equal(first.messageId);
    expectDone(await queue.post('/v2/flowControl/kept/resume'));
    expectDone(await queue.post('/v2/queues/kept/resume'));
    for (const id of waiting.slice(-2)) await queue.eventsOf(id, 'ERROR');
    const [, , , , ofQueue] = waiting as [string, string, string, string, string];
    expect((await queue.eventsOf(ofQueue, 'ERROR'))[0]).to.include({ queueName: 'kept' });
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`loses no message of a program with the published client that publishes through a ${signal}`, async () => {
      const { client, sink } = queue;
      const path = sink.path('through');
      const ids: string[] = [];
      let isOver = false;
      const program = async () => {
        while (!isOver) {
          // The client gives up after some seconds; the program tries again.
          const published = await client.publishJSON({ url: sink.url(path), body: ids.length }).catch(() => undefined);
          if (published !== undefined) ids.push(published.messageId);
        }
      };
      await quietly(async () => {
        const programs = Promise.all([program(), program(), program(), program()]);
        await eventually(() => expect(ids.length).to.be.above(20));
        await queue.restart(signal);
        const before = ids.length;
        await eventually(() => expect(ids.length).to.be.above(before + 20));
        isOver = true;
        await programs;
      });
      await eventually(
        () => {
          const delivered = new Set(sink.calls(path).map(({ headers }) => headers['upstash-message-id']));
          expect(ids.filter((id) => !delivered.has(id))).to.deep.equal([]);
        },
        { timeoutMs: 30_000 },
      );
    });
  }
});
