/** The calls that a destination receives, and the records of them: one real process, one real destination. */
import { randomBytes } from 'node:crypto';
import { Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { PublishedReceivers } from '../../support/published-receivers.js';
import { QUEUE_TOKEN, QueueProcess, SIGNING_KEYS } from '../../support/queue-process.js';
import type { SinkCall } from '../../support/queue-sink.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const EVERY_MINUTE = '* * * * *';
/** e^2.5 seconds. */
const FIRST_BACKOFF_MS = 12_182;
const MINUTE_MS = 60_000;

type Headers = Readonly<Record<string, string>>;

describe('deliveries of the queue', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  let tickPath: string;
  let aliasTickPath: string;
  let pausedPath: string;

  before(async () => {
    // The schedules tick while the other tests run.
    tickPath = queue.sink.path('tick');
    aliasTickPath = queue.sink.path('alias-tick');
    pausedPath = queue.sink.path('paused-tick');
    for (const [id, path, word] of [
      ['ticking', tickPath, 'Svc'],
      ['alias-ticking', aliasTickPath, 'Upstash'],
      ['paused', pausedPath, 'Svc'],
    ] as const) {
      const headers = { [`${word}-Cron`]: EVERY_MINUTE, [`${word}-Schedule-Id`]: id };
      expect((await queue.post(`/v2/schedules/${queue.sink.url(path)}`, { headers, body: id })).status).to.equal(200);
    }
    expect((await queue.patch('/v2/schedules/paused/pause')).status).to.equal(200);
  });

  const publish = (url: string, headers: Headers = {}, body: string | Buffer = 'b') =>
    queue.publish(url, { headers, body });
  const enqueue = async (name: string, url: string, headers: Headers = {}, body = 'b') => {
    const { status, json, text } = await queue.post(`/v2/enqueue/${name}/${url}`, { headers, body });
    expect(status, text).to.equal(200);
    return (json as { messageId: string }).messageId;
  };
  const messageOf = async (id: string) => (await queue.get(`/v2/messages/${id}`)).json as Record<string, unknown>;
  const statesOf = async (id: string, until: string) => (await queue.eventsOf(id, until)).map(({ state }) => state);
  /** From a failure to the attempt that follows it. */
  const delayOf = async (id: string) => {
    const retry = (await queue.eventsOf(id, 'RETRY')).find(({ state }) => state === 'RETRY');
    return (retry?.nextDeliveryTime as number) - (retry?.time as number);
  };
  /** Waits for the complete delivery of another message; earlier work is done by then. */
  const fence = async () => {
    const path = queue.sink.path('fence');
    await publish(queue.sink.url(path));
    await queue.sink.call(path);
  };

  describe('a call', () => {
    it('has the published body byte for byte and a valid signature, for 1 MiB of random bytes, text and an empty body', async () => {
      const receiver = new Receiver({ currentSigningKey: SIGNING_KEYS.current, nextSigningKey: SIGNING_KEYS.next });
      for (const body of [randomBytes(1024 * 1024), Buffer.from('ü'.repeat(1000)), Buffer.alloc(0)]) {
        const path = queue.sink.path('bytes');
        await publish(queue.sink.url(path), { 'Upstash-Retries': '0' }, body);
        const { bytes, headers } = await queue.sink.call(path);
        expect(bytes.equals(body)).to.equal(true);
        const signature = headers['upstash-signature'] as string;
        // The published receiver reads bodies as text.
        if (body.length > 10_000) continue;
        expect(await receiver.verify({ signature, body: body.toString(), url: queue.sink.url(path) })).to.equal(true);
      }
    });

    it('has the header names of the alias, for each spelling of the publisher', async () => {
      const [neutral, alias] = [queue.sink.path('neutral'), queue.sink.path('alias')];
      await publish(queue.sink.url(neutral), { 'Svc-Forward-Svc-Own': '1' });
      await publish(queue.sink.url(alias), { 'Upstash-Forward-Upstash-Own': '1' });
      const told = async (path: string) =>
        Object.keys((await queue.sink.call(path)).headers)
          .filter((name) => /^(svc|upstash)-/.test(name))
          .sort();
      const own = ['caller-ip', 'message-id', 'own', 'retried', 'signature'];
      expect(await told(neutral)).to.deep.equal(own.map((name) => `upstash-${name}`));
      expect(await told(alias)).to.deep.equal(own.map((name) => `upstash-${name}`));
    });

    it('of a webhook forwards all headers except the token, with settings from the query', async () => {
      const path = queue.sink.path('webhook');
      const token = encodeURIComponent(QUEUE_TOKEN);
      const query = `a=1&msgq_token=${token}&svc-header-forward=true&b=2&svc-retries=7&svc-label=hook`;
      const headers = { 'X-Hook-Event': 'push', 'X-Hook-Signature': 'sha256=abc', 'Content-Type': 'text/x-hook' };
      const target = `/v2/publish/${queue.sink.url(path)}?${query}`;
      const { status, json } = await queue.post(target, { token: null, headers, body: 'hook' });
      expect(status).to.equal(200);
      const call = await queue.sink.call(path);
      expect(call).to.include({ target: `${path}?a=1&b=2`, body: 'hook' });
      expect(call.headers).to.include({ 'x-hook-event': 'push', 'x-hook-signature': 'sha256=abc' });
      expect(call.headers).to.include({ 'content-type': 'text/x-hook' });
      expect(call.headers).not.to.have.any.keys('authorization', 'svc-retries', 'svc-label');
      expect(JSON.stringify(call.headers)).not.to.contain(QUEUE_TOKEN);
      expect(await messageOf((json as { messageId: string }).messageId)).to.include({ maxRetries: 7, label: 'hook' });
    });

    it('counts its retries in a header, with the same message id', async () => {
      const path = queue.sink.path('retried');
      const url = queue.sink.answer(path, { status: 500 }, { status: 429 }, { status: 301 }, { status: 204 });
      const id = await publish(url, { 'Svc-Retry-Delay': '1' });
      const calls = await queue.sink.arrived(path, 4);
      expect(calls.map(({ headers }) => headers['upstash-retried'])).to.deep.equal(['0', '1', '2', '3']);
      expect(new Set(calls.map(({ headers }) => headers['upstash-message-id']))).to.deep.equal(new Set([id]));
      expect(await statesOf(id, 'DELIVERED')).to.deep.equal(
        'CREATED ACTIVE ERROR RETRY ACTIVE ERROR RETRY ACTIVE ERROR RETRY ACTIVE DELIVERED'.split(' '),
      );
    });

    it('does not follow a redirect', async () => {
      const [path, elsewhere] = [queue.sink.path('redirect'), queue.sink.path('elsewhere')];
      const url = queue.sink.answer(path, { status: 307, headers: { Location: queue.sink.url(elsewhere) } });
      const id = await publish(url, { 'Svc-Retries': '0' });
      expect(await queue.deadLetterOf(id)).to.include({ responseStatus: 307 });
      expect(queue.sink.calls(elsewhere)).to.have.lengthOf(0);
    });

    it('fails after the timeout of its message', async () => {
      const path = queue.sink.path('late');
      queue.sink.hold(path);
      const id = await publish(queue.sink.url(path), { 'Svc-Timeout': '1s', 'Svc-Retries': '0' });
      const error = (await queue.eventsOf(id, 'FAILED')).find(({ state }) => state === 'ERROR');
      expect(error)
        .to.include({ responseStatus: 0 })
        .and.to.have.property('error')
        .that.matches(/timed out/);
      queue.sink.release(path);
    });

    it('may complete after its message was cancelled, and is not retried', async () => {
      const path = queue.sink.path('cancelled');
      queue.sink.answer(path, { status: 500 });
      queue.sink.hold(path);
      const id = await publish(queue.sink.url(path), { 'Svc-Retry-Delay': '1' });
      await queue.sink.call(path);
      expect((await queue.delete(`/v2/messages/${id}`)).json).to.deep.equal({ cancelled: 1 });
      expect((await queue.get(`/v2/messages/${id}`)).status).to.equal(404);
      queue.sink.release(path);
      expect(await statesOf(id, 'CANCELED'))
        .to.include('CANCEL_REQUESTED')
        .and.not.include('RETRY');
      await fence();
      await queue.sink.arrived(path, 1);
    });
  });

  describe('the time of a call', () => {
    it('is the Not-Before instant, even with a Delay header', async () => {
      const at = Math.floor(Date.now() / 1000) + 3600;
      const id = await publish(UNREACHABLE, { 'Svc-Not-Before': String(at), 'Svc-Delay': '5d' });
      expect((await messageOf(id)).notBefore).to.equal(at * 1000);
      await queue.delete(`/v2/messages/${id}`);
    });

    it('is after the Delay', async () => {
      const path = queue.sink.path('delayed');
      const id = await publish(queue.sink.url(path), { 'Svc-Delay': '1s' });
      const { createdAt, notBefore } = await messageOf(id);
      expect(notBefore).to.equal((createdAt as number) + 1000);
      expect((await queue.sink.call(path)).atMs).to.be.at.least(notBefore as number);
    });

    it("of a retry follows the backoff, or the message's Retry-Delay expression", async () => {
      const url = queue.sink.answer(queue.sink.path('backoff'), { status: 500 });
      expect(await delayOf(await publish(url))).to.equal(FIRST_BACKOFF_MS);
      const own = await publish(url, { 'Svc-Retry-Delay': 'max(60000, pow(2, retried) * 100)' });
      expect(await delayOf(own)).to.equal(MINUTE_MS);
    });

    const ahead = (ms: number) => new Date(Math.ceil((Date.now() + ms) / 1000) * 1000).toUTCString();
    const forms: [string, () => string, number, number][] = [
      ['seconds', () => '90', 90_000, 0],
      ['a date', () => ahead(10 * MINUTE_MS), 10 * MINUTE_MS, 5_000],
      ['minutes and seconds', () => '6m5s', 365_000, 0],
      ['milliseconds', () => '45000ms', 45_000, 0],
      ['microseconds', () => '31000000µs', 31_000, 0],
      ['a day', () => '24h', 24 * 60 * MINUTE_MS, 0],
      ['more than a day', () => '24h1s', FIRST_BACKOFF_MS, 0],
      ['more than a day in seconds', () => '86401', FIRST_BACKOFF_MS, 0],
      ['an invalid time', () => 'soon', FIRST_BACKOFF_MS, 0],
    ];
    for (const name of ['Retry-After', 'X-RateLimit-Reset', 'X-RateLimit-Reset-Requests', 'X-RateLimit-Reset-Tokens']) {
      it(`of a retry follows the destination's ${name}, up to a day`, async () => {
        const rows = await Promise.all(
          forms.map(async ([form, value, wantedMs, slackMs]) => {
            const headers = { [name]: Buffer.from(value(), 'utf8').toString('latin1') };
            const id = await publish(queue.sink.answer(queue.sink.path('asked'), { status: 429, headers }));
            return { form, delayMs: await delayOf(id), wantedMs, slackMs };
          }),
        );
        for (const { form, delayMs, wantedMs, slackMs } of rows) {
          expect(delayMs, form).to.be.closeTo(wantedMs, slackMs);
        }
      });

      it(`of a retry is immediate when ${name} is 0`, async () => {
        const path = queue.sink.path('at-once');
        await publish(queue.sink.answer(path, { status: 429, headers: { [name]: '0' } }, { status: 200 }));
        await queue.sink.arrived(path, 2);
      });
    }

    it('never comes after a NonRetryable-Error answer: the message goes to the DLQ', async () => {
      for (const name of ['Svc-NonRetryable-Error', 'Upstash-NonRetryable-Error']) {
        const url = queue.sink.answer(queue.sink.path('never'), { status: 489, headers: { [name]: 'true' } });
        const id = await publish(url, { 'Svc-Retries': '5' });
        expect(await queue.deadLetterOf(id)).to.include({ responseStatus: 489, maxRetries: 5 });
        expect(await statesOf(id, 'FAILED')).to.deep.equal(['CREATED', 'ACTIVE', 'ERROR', 'FAILED']);
      }
      const plain = await publish(queue.sink.answer(queue.sink.path('never'), { status: 489 }));
      expect(await delayOf(plain)).to.equal(FIRST_BACKOFF_MS);
    });
  });

  describe('callbacks', () => {
    const parsed = (body: string) => JSON.parse(body) as Record<string, unknown>;

    it('are sent after each attempt until the delivery, with their own options', async () => {
      const [path, after] = [queue.sink.path('work'), queue.sink.path('after')];
      const url = queue.sink.answer(path, { status: 500, body: 'bad' }, { status: 201, body: 'good' });
      const id = await publish(url, {
        'Svc-Retry-Delay': '1',
        'Svc-Callback': queue.sink.url(after),
        'Svc-Callback-Method': 'PUT',
        'Svc-Callback-Forward-X-Own': 'of the callback',
        'Svc-Forward-X-Own': 'of the message',
      });
      const calls = await queue.sink.arrived(after, 2);
      const bodies = calls.map(({ body }) => parsed(body)).sort((a, b) => Number(a.retried) - Number(b.retried));
      expect(bodies.map(({ status, retried }) => [status, retried])).to.deep.equal([
        [500, 0],
        [201, 1],
      ]);
      for (const { method, headers } of calls) {
        expect(method).to.equal('PUT');
        expect(headers).to.include({ 'x-own': 'of the callback', 'content-type': 'application/json' });
        expect(headers['upstash-message-id']).not.to.equal(id);
        const events = await queue.eventsOf(headers['upstash-message-id'] as string, 'DELIVERED');
        expect(events[0]).to.include({ url: queue.sink.url(after) });
      }
      expect(bodies[0]).to.include({ sourceMessageId: id, url, method: 'POST', maxRetries: 3, callerIP: '127.0.0.1' });
    });

    it('have status 0 when there was no response', async () => {
      const [after, failed] = [queue.sink.path('after'), queue.sink.path('failed')];
      const id = await publish(UNREACHABLE, {
        'Svc-Retries': '0',
        'Svc-Callback': queue.sink.url(after),
        'Svc-Failure-Callback': queue.sink.url(failed),
      });
      expect(parsed((await queue.sink.call(after)).body)).to.deep.include({ status: 0, header: {}, body: '' });
      const { dlqId } = await queue.deadLetterOf(id);
      expect(parsed((await queue.sink.call(failed)).body)).to.deep.include({ status: 0, dlqId, sourceMessageId: id });
    });

    it('name the group and the endpoint', async () => {
      const [path, after] = [queue.sink.path('member'), queue.sink.path('after')];
      const endpoints = [{ url: queue.sink.url(path), name: 'member' }];
      await queue.post('/v2/topics/named/endpoints', { body: { endpoints } });
      await queue.post('/v2/publish/named', { headers: { 'Svc-Callback': queue.sink.url(after) }, body: 'b' });
      expect((await queue.sink.call(path)).headers).to.include({ 'upstash-topic-name': 'named' });
      const body = parsed((await queue.sink.call(after)).body);
      expect(body).to.include({ topicName: 'named', endpointName: 'member', status: 200 });
    });

    it('that fail go to the DLQ', async () => {
      const label = 'of-a-callback';
      await publish(queue.sink.url(queue.sink.path()), {
        'Svc-Callback': UNREACHABLE,
        'Svc-Callback-Retries': '0',
        'Svc-Callback-Label': label,
      });
      await eventually(async () => {
        const { json } = await queue.get(`/v2/dlq?label=${label}`);
        const [entry] = (json as { messages: Record<string, unknown>[] }).messages;
        expect(entry).to.include({ url: UNREACHABLE });
      });
    });
  });

  describe('a queue', () => {
    it('delivers one message after the other, and waits for retries and callbacks', async () => {
      const [first, after, second] = [queue.sink.path('first'), queue.sink.path('after'), queue.sink.path('second')];
      queue.sink.answer(first, { status: 500 }, { status: 200 });
      queue.sink.hold(after);
      const headers = { 'Svc-Retry-Delay': '1', 'Svc-Callback': queue.sink.url(after) };
      const id = await enqueue('strict', queue.sink.url(first), headers);
      const next = await enqueue('strict', queue.sink.url(second));
      await queue.sink.arrived(first, 2);
      await queue.sink.arrived(after, 2);
      await queue.eventsOf(id, 'DELIVERED');
      await fence();
      expect(queue.sink.calls(second)).to.have.lengthOf(0);
      expect(await statesOf(next, 'CREATED')).to.deep.equal(['CREATED']);
      expect((await queue.get('/v2/queues/strict')).json).to.include({ lag: 1 });
      queue.sink.releaseOne(after);
      await fence();
      expect(queue.sink.calls(second)).to.have.lengthOf(0);
      queue.sink.release(after);
      await queue.sink.call(second);
    });

    it('delivers the next message after the failure callback of a failed one is finished', async () => {
      const [after, second] = [queue.sink.path('after'), queue.sink.path('second')];
      queue.sink.hold(after);
      const headers = { 'Svc-Retries': '0', 'Svc-Failure-Callback': queue.sink.url(after) };
      await queue.deadLetterOf(await enqueue('failing', UNREACHABLE, headers));
      await enqueue('failing', queue.sink.url(second));
      await queue.sink.call(after);
      await fence();
      expect(queue.sink.calls(second)).to.have.lengthOf(0);
      queue.sink.release(after);
      await queue.sink.call(second);
    });

    it('has at most as many open calls as its parallelism', async () => {
      await queue.post('/v2/queues', { body: { queueName: 'wide', parallelism: 3 } });
      const path = queue.sink.path('wide');
      queue.sink.hold(path);
      for (let n = 0; n < 6; n += 1) await enqueue('wide', queue.sink.url(path), {}, String(n));
      expect((await queue.sink.arrived(path, 3)).map(({ body }) => body)).to.have.members(['0', '1', '2']);
      await fence();
      queue.sink.releaseOne(path);
      await queue.sink.arrived(path, 4);
      queue.sink.release(path);
      await queue.sink.arrived(path, 6);
      expect(queue.sink.mostAtOnce(path)).to.equal(3);
    });
  });

  describe('a flow-control key', () => {
    const flow = (key: string, value: string) => ({ 'Svc-Flow-Control-Key': key, 'Svc-Flow-Control-Value': value });

    it('starts at most its rate of calls in a period, over all destinations', async () => {
      const paths = [queue.sink.path('rate'), queue.sink.path('rate')] as const;
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) {
        ids.push(await publish(queue.sink.url(paths[n % 2] as string), flow('rated', 'rate=2, period=1s')));
      }
      const starts: number[] = [];
      for (const id of ids) {
        const active = (await queue.eventsOf(id, 'DELIVERED')).find(({ state }) => state === 'ACTIVE');
        starts.push(active?.time as number);
      }
      starts.sort((a, b) => a - b);
      expect((starts[2] as number) - (starts[0] as number)).to.be.at.least(1000);
      expect((starts[4] as number) - (starts[2] as number)).to.be.at.least(1000);
    });

    it('has at most as many open calls as its parallelism', async () => {
      const path = queue.sink.path('parallel');
      queue.sink.hold(path);
      for (let n = 0; n < 4; n += 1) await publish(queue.sink.url(path), flow('narrow', 'parallelism=2'));
      await queue.sink.arrived(path, 2);
      expect((await queue.get('/v2/flowControl/narrow')).json).to.include({ waitListSize: 2, parallelismCount: 2 });
      await fence();
      queue.sink.releaseOne(path);
      await queue.sink.arrived(path, 3);
      queue.sink.release(path);
      await queue.sink.arrived(path, 4);
      expect(queue.sink.mostAtOnce(path)).to.equal(2);
    });

    it('starts no call while it is paused or has used its rate, while other keys do', async () => {
      const [paused, spent] = [queue.sink.path('paused'), queue.sink.path('spent')];
      await queue.post('/v2/flowControl/stopped/pause');
      await publish(queue.sink.url(paused), flow('stopped', 'parallelism=1'));
      for (let n = 0; n < 2; n += 1) await publish(queue.sink.url(spent), flow('spent', 'rate=1, period=1h'));
      await queue.sink.arrived(spent, 1);
      await fence();
      expect(queue.sink.calls(paused)).to.have.lengthOf(0);
      expect((await queue.get('/v2/flowControl/spent')).json).to.include({ rateCount: 1, waitListSize: 1 });
      await queue.post('/v2/flowControl/spent/resetRate');
      await queue.post('/v2/flowControl/stopped/resume');
      await queue.sink.arrived(spent, 2);
      await queue.sink.call(paused);
    });

    it('follows a pin until the first message after unpin', async () => {
      const path = queue.sink.path('pinned');
      queue.sink.hold(path);
      await queue.post('/v2/flowControl/pinned/pin?parallelism=1');
      for (let n = 0; n < 3; n += 1) await publish(queue.sink.url(path), flow('pinned', 'parallelism=3'));
      await queue.sink.arrived(path, 1);
      await fence();
      await queue.post('/v2/flowControl/pinned/unpin?parallelism=true');
      await fence();
      expect(queue.sink.calls(path)).to.have.lengthOf(1);
      await publish(queue.sink.url(path), flow('pinned', 'parallelism=4'));
      await queue.sink.arrived(path, 4);
      queue.sink.release(path);
    });
  });

  describe('deduplication', () => {
    it('keeps one message for one id on any destination, and for one content on one destination', async () => {
      const [path, other] = [queue.sink.path('once'), queue.sink.path('once')];
      const sent = async (to: string, headers: Headers, body: string) => {
        const { status, json } = await queue.post(`/v2/publish/${queue.sink.url(to)}`, { headers, body });
        return { status, ...(json as { messageId: string }) };
      };
      const byId = { 'Svc-Deduplication-Id': 'any-destination' };
      const first = await sent(path, byId, 'a');
      expect(await sent(other, byId, 'b')).to.include({ status: 202, messageId: first.messageId, deduplicated: true });
      await queue.sink.arrived(path, 1);
      const byContent = { 'Svc-Content-Based-Deduplication': 'true', 'Svc-Forward-X': '1' };
      const statuses = [
        await sent(path, byContent, 'c'),
        await sent(path, byContent, 'c'),
        await sent(path, byContent, 'd'),
        await sent(path, { ...byContent, 'Svc-Forward-X': '2' }, 'c'),
        await sent(path, { ...byContent, 'Content-Type': 'text/plain' }, 'c'),
        await sent(path, { ...byContent, 'Svc-Retries': '1' }, 'c'),
        await sent(other, byContent, 'c'),
      ].map(({ status }) => status);
      expect(statuses).to.deep.equal([200, 202, 200, 200, 200, 202, 200]);
      await queue.sink.arrived(path, 5);
      await queue.sink.arrived(other, 1);
    });

    it('keeps one of 30 messages published in parallel', async () => {
      const path = queue.sink.path('at-once');
      const headers = { 'Svc-Deduplication-Id': 'at-once' };
      const target = `/v2/publish/${queue.sink.url(path)}`;
      const answers = await Promise.all(Array.from({ length: 30 }, () => queue.post(target, { headers, body: 'b' })));
      expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(1);
      expect(answers.filter(({ status }) => status === 202)).to.have.lengthOf(29);
      expect(new Set(answers.map(({ json }) => (json as { messageId: string }).messageId)).size).to.equal(1);
      await fence();
      await queue.sink.arrived(path, 1);
    });
  });

  describe('redacted fields', () => {
    it('reach the destination, and are hidden in every record, also after a retry from the DLQ', async () => {
      const path = queue.sink.path('redacted');
      const url = queue.sink.answer(path, { status: 500 }, { status: 200 });
      const secrets = ['secret-body', 'secret-header'];
      const headers = {
        'Svc-Redact-Fields': 'body, header[X-Secret]',
        'Svc-Forward-X-Secret': 'secret-header',
        'Svc-Forward-X-Open': 'open',
        'Svc-Retries': '0',
      };
      const id = await publish(url, headers, 'secret-body');
      const { dlqId } = await queue.deadLetterOf(id);
      const schedule = { ...headers, 'Svc-Cron': '@yearly', 'Svc-Schedule-Id': 'redacted' };
      await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers: schedule, body: 'secret-body' });
      const again = await queue.post(`/v2/dlq/retry/${dlqId}`, { headers: { 'Svc-Delay': '1s' } });
      const { messageId } = again.json as { messageId: string };
      const dead = await publish(url.replace(path, queue.sink.path('other')), headers, 'secret-body');
      await queue.eventsOf(id, 'FAILED');
      const reads = [
        `/v2/messages/${messageId}`,
        `/v2/messages/${dead}`,
        `/v2/events?messageIds=${id},${messageId}`,
        `/v2/logs?messageIds=${id},${messageId}`,
        '/v2/schedules/redacted',
        '/v2/schedules',
      ];
      for (const target of reads) {
        const { status, text } = await queue.get(target);
        expect(status, target).to.equal(200);
        expect(text, target)
          .to.match(/REDACTED:[0-9a-f]{64}/)
          .and.contain('open');
        for (const secret of secrets) {
          expect(text, target).not.to.contain(secret);
          expect(text, target).not.to.contain(Buffer.from(secret).toString('base64'));
        }
      }
      const calls = await queue.sink.arrived(path, 2);
      for (const { body, headers: sent } of calls) {
        expect(body).to.equal('secret-body');
        expect(sent).to.include({ 'x-secret': 'secret-header', 'x-open': 'open' });
      }
    });

    it('are hidden in the DLQ', async () => {
      const headers = {
        'Svc-Redact-Fields': 'body,header',
        'Svc-Forward-X-Secret': 'secret-header',
        'Svc-Retries': '0',
      };
      const { dlqId, messageId } = await queue.deadLetterOf(await publish(UNREACHABLE, headers, 'secret-body'));
      for (const target of [`/v2/dlq/${dlqId}`, `/v2/dlq?messageId=${messageId}`]) {
        const { text } = await queue.get(target);
        expect(text)
          .to.match(/"body":"REDACTED:[0-9a-f]{64}"/)
          .and.match(/"X-Secret":\["REDACTED:[0-9a-f]{64}"\]/);
        expect(text).not.to.match(/secret-(body|header)/);
      }
    });
  });

  // The last group, because almost a minute has passed by now.
  describe('a schedule', () => {
    it('with a time zone runs at its local time, through all clock changes', async () => {
      const headers = { 'Svc-Cron': 'CRON_TZ=America/New_York 30 2 * * *', 'Svc-Schedule-Id': 'zoned' };
      await queue.post(`/v2/schedules/${UNREACHABLE}`, { headers });
      const { nextScheduleTime } = (await queue.get('/v2/schedules/zoned')).json as { nextScheduleTime: number };
      const options = { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit', hour12: false } as const;
      expect(new Intl.DateTimeFormat('en-GB', options).format(nextScheduleTime)).to.be.oneOf(['02:30', '03:00']);
    });

    it('publishes a message each minute with its id, unless it is paused', async function () {
      this.timeout(100_000);
      const [call] = await eventually(
        () => {
          expect(queue.sink.calls(tickPath)).not.to.have.lengthOf(0);
          return queue.sink.calls(tickPath);
        },
        { timeoutMs: 90_000 },
      );
      expect(call).to.deep.include({ body: 'ticking', method: 'POST' });
      expect(call?.headers).to.include({ 'upstash-schedule-id': 'ticking', 'upstash-caller-ip': '127.0.0.1' });
      expect((call?.atMs ?? 0) % MINUTE_MS).to.be.below(10_000);
      const id = call?.headers['upstash-message-id'] as string;
      expect((await queue.eventsOf(id, 'DELIVERED'))[0]).to.include({ scheduleId: 'ticking' });
      const { json } = await queue.get('/v2/schedules/ticking');
      const { lastScheduleTime, nextScheduleTime, lastScheduleStates } = json as Record<string, unknown>;
      expect(lastScheduleStates).to.deep.equal({ [id]: 'SUCCESS' });
      expect((lastScheduleTime as number) % MINUTE_MS).to.equal(0);
      expect(nextScheduleTime).to.equal((lastScheduleTime as number) + MINUTE_MS);
      expect(queue.sink.calls(pausedPath)).to.have.lengthOf(0);
      const [aliased] = await eventually(
        () => {
          expect(queue.sink.calls(aliasTickPath)).not.to.have.lengthOf(0);
          return queue.sink.calls(aliasTickPath);
        },
        { timeoutMs: 30_000 },
      );
      const receivers = await PublishedReceivers.found(SIGNING_KEYS);
      await receivers.expectAliased([call, aliased] as SinkCall[]);
      expect((await queue.get('/v2/schedules/paused')).json).not.to.have.property('lastScheduleStates');
    });
  });
});
