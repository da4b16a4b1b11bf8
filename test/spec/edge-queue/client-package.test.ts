/** The published queue client, unmodified, against the queue endpoint with the real engine. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { MemoryQueue } from '../../support/memory-queue.js';
import { QUEUE_ACCOUNT, QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { LIMITS } from '../../support/queue-settings.js';

const ALIAS = { headerWord: 'Upstash', queueWord: 'qstash', kvWord: 'redis' };
const KEYS = { current: 'sig_current', next: 'sig_next' };
/** A delay in seconds that is longer than the test. */
const LATER = 600;

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

describe('edge/queue: the npm client, unmodified', () => {
  const received: Received[] = [];
  let sink: http.Server;
  let target: string;
  let queue: MemoryQueue;
  let face: QueueEndpointHarness;
  let client: Client;

  before(async () => {
    sink = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        received.push({ method, path: url, headers, body });
        response.statusCode = url.startsWith('/fail') ? 500 : 200;
        response.end('seen');
      });
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    target = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
    const terms = { state: 'active', limits: LIMITS, centsPer100kMessages: 0 } as const;
    queue = new MemoryQueue({ account: QUEUE_ACCOUNT, terms, keys: KEYS, alias: ALIAS });
    face = await new QueueEndpointHarness({ gateway: queue, messageLog: queue, aliases: [ALIAS] }).start();
    client = new Client({ baseUrl: face.url, token: QUEUE_TOKEN, retry: false });
  });
  after(async () => {
    await face.stop();
    await queue.close();
    await new Promise((resolve) => sink.close(resolve));
  });
  beforeEach(() => {
    received.length = 0;
  });

  const arrived = (path: string) =>
    eventually(() => {
      const found = received.find((request) => request.path === path);
      expect(found, `a request to ${path}`).not.to.equal(undefined);
      return found as Received;
    });
  const statusOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 200,
      (error: { status?: number }) => error.status,
    );

  it('publishes JSON, which arrives unchanged with a signature that its receiver accepts', async () => {
    const url = `${target}/plain?a=b`;
    const { messageId } = await client.publishJSON({ url, body: { hello: 'world' }, headers: { 'x-mine': '1' } });
    const request = await arrived('/plain?a=b');
    expect(request.method).to.equal('POST');
    expect(JSON.parse(request.body)).to.deep.equal({ hello: 'world' });
    expect(request.headers).to.include({ 'x-mine': '1', 'upstash-message-id': messageId, 'upstash-retried': '0' });
    const receiver = new Receiver({ currentSigningKey: KEYS.current, nextSigningKey: KEYS.next });
    const signature = String(request.headers['upstash-signature']);
    expect(await receiver.verify({ signature, body: request.body, url })).to.equal(true);
  });

  it('reads a message, also right after its delivery', async () => {
    const { messageId } = await client.publishJSON({ url: `${target}/back?x=1`, body: 1, label: 'one' });
    await arrived('/back?x=1');
    const message = await client.messages.get(messageId);
    expect(message).to.deep.include({ messageId, url: `${target}/back?x=1`, method: 'POST', body: '1', maxRetries: 3 });
    expect(message.header).to.deep.equal({ 'Content-Type': ['application/json'] });
  });

  it('recognises a duplicate', async () => {
    const once = { url: `${target}/once`, body: 'a', deduplicationId: 'the-same' };
    const first = await client.publish(once);
    const second = await client.publish(once);
    expect(second).to.deep.include({ messageId: first.messageId, deduplicated: true });
  });

  it('sends a batch to URLs, groups and queues', async () => {
    await client.urlGroups.addEndpoints({
      name: 'batched',
      endpoints: [{ url: `${target}/g1` }, { url: `${target}/g2` }],
    });
    const answers = await client.batchJSON([
      { url: `${target}/b1`, body: { n: 1 } },
      { urlGroup: 'batched', body: { n: 2 } },
      { url: `${target}/b3`, body: { n: 3 }, queueName: 'batch-queue' },
    ]);
    expect(answers).to.have.lengthOf(3);
    expect(answers[1]).to.be.an('array').with.lengthOf(2);
    for (const path of ['/b1', '/g1', '/g2', '/b3']) await arrived(path);
  });

  it('sets, reads and deletes URL groups', async () => {
    const endpoints = [{ name: 'one', url: `${target}/u1` }, { url: `${target}/u2` }];
    await client.urlGroups.addEndpoints({ name: 'kept', endpoints });
    expect((await client.urlGroups.get('kept')).endpoints).to.deep.equal(endpoints);
    const published = await client.publishJSON({ urlGroup: 'kept', body: {} });
    expect(published).to.be.an('array').with.lengthOf(2);
    await client.urlGroups.removeEndpoints({ name: 'kept', endpoints: [{ name: 'one' }] });
    expect((await client.urlGroups.list()).find(({ name }) => name === 'kept')?.endpoints).to.have.lengthOf(1);
    await client.urlGroups.delete('kept');
    expect(await statusOf(client.urlGroups.get('kept'))).to.equal(404);
  });

  it('sets, pauses and resumes queues', async () => {
    const mine = client.queue({ queueName: 'mine' });
    await mine.upsert({ parallelism: 2 });
    expect(await mine.get()).to.include({ name: 'mine', parallelism: 2, lag: 0, paused: false });
    await mine.pause();
    await mine.enqueueJSON({ url: `${target}/queued`, body: {} });
    expect(await mine.get()).to.include({ lag: 1, paused: true });
    await mine.resume();
    await arrived('/queued');
    expect((await mine.list()).map(({ name }) => name)).to.include('mine');
    await mine.delete();
    expect(await statusOf(mine.get())).to.equal(404);
  });

  it('sets, replaces, pauses and resumes schedules', async () => {
    const destination = `${target}/tick`;
    const { scheduleId } = await client.schedules.create({ destination, cron: '0 0 1 1 * ', body: '{}', retries: 1 });
    expect(await client.schedules.get(scheduleId)).to.deep.include({
      scheduleId,
      cron: '0 0 1 1 *',
      destination,
      method: 'POST',
      retries: 1,
      body: '{}',
      isPaused: false,
      header: { 'Content-Type': ['application/json'] },
    });
    await client.schedules.pause({ schedule: scheduleId });
    expect((await client.schedules.get(scheduleId)).isPaused).to.equal(true);
    await client.schedules.resume({ schedule: scheduleId });
    await client.schedules.create({ destination, cron: '0 0 2 1 *', scheduleId });
    const replaced = await client.schedules.get(scheduleId);
    expect(replaced).to.include({ cron: '0 0 2 1 *', isPaused: false });
    expect(replaced).not.to.have.property('body');
    expect((await client.schedules.list()).map((each) => each.scheduleId)).to.include(scheduleId);
    await client.schedules.delete(scheduleId);
    expect(await statusOf(client.schedules.get(scheduleId))).to.equal(404);
  });

  it('lists, retries and deletes dead letters', async () => {
    const failing = { url: `${target}/fail`, body: { n: 1 }, retries: 0, label: 'lost' };
    const { messageId } = await client.publishJSON(failing);
    const filter = { label: 'lost' };
    const [entry] = await eventually(async () => {
      const { messages, cursor } = await client.dlq.listMessages({ filter });
      expect(messages).to.have.lengthOf(1);
      expect(cursor).to.equal(undefined);
      return messages;
    });
    expect(entry).to.include({ messageId, responseStatus: 500, responseBody: 'seen' });
    const { dlqId } = entry as { dlqId: string };
    const { responses } = await client.dlq.retry(dlqId);
    expect(responses).to.have.lengthOf(1);
    expect(responses[0]?.messageId).to.match(/^msg_/).and.not.to.equal(messageId);
    expect(await statusOf(client.dlq.delete(dlqId))).to.equal(404);
    await eventually(async () => expect((await client.dlq.listMessages({ filter })).messages).to.have.lengthOf(1));
    expect(await client.dlq.delete({ filter })).to.deep.equal({ deleted: 1 });
    expect(await statusOf(client.dlq.delete({ filter: { lable: 'typo' } as never }))).to.equal(400);
  });

  it('cancels one message, several ones, and those of a filter, with exact counts', async () => {
    const delayed = (label: string) => client.publishJSON({ url: `${target}/never`, body: {}, delay: LATER, label });
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push((await delayed('cancelled')).messageId);
    expect(await client.messages.cancel(ids[0] as string)).to.deep.equal({ cancelled: 1 });
    expect(await statusOf(client.messages.get(ids[0] as string))).to.equal(404);
    expect(await client.messages.cancel([ids[1] as string])).to.deep.equal({ cancelled: 1 });
    expect(await client.messages.cancel({ filter: { label: 'cancelled', host: new URL(target).host } })).to.deep.equal({
      cancelled: 1,
    });
    await delayed('rest');
    expect(await client.messages.cancel({ all: true })).to.deep.equal({ cancelled: 1 });
    expect(received.map(({ path }) => path)).not.to.include('/never');
  });

  it('reads the logs', async () => {
    const { messageId } = await client.publishJSON({ url: `${target}/logged`, body: {}, label: 'logged' });
    await eventually(async () => {
      const { logs } = await client.logs({ filter: { messageId, state: 'DELIVERED' } });
      expect(logs).to.have.lengthOf(1);
    });
    const { logs, cursor } = await client.logs({ filter: { label: 'logged' } });
    expect(logs.map(({ state }) => state)).to.deep.equal(['DELIVERED', 'ACTIVE', 'CREATED']);
    expect(logs.every(({ label }) => label === 'logged')).to.equal(true);
    expect(cursor).to.equal(undefined);
  });

  it('controls a flow-control key', async () => {
    const key = 'a-key';
    const flowControl = { key, parallelism: 2, rate: 5, period: '1m' } as const;
    const { messageId } = await client.publishJSON({ url: `${target}/flow`, body: {}, flowControl });
    expect(await client.flowControl.get(key)).to.deep.include({
      flowControlKey: key,
      parallelismMax: 2,
      rateMax: 5,
      ratePeriod: 60,
      rateCount: 1,
      isPaused: false,
    });
    await client.flowControl.pause(key);
    expect((await client.flowControl.get(key)).isPaused).to.equal(true);
    await client.flowControl.resume(key);
    await client.flowControl.pin(key, { parallelism: 7 });
    expect(await client.flowControl.get(key)).to.include({ parallelismMax: 7, isPinnedParallelism: true });
    await client.flowControl.unpin(key, { parallelism: true });
    await client.flowControl.resetRate(key);
    expect((await client.flowControl.get(key)).rateCount).to.equal(0);
    expect((await client.flowControl.getGlobalParallelism()).parallelismMax).to.equal(LIMITS.maxGlobalParallelism);
    await arrived('/flow');
    expect(await client.messages.cancel(messageId)).to.deep.equal({ cancelled: 1 });
  });

  it('receives callbacks in the spelling of the client', async () => {
    const { messageId } = await client.publishJSON({
      url: `${target}/called`,
      body: { a: 1 },
      callback: `${target}/callback`,
    });
    const callback = JSON.parse((await arrived('/callback')).body);
    expect(callback).to.include({ status: 200, sourceMessageId: messageId, retried: 0 });
    expect(Buffer.from(callback.body, 'base64').toString()).to.equal('seen');
    expect((await arrived('/callback')).headers).to.have.property('upstash-signature');
  });
});
