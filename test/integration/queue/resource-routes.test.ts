/** Queues, schedules, groups, flow control and keys over raw HTTP on a real process: each success, each error. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  expectAnswer,
  expectDone,
  expectRefused,
  itRefuses,
  type PublishedRecord,
} from '../../support/queue-answers.js';
import { QueueProcess } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };

describe('routes of resources', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  const served = () => queue;

  const group = async (name: string, ...urls: string[]) => {
    const endpoints = urls.map((url) => ({ url }));
    expectDone(await queue.post(`/v2/topics/${name}/endpoints`, { body: { endpoints } }));
  };

  describe('/v2/destinations', () => {
    it('stops a destination that fails, sends its messages to the DLQ, and replays them when it is enabled', async () => {
      const { sink } = queue;
      const path = sink.path('stopped');
      const url = sink.answer(path, { status: 500 });
      const rules = { failures: 2, seconds: 0, probeSeconds: 3600, messages: 'dlq' };
      expectDone(await queue.post('/v2/destinations/rules', { body: rules }));
      for (const body of ['one', 'two', 'three']) {
        const id = await queue.publish(`${url}?n=${body}`, { headers: { 'Svc-Retries': '0' }, body });
        await queue.deadLetterOf(id);
      }
      expect(sink.calls(path)).to.have.length(2);
      const [stopped] = expectAnswer<{ destinations: object[] }>(await queue.get('/v2/destinations'), 200).destinations;
      expect(stopped).to.include({ url, state: 'open', failures: 2, responseStatus: 500 });

      sink.answer(path, { status: 200 });
      const enabled = await queue.post('/v2/destinations/enable', { body: { url, retry: true } });
      expect(expectAnswer(enabled, 200)).to.deep.equal({ retried: 3 });
      await sink.arrived(path, 5);
      expectDone(await queue.delete('/v2/destinations/rules'));
    });
  });

  describe('/v2/queues', () => {
    it('creates, shows, lists, pauses, resumes and deletes a queue', async () => {
      for (const target of ['/v2/queues', '/v2/queues/']) {
        expectDone(await queue.post(target, { body: { queueName: 'routed', parallelism: 2, paused: true } }));
      }
      const record = expectAnswer<object>(await queue.get('/v2/queues/routed'), 200);
      expect(record).to.include({ name: 'routed', parallelism: 2, paused: true, lag: 0 });
      expect(expectAnswer<object[]>(await queue.get('/v2/queues'), 200)).to.deep.include(record);
      for (const [action, paused] of [
        ['resume', false],
        ['resume', false],
        ['pause', true],
        ['pause', true],
      ] as const) {
        expectDone(await queue.post(`/v2/queues/routed/${action}`));
        expect(expectAnswer(await queue.get('/v2/queues/routed'), 200)).to.include({ paused });
      }
      expectDone(await queue.post('/v2/queues', { body: { queueName: 'routed' } }));
      expect(expectAnswer(await queue.get('/v2/queues/routed'), 200)).to.include({ parallelism: 1, paused: false });
      expectDone(await queue.delete('/v2/queues/routed'));
      expectDone(await queue.delete('/v2/queues/routed'));
    });

    it('shows the age of the oldest message of a queue for each minute of the last hour', async () => {
      expectDone(await queue.post('/v2/queues', { body: { queueName: 'aged', paused: true } }));
      const { messageId } = expectAnswer<PublishedRecord>(await queue.post(`/v2/enqueue/aged/${UNREACHABLE}`), 200);
      const points = async () =>
        expectAnswer<{ points: { x: number; y: number }[] }>(await queue.get('/v2/queues/aged/backlog'), 200).points;
      await eventually(async () => expect((await points()).at(-1)?.y).to.be.greaterThan(100));
      const all = await points();
      expect(all).to.have.length(60);
      expect(all.slice(0, 59).map(({ y }) => y)).to.deep.equal(Array(59).fill(0));
      expect((all[59]?.x ?? 0) - (all[0]?.x ?? 0)).to.equal(59 * 60_000);
      expectDone(await queue.delete('/v2/queues/aged'));
      expect((await queue.eventsOf(messageId, 'CANCELED')).at(-1)).to.include({ state: 'CANCELED' });
    });

    it('cancels the waiting messages of a deleted queue', async () => {
      expectDone(await queue.post('/v2/queues', { body: { queueName: 'left', paused: true } }));
      const { messageId } = expectAnswer<PublishedRecord>(await queue.post(`/v2/enqueue/left/${UNREACHABLE}`), 200);
      expectDone(await queue.delete('/v2/queues/left'));
      expectRefused(await queue.get(`/v2/messages/${messageId}`), 404, /not found/);
      expect((await queue.eventsOf(messageId, 'CANCELED')).at(-1)).to.include({ state: 'CANCELED' });
    });

    itRefuses(served, [
      ['an unknown queue', 'GET', '/v2/queues/unknown', {}, 404, /not found/],
      ['a bad name', 'GET', '/v2/queues/a%20b', {}, 400, /queue name/],
      ['an unknown queue', 'GET', '/v2/queues/unknown/backlog', {}, 404, /not found/],
      ['a bad name', 'POST', '/v2/queues', { body: { queueName: 'a b' } }, 400, /queueName/],
      ['no name', 'POST', '/v2/queues', { body: {} }, 400, /queueName/],
      ['a parallelism of 0', 'POST', '/v2/queues', { body: { queueName: 'q', parallelism: 0 } }, 400, /parallelism/],
      [
        'a fractional parallelism',
        'POST',
        '/v2/queues',
        { body: { queueName: 'q', parallelism: 1.5 } },
        400,
        /parallelism/,
      ],
      ['paused that is not a boolean', 'POST', '/v2/queues', { body: { queueName: 'q', paused: 'no' } }, 400, /paused/],
      ['a bad name', 'POST', '/v2/queues/a%20b/pause', {}, 400, /queue name/],
      ['a bad name', 'POST', '/v2/queues/a%20b/resume', {}, 400, /queue name/],
      ['a bad name', 'DELETE', '/v2/queues/a%20b', {}, 400, /queue name/],
      [
        'too much parallelism',
        'POST',
        '/v2/queues',
        { body: { queueName: 'q', parallelism: 101 } },
        412,
        /^quota maxParallelism exceeded, current limit: 100$/,
      ],
    ]);
  });

  describe('/v2/schedules', () => {
    const yearly = { 'Svc-Cron': '@yearly' };

    it('creates, shows, lists, pauses, resumes and deletes a schedule', async () => {
      const made = await queue.post(`/v2/schedules/${UNREACHABLE}?a=1`, { headers: yearly, body: 'b' });
      const { scheduleId } = expectAnswer<{ scheduleId: string }>(made, 200);
      expect(scheduleId).to.match(/^scd_/);
      const target = `/v2/schedules/${scheduleId}`;
      const record = expectAnswer<object>(await queue.get(target), 200);
      expect(record).to.include({ scheduleId, cron: '@yearly', destination: `${UNREACHABLE}?a=1`, body: 'b' });
      expect(expectAnswer<object[]>(await queue.get('/v2/schedules'), 200)).to.deep.include(record);
      for (const method of ['POST', 'PATCH']) {
        for (const [action, isPaused] of [
          ['pause', true],
          ['pause', true],
          ['resume', false],
          ['resume', false],
        ] as const) {
          expectDone(await queue.request(method, `${target}/${action}`));
          expect(expectAnswer(await queue.get(target), 200)).to.include({ isPaused });
        }
      }
      expectDone(await queue.delete(target));
      expectRefused(await queue.get(target), 404, /not found/);
    });

    it('creates a schedule for a group and for a queue', async () => {
      await group('scheduled', UNREACHABLE);
      const headers = { ...yearly, 'Svc-Schedule-Id': 'my.own-id_1', 'Svc-Queue-Name': 'scheduled' };
      const made = expectAnswer(await queue.post('/v2/schedules/scheduled', { headers }), 200);
      expect(made).to.deep.equal({ scheduleId: 'my.own-id_1' });
      const record = expectAnswer(await queue.get('/v2/schedules/my.own-id_1'), 200);
      expect(record).to.include({ destination: 'scheduled', queueName: 'scheduled' });
      expectDone(await queue.delete('/v2/schedules/my.own-id_1'));
    });

    const to = (headers: Record<string, string>) => ({ headers });
    itRefuses(served, [
      ['an unknown schedule', 'GET', '/v2/schedules/unknown', {}, 404, /not found/],
      ['the pause of an unknown schedule', 'PATCH', '/v2/schedules/unknown/pause', {}, 404, /not found/],
      ['the resumption of an unknown schedule', 'POST', '/v2/schedules/unknown/resume', {}, 404, /not found/],
      [
        'a schedule without a cron expression',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        {},
        400,
        /^Invalid cron expression.*empty spec string/,
      ],
      [
        'an invalid cron expression',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ 'Svc-Cron': '61 * * * *' }),
        400,
        /^Invalid cron expression/,
      ],
      [
        'a timetable with seconds',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ 'Svc-Cron': '* * * * * *' }),
        400,
        /^Invalid cron expression/,
      ],
      [
        'an unknown zone',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ 'Svc-Cron': 'CRON_TZ=Mars/Base 0 0 * * *' }),
        400,
        /^Invalid cron expression/,
      ],
      [
        'a bad id',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ ...yearly, 'Svc-Schedule-Id': 'a b' }),
        400,
        /schedule/i,
      ],
      [
        'a bad queue',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ ...yearly, 'Svc-Queue-Name': 'a b' }),
        400,
        /queue/i,
      ],
      ['an unknown group', 'POST', '/v2/schedules/nobodys-group', to(yearly), 400, /invalid scheme/],
      [
        'too many retries',
        'POST',
        `/v2/schedules/${UNREACHABLE}`,
        to({ ...yearly, 'Svc-Retries': '101' }),
        400,
        /quota maxRetries/,
      ],
    ]);
  });

  describe('/v2/topics', () => {
    it('creates, shows, lists, changes and deletes a group', async () => {
      const endpoints = [{ url: 'https://a.example/', name: 'a' }, { url: 'https://b.example/' }];
      expectDone(await queue.post('/v2/topics/routed/endpoints', { body: { endpoints } }));
      const record = expectAnswer<Record<string, unknown>>(await queue.get('/v2/topics/routed'), 200);
      expect(record.endpoints).to.deep.equal(endpoints);
      expect(expectAnswer<object[]>(await queue.get('/v2/topics'), 200)).to.deep.include(record);
      expectDone(await queue.delete('/v2/topics/routed/endpoints', { body: { endpoints: [{ name: 'a' }] } }));
      expect(expectAnswer(await queue.get('/v2/topics/routed'), 200)).to.deep.include({
        endpoints: endpoints.slice(1),
      });
      expectDone(await queue.delete('/v2/topics/routed'));
      expectDone(await queue.delete('/v2/topics/routed'));
      expectRefused(await queue.get('/v2/topics/routed'), 404, /not found/);
    });

    it('gives a group default headers; settings of a call take precedence', async () => {
      const path = queue.sink.path();
      await group('with-defaults', queue.sink.url(path));
      const headers = { 'Svc-Retries': '7', 'Svc-Header-Forward': ['true'], 'Svc-Label': 'default' };
      expectDone(await queue.patch('/v2/topics/with-defaults', { body: { headers } }));
      expect(expectAnswer(await queue.get('/v2/topics/with-defaults'), 200)).not.to.have.property('headers');
      const sent = { 'Svc-Label': 'own', 'X-Hook': '1' };
      const answer = await queue.post('/v2/publish/with-defaults', { headers: sent, body: 'b' });
      const [published] = expectAnswer<PublishedRecord[]>(answer, 200);
      expect((await queue.sink.call(path)).headers).to.include({ 'x-hook': '1' });
      const message = expectAnswer(await queue.get(`/v2/messages/${published?.messageId}`), 200);
      expect(message).to.include({ maxRetries: 7, label: 'own', topicName: 'with-defaults' });
    });

    itRefuses(served, [
      ['an unknown group', 'GET', '/v2/topics/unknown', {}, 404, /not found/],
      [
        'endpoints removed from an unknown group',
        'DELETE',
        '/v2/topics/unknown/endpoints',
        { body: { endpoints: [{ url: UNREACHABLE }] } },
        404,
        /not found/,
      ],
      ['defaults of an unknown group', 'PATCH', '/v2/topics/unknown', { body: { headers: {} } }, 404, /not found/],
      [
        'a bad name',
        'POST',
        '/v2/topics/a%20b/endpoints',
        { body: { endpoints: [{ url: UNREACHABLE }] } },
        400,
        /URL group name/,
      ],
      ['no endpoints', 'POST', '/v2/topics/t/endpoints', { body: { endpoints: [] } }, 400, /endpoints/],
      [
        'an endpoint without a URL',
        'POST',
        '/v2/topics/t/endpoints',
        { body: { endpoints: [{ name: 'a' }] } },
        400,
        /endpoints\[0\]\.url is missing/,
      ],
      [
        'an endpoint that is no URL',
        'POST',
        '/v2/topics/t/endpoints',
        { body: { endpoints: [{ url: 'a.example' }] } },
        400,
        /add http:\/\/ or https:\/\//,
      ],
      [
        'an endpoint to remove without anything',
        'DELETE',
        '/v2/topics/t/endpoints',
        { body: { endpoints: [{}] } },
        400,
        /neither url nor name/,
      ],
      [
        'defaults that are no object',
        'PATCH',
        '/v2/topics/t',
        { body: { headers: 'a' } },
        400,
        /headers is not a JSON object/,
      ],
      ['a default that is not a string', 'PATCH', '/v2/topics/t', { body: { headers: { a: {} } } }, 400, /headers\.a/],
    ]);

    it('answers 400 to invalid default headers', async () => {
      await group('bad-defaults', UNREACHABLE);
      const body = { headers: { 'Svc-Retries': 'many' } };
      expectRefused(await queue.patch('/v2/topics/bad-defaults', { body }), 400, /retries/i);
    });
  });

  describe('/v2/flowControl', () => {
    const flow = (key: string, value: string) => ({ 'Svc-Flow-Control-Key': key, 'Svc-Flow-Control-Value': value });

    it('shows, lists and searches keys', async () => {
      await queue.publish(UNREACHABLE, { headers: { ...DELAYED, ...flow('routed/one', 'rate=5, period=1m') } });
      const record = expectAnswer<object>(await queue.get('/v2/flowControl/routed%2Fone'), 200);
      expect(record).to.include({ flowControlKey: 'routed/one', rateMax: 5, ratePeriod: 60, waitListSize: 0 });
      const listed = async (query: string) =>
        expectAnswer<{ flowControlKey: string }[]>(await queue.get(`/v2/flowControl${query}`), 200);
      expect(await listed('')).to.deep.include(record);
      expect((await listed('?search=routed')).map(({ flowControlKey }) => flowControlKey)).to.deep.equal([
        'routed/one',
      ]);
      expect(await listed('?search=nobodys')).to.deep.equal([]);
    });

    it('pauses, resumes, pins, unpins and resets a key', async () => {
      await queue.publish(UNREACHABLE, { headers: { ...DELAYED, ...flow('handled', 'parallelism=3') } });
      const shown = async (action: string) => {
        expectDone(await queue.post(`/v2/flowControl/handled/${action}`));
        return expectAnswer(await queue.get('/v2/flowControl/handled'), 200);
      };
      expect(await shown('pause')).to.include({ isPaused: true });
      expect(await shown('resume')).to.include({ isPaused: false });
      expect(await shown('pin?parallelism=9&rate=8&period=7')).to.include({
        parallelismMax: 9,
        rateMax: 8,
        ratePeriod: 7,
        isPinnedParallelism: true,
        isPinnedRate: true,
      });
      expect(await shown('unpin?rate=true')).to.include({ isPinnedParallelism: true, isPinnedRate: false });
      expect(await shown('unpin?parallelism=true')).to.include({ parallelismMax: 9, isPinnedParallelism: false });
      expect(await shown('resetRate')).to.include({ rateCount: 0 });
      expect(await shown('reset')).to.include({ rateCount: 0, parallelismCount: 0 });
    });

    itRefuses(served, [
      ['an unknown key', 'GET', '/v2/flowControl/unknown', {}, 404, /not found/],
      ['the resumption of an unknown key', 'POST', '/v2/flowControl/unknown/resume', {}, 400, /unknown/],
      ['the unpinning of an unknown key', 'POST', '/v2/flowControl/unknown/unpin?rate=true', {}, 400, /unknown/],
      ['the reset of an unknown key', 'POST', '/v2/flowControl/unknown/resetRate', {}, 400, /unknown/],
      ['a pin without a limit', 'POST', '/v2/flowControl/handled/pin', {}, 400, /at least one/],
      ['a pin with parallelism 0', 'POST', '/v2/flowControl/handled/pin?parallelism=0', {}, 400, /parallelism/],
      [
        'a pin with a period above a week',
        'POST',
        '/v2/flowControl/handled/pin?rate=1&period=604801',
        {},
        400,
        /604800/,
      ],
      ['an unpin without a boolean', 'POST', '/v2/flowControl/handled/unpin?rate=perhaps', {}, 400, /rate/],
    ]);

    it('pauses and pins a key before its first message', async () => {
      expectDone(await queue.post('/v2/flowControl/ahead-paused/pause'));
      expectDone(await queue.post('/v2/flowControl/ahead-pinned/pin?parallelism=2'));
      expect(expectAnswer(await queue.get('/v2/flowControl/ahead-paused'), 200)).to.include({ isPaused: true });
      expect(expectAnswer(await queue.get('/v2/flowControl/ahead-pinned'), 200)).to.include({ parallelismMax: 2 });
    });

    it('/v2/globalParallelism shows the parallelism of the account', async () => {
      const answer = expectAnswer<object>(await queue.get('/v2/globalParallelism'), 200);
      expect(answer).to.have.all.keys('parallelismMax', 'parallelismCount');
    });
  });

  it('/v2/keys shows both signing keys, and rotate makes the next one current', async () => {
    const before = expectAnswer<{ current: string; next: string }>(await queue.get('/v2/keys'), 200);
    const after = expectAnswer<{ current: string; next: string }>(await queue.post('/v2/keys/rotate'), 200);
    expect(after.current).to.equal(before.next);
    expect([before.current, before.next]).not.to.include(after.next);
    expect(expectAnswer(await queue.get('/v2/keys'), 200)).to.deep.equal(after);
  });
});
