/** Requirements of the published JavaScript client, unmodified; a violation would break the client or its tests. */
import { expect } from 'chai';
import { QueueProcess, refusalOf } from '../../support/queue-process.js';
import type { QueueSink } from '../../support/queue-sink.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DAY_SECONDS = 24 * 3600;

describe('client package: @upstash/qstash on a real process', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  let sink: QueueSink;

  before(async () => {
    sink = queue.sink;
  });

  /** A URL that answers every call with 500. */
  const failing = (path = sink.path('failing')) => sink.answer(path, { status: 500, body: 'no' });
  const publishedJson = async (options: Parameters<typeof queue.client.publishJSON>[0]) => {
    const { messageId } = (await queue.client.publishJSON(options)) as { messageId: string };
    return messageId;
  };

  it('1: keeps the destination in the path byte for byte, with its slashes and query', async () => {
    const path = sink.path('raw');
    const url = sink.url(`${path}//a/b%20c?foo=bar&x=%2F`);
    const id = await publishedJson({ url, body: 1 });
    expect(await queue.client.messages.get(id)).to.include({ messageId: id, url });
    const [call] = await sink.arrived(`${path}//a/b%20c`);
    expect(call?.target).to.equal(`${path}//a/b%20c?foo=bar&x=%2F`);
  });

  it('2: answers for a group with a bare array, in publish, enqueue and batch', async () => {
    const endpoints = [sink.path(), sink.path()].map((path) => ({ url: sink.url(path) }));
    await queue.client.urlGroups.addEndpoints({ name: 'arrays', endpoints });
    const urls = endpoints.map(({ url }) => url);
    const published = await queue.client.publishJSON({ urlGroup: 'arrays', body: 1 });
    const enqueued = await queue.client.queue({ queueName: 'arrays' }).enqueueJSON({ urlGroup: 'arrays', body: 1 });
    const [batched] = await queue.client.batchJSON([{ urlGroup: 'arrays', body: 1 }]);
    for (const answer of [published, enqueued, batched]) {
      expect(answer).to.be.an('array');
      expect((answer as { url: string }[]).map(({ url }) => url)).to.deep.equal(urls);
    }
  });

  it('3: lists events under /v2/events, in the member events', async () => {
    const id = await publishedJson({ url: sink.url(sink.path()), body: 1 });
    await queue.eventsOf(id, 'DELIVERED');
    const { events, logs } = await queue.client.logs({ filter: { messageId: id, state: 'DELIVERED' } });
    expect(logs).to.deep.equal(events);
    expect(events).to.have.lengthOf(1);
    expect(events[0]).to.include({ messageId: id, state: 'DELIVERED' });
  });

  it('4: pauses and resumes schedules by PATCH as well as by POST', async () => {
    const { client } = queue;
    const { scheduleId } = await client.schedules.create({ destination: UNREACHABLE, cron: '0 0 1 1 *' });
    const isPaused = async () => (await client.schedules.get(scheduleId)).isPaused;
    await client.schedules.pause({ schedule: scheduleId });
    expect(await isPaused()).to.equal(true);
    await client.schedules.resume({ schedule: scheduleId });
    expect(await isPaused()).to.equal(false);
    expect((await queue.post(`/v2/schedules/${scheduleId}/pause`)).status).to.equal(200);
    expect(await isPaused()).to.equal(true);
    expect((await queue.post(`/v2/schedules/${scheduleId}/resume`)).status).to.equal(200);
    expect(await isPaused()).to.equal(false);
    await client.schedules.delete(scheduleId);
  });

  it('5: reads JSON bodies of DELETE calls together with their queries', async () => {
    const name = 'bodies';
    const endpoints = [
      { url: sink.url('/one'), name: 'one' },
      { url: sink.url('/two'), name: 'two' },
    ];
    await queue.client.urlGroups.addEndpoints({ name, endpoints });
    await queue.client.urlGroups.removeEndpoints({ name, endpoints: [{ name: 'one' }] });
    expect((await queue.client.urlGroups.get(name)).endpoints).to.deep.equal([endpoints[1]]);

    const messageIds = [await publishedJson({ url: UNREACHABLE, body: 1, delay: DAY_SECONDS })];
    const cancelled = await queue.delete('/v2/messages', { body: { messageIds } });
    expect(cancelled).to.deep.include({ status: 200, json: { cancelled: 1 } });

    const dead = await queue.deadLetterOf(await publishedJson({ url: failing(), body: 1, retries: 0 }));
    const deleted = await queue.delete('/v2/dlq', { body: { dlqIds: [dead.dlqId] } });
    expect(deleted).to.deep.include({ status: 200, json: { deleted: 1 } });
  });

  it('6: answers the cancellation of one message with a number', async () => {
    const id = await publishedJson({ url: UNREACHABLE, body: 1, delay: 60 });
    expect(await queue.client.messages.cancel(id)).to.deep.equal({ cancelled: 1 });
    expect(await refusalOf(() => queue.client.messages.get(id))).to.include({ status: 404 });
  });

  it('7: spells CANCELED with one L in events', async () => {
    const id = await publishedJson({ url: UNREACHABLE, body: 1, delay: 60 });
    await queue.client.messages.cancel(id);
    const states = (await queue.eventsOf(id, 'CANCELED')).map(({ state }) => state);
    expect(states).to.deep.equal(['CREATED', 'CANCEL_REQUESTED', 'CANCELED']);
    const { events } = await queue.client.logs({ filter: { messageId: id, state: 'CANCELED' } });
    expect(events).to.have.lengthOf(1);
  });

  describe('8: always shows', () => {
    it('method, maxRetries, notBefore and createdAt of a message', async () => {
      const id = await publishedJson({ url: UNREACHABLE, body: 1, delay: 60 });
      const message = await queue.client.messages.get(id);
      expect(message).to.include({ method: 'POST', maxRetries: 3 });
      expect(message.notBefore).to.equal(message.createdAt + 60_000);
      await queue.client.messages.cancel(id);
    });

    it('responseStatus of a DLQ entry, also without a response', async () => {
      const answered = await queue.deadLetterOf(await publishedJson({ url: failing(), body: 1, retries: 0 }));
      const unanswered = await queue.deadLetterOf(await publishedJson({ url: UNREACHABLE, body: 1, retries: 0 }));
      expect([answered.responseStatus, unanswered.responseStatus]).to.deep.equal([500, 0]);
    });

    it('six fields of a queue', async () => {
      const named = queue.client.queue({ queueName: 'six' });
      await named.upsert({ parallelism: 2 });
      const record = await named.get();
      expect(record).to.have.all.keys('name', 'parallelism', 'paused', 'lag', 'createdAt', 'updatedAt');
      expect(record).to.include({ name: 'six', parallelism: 2, paused: false, lag: 0 });
    });

    it('retries of a schedule', async () => {
      const { scheduleId } = await queue.client.schedules.create({ destination: UNREACHABLE, cron: '0 0 1 1 *' });
      expect(await queue.client.schedules.get(scheduleId)).to.include({ retries: 3, method: 'POST', isPaused: false });
      await queue.client.schedules.delete(scheduleId);
    });
  });

  it('9: shows a period of one second with any flow control, and no limit that was not set', async () => {
    const flowControl = { key: 'one-period', parallelism: 2 };
    const id = await publishedJson({ url: UNREACHABLE, body: 1, delay: 60, flowControl });
    const message = await queue.client.messages.get(id);
    expect(message).to.include({ flowControlKey: 'one-period', parallelism: 2, period: 1 });
    expect(message).not.to.have.property('rate');
    await queue.client.messages.cancel(id);
  });

  it('10: the last page of events, DLQ entries and deletions has no cursor', async () => {
    const dead = await queue.deadLetterOf(await publishedJson({ url: failing(), body: 1, retries: 0 }));
    const filter = { messageId: dead.messageId };
    expect((await queue.client.logs({ filter })).cursor).to.equal(undefined);
    expect((await queue.client.dlq.listMessages({ filter })).cursor).to.equal(undefined);
    expect(await queue.client.dlq.delete({ filter })).to.deep.equal({ deleted: 1 });
  });

  it('11: answers 404 for a missing DLQ entry, and 2xx for a missing group and a missing queue', async () => {
    const dead = await queue.deadLetterOf(await publishedJson({ url: failing(), body: 1, retries: 0 }));
    await queue.client.dlq.delete(dead.dlqId);
    expect(await refusalOf(() => queue.client.dlq.delete(dead.dlqId))).to.include({ status: 404 });
    await queue.client.urlGroups.delete('never-there');
    await queue.client.queue({ queueName: 'never-there' }).delete();
  });

  it('12: refuses an unknown filter with 400 instead of deleting everything', async () => {
    const dead = await queue.deadLetterOf(await publishedJson({ url: failing(), body: 1, retries: 0 }));
    const filter = { mesageId: dead.messageId } as never;
    expect(await refusalOf(() => queue.client.dlq.delete({ filter }))).to.include({ status: 400 });
    expect(await queue.deadLetterOf(dead.messageId)).to.include({ dlqId: dead.dlqId });
  });

  it('13: shows the first label and all labels, on messages, events, DLQ and schedules', async () => {
    const labels = { label: 'red', labels: ['red', 'green'] };
    const label = ['red', 'green'];
    const id = await publishedJson({ url: failing(), body: 1, retries: 0, label });
    expect(
      await queue.client.messages.get(await publishedJson({ url: UNREACHABLE, body: 1, delay: 60, label })),
    ).to.deep.include(labels);
    expect(await queue.deadLetterOf(id)).to.deep.include(labels);
    for (const event of await queue.eventsOf(id, 'FAILED')) expect(event, event.state).to.deep.include(labels);
    const { scheduleId } = await queue.client.schedules.create({ destination: UNREACHABLE, cron: '@yearly', label });
    expect(await queue.client.schedules.get(scheduleId)).to.deep.include(labels);
    await queue.client.schedules.delete(scheduleId);
    expect(await queue.client.messages.cancel({ filter: { label: 'green' } })).to.deep.equal({ cancelled: 1 });
  });

  it('14: shows canonical header names with lists of values, and no header that is not sent', async () => {
    const { scheduleId } = await queue.client.schedules.create({
      destination: UNREACHABLE,
      cron: ' 0 0 1 1 * ',
      headers: { 'test-header': 'a, b', 'bypass-tunnel-reminder': 'x' },
    });
    const { header, cron } = await queue.client.schedules.get(scheduleId);
    expect(cron).to.equal('0 0 1 1 *');
    expect(header).to.deep.equal({
      'Content-Type': ['application/json'],
      'Test-Header': ['a, b'],
      'Bypass-Tunnel-Reminder': ['x'],
    });
    await queue.client.schedules.delete(scheduleId);
  });

  it('15: keeps a delivered message readable, and accepts its cancellation', async () => {
    const path = sink.path();
    const id = await publishedJson({ url: sink.url(path), body: { a: 1 } });
    await sink.call(path);
    await queue.eventsOf(id, 'DELIVERED');
    expect(await queue.client.messages.get(id)).to.include({ messageId: id, body: '{"a":1}' });
    await queue.client.messages.delete(id);
  });

  it('16: lists events within five seconds and dead letters within ten', async () => {
    const from = Date.now();
    const id = await publishedJson({ url: UNREACHABLE, body: 1, retries: 0 });
    await queue.eventsOf(id, 'CREATED');
    expect(Date.now() - from).to.be.below(5_000);
    await queue.deadLetterOf(id);
    expect(Date.now() - from).to.be.below(10_000);
  });

  it('17: reads "True" as true, and null in a batch as absent', async () => {
    const headers = { 'Upstash-Content-Based-Deduplication': 'True' };
    const destination = sink.url(sink.path());
    const item = { destination, headers, body: null, queue: null };
    const { status, json } = await queue.post('/v2/batch', { body: [item, item] });
    expect(status).to.equal(200);
    const [first, second] = json as { messageId: string; deduplicated?: boolean }[];
    expect(second).to.include({ messageId: first?.messageId, deduplicated: true });
    const message = await queue.client.messages.get(first?.messageId as string);
    expect(message).not.to.have.any.keys('body', 'queueName');
  });

  it('18: gives events both names of the response headers and of the retry delay', async () => {
    const url = sink.answer(sink.path(), { status: 500, headers: { 'X-Why': 'because' } });
    const id = await publishedJson({ url, body: 1, retries: 0, retryDelay: '1000 * (1 + retried)' });
    const error = (await queue.eventsOf(id, 'ERROR')).find(({ state }) => state === 'ERROR');
    expect(error).to.include({ retryDelayExpression: '1000 * (1 + retried)', retryDelayExpr: '1000 * (1 + retried)' });
    expect(error?.responseHeaders).to.deep.include({ 'X-Why': ['because'] });
    expect(error?.responseHeader).to.deep.equal(error?.responseHeaders);
  });

  it('19: accepts destinations that cannot be resolved, and loopback destinations', async () => {
    const nowhere = await publishedJson({ url: 'http://nowhere.invalid/x', body: 1, retries: 0 });
    expect(await queue.deadLetterOf(nowhere)).to.include({ url: 'http://nowhere.invalid/x', responseStatus: 0 });
    const path = sink.path();
    await publishedJson({ url: sink.url(path).replace('127.0.0.1', 'localhost'), body: 1 });
    await sink.call(path);
  });

  it('20: answers a bulk retry with the new message of each entry', async () => {
    const path = sink.path('twice');
    sink.answer(path, { status: 500 }, { status: 500 }, { status: 200 });
    const ids = [1, 2].map((body) => publishedJson({ url: sink.url(path), body, retries: 0 }));
    const dead = await Promise.all((await Promise.all(ids)).map((id) => queue.deadLetterOf(id)));
    const { responses, cursor } = await queue.client.dlq.retry(dead.map(({ dlqId }) => dlqId));
    expect(responses).to.have.lengthOf(2);
    expect(cursor).to.equal(undefined);
    for (const { messageId } of responses) {
      expect(dead.map((entry) => entry.messageId)).not.to.include(messageId);
      await queue.eventsOf(messageId, 'DELIVERED');
    }
    expect((await sink.arrived(path, 4)).map(({ body }) => body).slice(2)).to.have.members(['1', '2']);
  });

  it('21: accepts ten days of delay, five retries, a period of a day, and several queues, groups and schedules', async () => {
    const { client } = queue;
    const flowControl = { key: 'daily', rate: 10, period: '1d' as const };
    const id = await publishedJson({ url: UNREACHABLE, body: 1, delay: '10d', retries: 5, flowControl });
    expect(await client.messages.get(id)).to.include({ maxRetries: 5, period: DAY_SECONDS, rate: 10 });
    await client.messages.cancel(id);
    const names = ['first', 'second', 'third', 'fourth'];
    for (const name of names) {
      await client.queue({ queueName: name }).upsert({ parallelism: 1 });
      await client.urlGroups.addEndpoints({ name, endpoints: [{ url: UNREACHABLE }] });
      await client.schedules.create({ scheduleId: name, destination: UNREACHABLE, cron: '@yearly' });
    }
    expect((await client.queue().list()).map(({ name }) => name)).to.include.members(names);
    expect((await client.urlGroups.list()).map(({ name }) => name)).to.include.members(names);
    expect((await client.schedules.list()).map(({ scheduleId }) => scheduleId)).to.include.members(names);
    for (const name of names) await client.schedules.delete(name);
  });
});
