/** Programs written with the published JavaScript client: the effect of each of its calls on a real process. */
import { Client, Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN, QueueProcess, refusalOf, SIGNING_KEYS } from '../../support/queue-process.js';
import type { QueueSink, SinkCall } from '../../support/queue-sink.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const HOUR = 3600;

interface CallbackBody {
  readonly status: number;
  readonly body: string;
  readonly sourceBody: string;
  readonly retried: number;
  readonly dlqId?: string;
  readonly [member: string]: unknown;
}

const text = (base64: string) => Buffer.from(base64, 'base64').toString();

const ARRANGEMENTS = [
  ['one process', QueueProcess.start],
  ['an owner of the queue and an edge', QueueProcess.startWithRemoteOwner],
] as const;

for (const [arrangement, start] of ARRANGEMENTS)
  describe(`programs with @upstash/qstash on ${arrangement}`, function () {
    this.timeout(60_000);
    const queue = standOfAllTests(() =>
      start({
        MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis',
        MILLRACE_REGION: 'EU-CENTRAL-1',
      }),
    );
    let sink: QueueSink;
    let client: QueueProcess['client'];

    before(async () => {
      ({ sink, client } = queue);
    });

    const published = async (options: Parameters<typeof client.publishJSON>[0]): Promise<string> =>
      ((await client.publishJSON(options)) as { messageId: string }).messageId;
    const failing = () =>
      sink.answer(sink.path('failing'), { status: 503, headers: { 'X-Why': 'late' }, body: 'later' });

    describe('publish', () => {
      it('sends the body, its content type and the headers', async () => {
        const path = sink.path();
        const url = sink.url(path);
        const id = await published({
          url,
          body: { a: 'ü' },
          headers: { 'x-own': 'a, b', authorization: 'Bearer mine' },
        });
        const { method, body, headers } = await sink.call(path);
        expect({ method, body }).to.deep.equal({ method: 'POST', body: '{"a":"ü"}' });
        expect(headers).to.include({
          'content-type': 'application/json',
          'x-own': 'a, b',
          authorization: 'Bearer mine',
          'user-agent': 'Upstash-QStash',
          'upstash-message-id': id,
          'upstash-retried': '0',
          'upstash-caller-ip': '127.0.0.1',
          'upstash-region': 'EU-CENTRAL-1',
        });
        expect(Object.keys(headers).filter((name) => /telemetry|forward|upstash-method|svc-/.test(name))).to.deep.equal(
          [],
        );
      });

      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const hasBody = method !== 'GET' && method !== 'HEAD';
        it(`calls with ${method}, ${hasBody ? 'with the body' : 'without the body'}, and a valid signature`, async () => {
          const path = sink.path();
          // The client's types do not contain all methods that the API accepts.
          const id = await published({ url: sink.url(path), method: method as 'GET', body: [method] });
          const call = await sink.call(path);
          expect(call).to.include({ method, body: hasBody ? `["${method}"]` : '' });
          const ofBody = ['content-type', 'content-length'].filter((name) => name in call.headers);
          expect(ofBody).to.deep.equal(hasBody ? ['content-type', 'content-length'] : []);
          const { current, next } = (await queue.get('/v2/keys')).json as { current: string; next: string };
          const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next });
          const signature = call.headers['upstash-signature'] as string;
          expect(await receiver.verify({ signature, body: call.body, url: sink.url(path) })).to.equal(true);
          await eventually(async () => {
            const { events } = await client.events({ filter: { messageId: id, state: 'DELIVERED' } });
            expect(events).to.have.length(1);
          });
        });
      }

      it('signs and logs the normalised URL, as it is called', async () => {
        const path = sink.path();
        const url = sink.url(path);
        const id = await published({
          url: url.replace('http://127.0.0.1', 'HTTP://127.1').replace(path, `/x/..${path}`),
        });
        const call = await sink.call(path);
        const { current, next } = (await queue.get('/v2/keys')).json as { current: string; next: string };
        const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next });
        const signature = call.headers['upstash-signature'] as string;
        expect(await receiver.verify({ signature, body: call.body, url })).to.equal(true);
        const { host, hostname } = new URL(url);
        for (const filter of [{ url }, { host }, { host: hostname }]) {
          await eventually(async () => {
            const { events } = await client.events({ filter: filter as { url: string } });
            expect(events.filter(({ messageId }) => messageId === id).map((event) => event.url)).to.include(url);
          });
        }
      });

      it('shows every option of a waiting message', async () => {
        const { messageId } = await client.publish({
          url: `${UNREACHABLE}?a=1`,
          body: 'text',
          headers: { 'content-type': 'text/plain', 'x-own': '1' },
          method: 'PUT',
          notBefore: Math.floor(Date.now() / 1000) + HOUR,
          retries: 4,
          retryDelay: 'pow(2, retried) * 1000',
          callback: 'https://callback.example/a',
          failureCallback: 'https://callback.example/b',
          timeout: 30,
          flowControl: { key: 'options', rate: 3, period: '1m', parallelism: 2 },
          label: 'options',
        });
        const message = await client.messages.get(messageId);
        expect(message).to.deep.include({
          url: `${UNREACHABLE}?a=1`,
          method: 'PUT',
          body: 'text',
          header: { 'Content-Type': ['text/plain'], 'X-Own': ['1'] },
          maxRetries: 4,
          retryDelayExpression: 'pow(2, retried) * 1000',
          callback: 'https://callback.example/a',
          failureCallback: 'https://callback.example/b',
          flowControlKey: 'options',
          rate: 3,
          period: 60,
          parallelism: 2,
          label: 'options',
          callerIP: '127.0.0.1',
        });
        expect(message.notBefore).to.be.closeTo(Date.now() + HOUR * 1000, 60_000);
        await client.messages.cancel(messageId);
      });

      it("sends the client's default headers with each message; those of the call take precedence", async () => {
        const path = sink.path();
        const headers = { 'X-Both': 'client', 'X-Own': 'client' };
        const other = new Client({ baseUrl: queue.url, token: QUEUE_TOKEN, headers });
        await other.publishJSON({ url: sink.url(path), body: 1, headers: { 'X-Both': 'call' } });
        expect((await sink.call(path)).headers).to.include({ 'x-both': 'call', 'x-own': 'client' });
      });

      it('deduplicates by id and by content', async () => {
        for (const options of [{ deduplicationId: 'once' }, { contentBasedDeduplication: true }]) {
          const path = sink.path('once');
          const first = await client.publishJSON({ url: sink.url(path), body: 1, ...options });
          const second = await client.publishJSON({ url: sink.url(path), body: 1, ...options });
          expect(second).to.include({ messageId: first.messageId, deduplicated: true });
          expect(first).not.to.have.property('deduplicated');
          await queue.eventsOf(first.messageId, 'DELIVERED');
          await sink.arrived(path, 1);
        }
      });

      it("fails with the server's status and error text", async () => {
        const refused = await refusalOf(() => client.publishJSON({ url: UNREACHABLE, body: 1, retries: 101 }));
        expect(refused).to.include({ status: 400 });
        expect(refused.message).to.contain('quota maxRetries exceeded');
      });
    });

    it('batch: answers in order, and delivers to URLs, queues and groups', async () => {
      const [plain, queued, one, two] = ['plain', 'queued', 'one', 'two'].map((word) => sink.path(word)) as [
        string,
        string,
        string,
        string,
      ];
      const endpoints = [one, two].map((path) => ({ url: sink.url(path), name: path.slice(1) }));
      await client.urlGroups.addEndpoints({ name: 'batched', endpoints });
      const answers = await client.batchJSON([
        { url: sink.url(plain), body: 'a', headers: { 'X-Own': '1' } },
        { url: sink.url(queued), body: 'b', queueName: 'batched' },
        { urlGroup: 'batched', body: 'c' },
      ]);
      const urls = answers.map((answer) => [answer].flat().map(({ url }) => url));
      expect(urls).to.deep.equal([[sink.url(plain)], [sink.url(queued)], [sink.url(one), sink.url(two)]]);
      expect((await sink.call(plain)).headers).to.include({ 'x-own': '1' });
      expect(await sink.call(queued)).to.include({ body: '"b"' });
      for (const path of [one, two]) {
        const { headers, body } = await sink.call(path);
        expect(body).to.equal('"c"');
        expect(headers['upstash-topic-name']).to.equal('batched');
      }
      const [, second] = answers as [unknown, { messageId: string }];
      const [created] = await queue.eventsOf(second.messageId, 'DELIVERED');
      expect(created).to.include({ queueName: 'batched' });
    });

    it('queues: deliver in order, wait while paused, and count waiting messages', async () => {
      const named = client.queue({ queueName: 'orderly' });
      const path = sink.path('orderly');
      await named.upsert({ parallelism: 1, paused: true });
      for (let body = 1; body <= 5; body += 1) await named.enqueueJSON({ url: sink.url(path), body });
      expect(await named.get()).to.include({ paused: true, lag: 5 });
      expect(sink.calls(path)).to.have.lengthOf(0);
      await named.resume();
      expect(await named.get()).to.include({ paused: false });
      expect((await sink.arrived(path, 5)).map(({ body }) => body)).to.deep.equal(['1', '2', '3', '4', '5']);
      expect(sink.mostAtOnce(path)).to.equal(1);
      await eventually(async () => expect((await named.get()).lag).to.equal(0));
      await named.pause();
      expect((await client.queue().list()).find(({ name }) => name === 'orderly')).to.include({ paused: true });
      await named.upsert({ parallelism: 3 });
      expect(await named.get()).to.include({ paused: false, parallelism: 3 });
      await named.delete();
      expect(await refusalOf(() => named.get())).to.include({ status: 404 });
    });

    it('queues: are created by their first message', async () => {
      const named = client.queue({ queueName: 'by-message' });
      await named.enqueueJSON({ url: sink.url(sink.path()), body: 1 });
      expect(await named.get()).to.include({ name: 'by-message', parallelism: 1, paused: false });
    });

    it('URL groups: keep the order of endpoints, and end with the last one', async () => {
      const name = 'growing';
      await client.urlGroups.addEndpoints({ name, endpoints: [{ name: 'a', url: 'https://a.example/' }] });
      await client.urlGroups.addEndpoints({
        name,
        endpoints: [{ name: 'a', url: 'https://a2.example/' }, { url: 'https://b.example/' }],
      });
      const group = await client.urlGroups.get(name);
      expect(group).to.have.all.keys('name', 'createdAt', 'updatedAt', 'endpoints');
      expect(group.endpoints).to.deep.equal([{ name: 'a', url: 'https://a2.example/' }, { url: 'https://b.example/' }]);
      await client.urlGroups.removeEndpoints({ name, endpoints: [{ name: 'a' }, { url: 'https://b.example/' }] });
      expect(await refusalOf(() => client.urlGroups.get(name))).to.include({ status: 404 });
      expect((await client.urlGroups.list()).map((each) => each.name)).not.to.include(name);
      expect(
        await refusalOf(() => client.urlGroups.removeEndpoints({ name, endpoints: [{ url: 'https://b.example/' }] })),
      ).to.include({ status: 404 });
    });

    it('schedules: show their options, and lose them when they are replaced', async () => {
      const scheduleId = 'replaced';
      await client.schedules.create({
        scheduleId,
        destination: `${UNREACHABLE}?a=1`,
        cron: 'CRON_TZ=Europe/Berlin 30 8 * * 1 ',
        body: '{"a":1}',
        method: 'PUT',
        delay: 90,
        retries: 1,
        timeout: '20s',
        callback: 'https://callback.example/',
        queueName: 'of-schedule',
        flowControl: { key: 'of-schedule', rate: 2 },
        label: 'weekly',
        retryDelay: '1000',
      });
      const before = await client.schedules.get(scheduleId);
      expect(before).to.include({
        scheduleId,
        destination: `${UNREACHABLE}?a=1`,
        cron: 'CRON_TZ=Europe/Berlin 30 8 * * 1',
        body: '{"a":1}',
        method: 'PUT',
        delay: 90,
        retries: 1,
        timeout: 20,
        callback: 'https://callback.example/',
        queueName: 'of-schedule',
        flowControlKey: 'of-schedule',
        rate: 2,
        period: 1,
        label: 'weekly',
        retryDelayExpression: '1000',
        isPaused: false,
      });
      const berlin = new Intl.DateTimeFormat('en-GB', {
        timeZone: 'Europe/Berlin',
        weekday: 'short',
        timeStyle: undefined,
      });
      expect(berlin.format(before.nextScheduleTime)).to.equal('Mon');
      expect(before).not.to.have.property('lastScheduleTime');

      await client.schedules.create({ scheduleId, destination: UNREACHABLE, cron: '@monthly' });
      const after = await client.schedules.get(scheduleId);
      expect(after).to.include({ cron: '@monthly', method: 'POST', retries: 3, createdAt: before.createdAt });
      expect(after).not.to.have.any.keys(
        'body',
        'delay',
        'timeout',
        'callback',
        'queueName',
        'flowControlKey',
        'label',
      );
      expect((await client.schedules.list()).map((each) => each.scheduleId)).to.include(scheduleId);
      await client.schedules.delete(scheduleId);
      expect(await refusalOf(() => client.schedules.get(scheduleId))).to.include({ status: 404 });
    });

    describe('messages', () => {
      const delayed = (options: object = {}) => published({ url: UNREACHABLE, body: 1, delay: HOUR, ...options });
      before(() => client.messages.cancel({ all: true, count: 500 }));

      it('are cancelled by ids, and all remaining ones with all', async () => {
        const ids = [await delayed(), await delayed(), await delayed()];
        expect(await client.messages.cancel(ids.slice(0, 2))).to.deep.equal({ cancelled: 2 });
        expect(await client.messages.cancel({ all: true })).to.deep.equal({ cancelled: 1 });
        expect(await client.messages.cancel({ all: true })).to.deep.equal({ cancelled: 0 });
      });

      it('with an unknown id give 404, or cancelled: 0 in a list', async () => {
        expect(await refusalOf(() => client.messages.cancel('msg_unknown'))).to.include({ status: 404 });
        expect(await client.messages.cancel(['msg_unknown'])).to.deep.equal({ cancelled: 0 });
      });

      const filters: [string, object, object][] = [
        ['url', { url: 'https://by-url.example/a' }, { url: ['https://by-url.example/a', 'https://other.example/'] }],
        ['host', { url: 'https://by-host.example/b' }, { host: 'by-host.example' }],
        ['path', { url: 'https://by-path.example/only/this' }, { path: '/only/this' }],
        ['label', { label: ['x', 'by-label'] }, { label: 'by-label' }],
        ['flow-control key', { flowControl: { key: 'by-key', rate: 1 } }, { flowControlKey: 'by-key' }],
        ['date', {}, { fromDate: new Date(Date.now() - HOUR * 1000), toDate: Date.now() + HOUR * 1000 }],
        ['caller', {}, { callerIp: '127.0.0.1' }],
      ];
      for (const [condition, options, filter] of filters) {
        it(`are cancelled by ${condition}`, async () => {
          const id = await delayed(options);
          const nothing = { label: 'nobody-has-this', ...filter };
          if (condition !== 'label')
            expect(await client.messages.cancel({ filter: nothing })).to.include({ cancelled: 0 });
          expect(await client.messages.cancel({ filter: filter as { label: string } })).to.deep.equal({ cancelled: 1 });
          expect(await refusalOf(() => client.messages.get(id))).to.include({ status: 404 });
        });
      }

      it('are cancelled by group and by queue: all that match, also beyond the count', async () => {
        const endpoints = [{ url: 'https://one.example/' }, { url: 'https://two.example/' }];
        await client.urlGroups.addEndpoints({ name: 'by-group', endpoints });
        await client.publishJSON({ urlGroup: 'by-group', body: 1, delay: HOUR });
        const named = client.queue({ queueName: 'by-queue' });
        await named.upsert({ paused: true });
        for (let i = 0; i < 3; i += 1) await named.enqueueJSON({ url: UNREACHABLE, body: i });
        expect(await client.messages.cancel({ filter: { urlGroup: 'by-group' } })).to.include({ cancelled: 2 });
        expect(await client.messages.cancel({ filter: { queueName: 'by-queue' }, count: 2 })).to.include({
          cancelled: 3,
        });
        expect(await named.get()).to.include({ lag: 0 });
        await named.delete();
      });
    });

    describe('the DLQ', () => {
      const dead = async (options: object = {}) =>
        queue.deadLetterOf(await published({ url: failing(), body: { n: 1 }, retries: 0, ...options }));
      const clear = async () => {
        while ((await client.dlq.delete({ all: true })).cursor !== undefined);
      };
      beforeEach(clear);

      it('shows a message with its last response', async () => {
        const { dlqId, messageId } = await dead({ label: 'shown' });
        const { messages } = await client.dlq.listMessages({ filter: { label: 'shown' } });
        expect(messages).to.have.lengthOf(1);
        expect(messages[0]).to.include({ dlqId, messageId, body: '{"n":1}', maxRetries: 0, responseStatus: 503 });
        expect(messages[0]).to.include({ responseBody: 'later' });
        expect(messages[0]?.responseHeader).to.deep.include({ 'X-Why': ['late'] });
        expect((await client.dlq.listMessages({ dlqIds: [dlqId] })).messages).to.have.lengthOf(1);
      });

      const filters: [string, (entry: { messageId: string; url: string }) => object][] = [
        ['message', ({ messageId }) => ({ messageId })],
        ['url', ({ url }) => ({ url })],
        ['status', () => ({ responseStatus: [503, 404] })],
        ['label', () => ({ label: ['of-filter', 'other'] })],
        ['flow-control key', () => ({ flowControlKey: 'of-filter' })],
        ['queue', () => ({ queueName: 'of-filter' })],
        ['caller', () => ({ callerIp: '127.0.0.1' })],
        ['date', () => ({ fromDate: Date.now() - HOUR * 1000, toDate: Date.now() + HOUR * 1000 })],
      ];
      it('finds an entry by each filter, and none when a second filter does not match', async () => {
        const url = failing();
        const { messageId } = (await client.queue({ queueName: 'of-filter' }).enqueueJSON({
          url,
          body: 1,
          retries: 0,
          label: 'of-filter',
          flowControl: { key: 'of-filter', parallelism: 1 },
        })) as { messageId: string };
        await queue.deadLetterOf(messageId);
        for (const [condition, filterFor] of filters) {
          const filter = filterFor({ messageId, url }) as { label?: string };
          const found = await client.dlq.listMessages({ filter });
          expect(
            found.messages.map((entry) => entry.messageId),
            condition,
          ).to.deep.equal([messageId]);
          const none = await client.dlq.listMessages({ filter: { ...filter, scheduleId: 'none' } });
          expect(none.messages, condition).to.deep.equal([]);
        }
      });

      it('deletes one entry, several, those of a filter, and all page by page', async () => {
        const entries = [await dead(), await dead(), await dead({ label: 'mine' }), await dead(), await dead()];
        const [one, two] = entries.map(({ dlqId }) => dlqId) as [string, string];
        expect(await client.dlq.delete(one)).to.deep.equal({ deleted: 1 });
        expect(await client.dlq.deleteMany({ dlqIds: [one, two] })).to.deep.equal({ deleted: 1 });
        expect(await client.dlq.delete({ filter: { label: 'mine' } })).to.deep.equal({ deleted: 1 });
        const first = await client.dlq.delete({ all: true, count: 1 });
        expect(first.deleted).to.equal(1);
        expect(first.cursor).to.be.a('string');
        const rest = await client.dlq.delete({ all: true, count: 1, cursor: first.cursor as string });
        expect(rest).to.deep.equal({ deleted: 1 });
        expect((await client.dlq.listMessages()).messages).to.deep.equal([]);
      });

      it('lists page by page', async () => {
        const ids = [(await dead()).dlqId, (await dead()).dlqId, (await dead()).dlqId];
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await client.dlq.listMessages({ count: 1, ...(cursor === undefined ? {} : { cursor }) });
          found.push(...page.messages.map(({ dlqId }) => dlqId));
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(found).to.deep.equal(ids);
      });

      it('retries one entry, those of a filter, and all, as new messages', async () => {
        const path = sink.path('again');
        const url = sink.answer(path, ...Array(3).fill({ status: 500 }), { status: 200 });
        const [one] = [await dead({ url }), await dead({ url, label: 'again' }), await dead({ url })];
        const answers = [
          await client.dlq.retry(one.dlqId),
          await client.dlq.retry({ filter: { label: 'again' } }),
          await client.dlq.retry({ all: true }),
        ];
        for (const { responses } of answers) {
          expect(responses).to.have.lengthOf(1);
          await queue.eventsOf(responses[0]?.messageId as string, 'DELIVERED');
        }
        await sink.arrived(path, 6);
        expect(await refusalOf(() => client.dlq.delete(one.dlqId))).to.include({ status: 404 });
        expect((await client.dlq.retry({ filter: { label: 'again' } })).responses).to.deep.equal([]);
      });
    });

    it('logs: show the events of a message, page by page, by state, URL, label and ids', async () => {
      const url = failing();
      const label = 'logged';
      const one = await published({ url, body: 1, retries: 1, retryDelay: '1', label });
      const other = await published({ url: sink.url(sink.path()), body: 2, label });
      const states = (await queue.eventsOf(one, 'FAILED')).map(({ state }) => state);
      await queue.eventsOf(other, 'DELIVERED');
      expect(states).to.deep.equal(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'ERROR', 'FAILED']);

      const ids = (filter: object) =>
        client.logs({ filter }).then(({ logs }) => [...new Set(logs.map(({ messageId }) => messageId))]);
      expect(await ids({ url })).to.deep.equal([one]);
      expect(await ids({ label })).to.have.members([one, other]);
      expect(await ids({ label, state: 'FAILED' })).to.deep.equal([one]);
      expect(await ids({ label, state: 'IN_PROGRESS' })).to.have.members([one, other]);
      const byIds = await client.logs({ messageIds: [other] });
      expect(byIds.logs.map(({ state }) => state)).to.deep.equal(['DELIVERED', 'ACTIVE', 'CREATED']);

      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.logs({
          filter: { messageId: one },
          count: 3,
          ...(cursor === undefined ? {} : { cursor }),
        });
        paged.push(...page.logs.map(({ state }) => state));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(paged).to.deep.equal([...states].reverse());
    });

    it('flow control: shows, pauses, pins, resets and resumes a key', async () => {
      const { flowControl } = client;
      const path = sink.path('flow');
      const key = 'team/a key';
      const send = (body: number) =>
        published({ url: sink.url(path), body, flowControl: { key, rate: 5, period: '1h', parallelism: 2 } });
      await send(1);
      const first = await flowControl.get(key);
      expect(first).to.include({ flowControlKey: key, rateMax: 5, ratePeriod: HOUR, parallelismMax: 2, rateCount: 1 });
      expect(first).to.include({ isPaused: false, isPinnedParallelism: false, isPinnedRate: false, waitListSize: 0 });
      expect(first.ratePeriodStart).to.be.closeTo(Date.now() / 1000, 60);
      await sink.arrived(path, 1);

      await flowControl.pause(key);
      await send(2);
      expect(await flowControl.get(key)).to.include({ isPaused: true, waitListSize: 1, rateCount: 1 });
      await flowControl.resetRate(key);
      expect(await flowControl.get(key)).to.include({ rateCount: 0 });
      await flowControl.pin(key, { rate: 50, period: 60 });
      await send(3);
      const pinned = await flowControl.get(key);
      expect(pinned).to.include({ rateMax: 50, ratePeriod: 60, isPinnedRate: true, isPinnedParallelism: false });
      await flowControl.unpin(key, { rate: true });
      expect(await flowControl.get(key)).to.include({ rateMax: 50, isPinnedRate: false });
      await flowControl.resume(key);
      await sink.arrived(path, 3);
      await send(4);
      expect(await flowControl.get(key)).to.include({ rateMax: 5, ratePeriod: HOUR, isPaused: false });
      const { parallelismMax, parallelismCount } = await flowControl.getGlobalParallelism();
      expect(parallelismMax).to.equal(500);
      expect(parallelismCount).to.be.a('number');
    });

    it('callbacks: have the response of each attempt, and the failure callback has the DLQ id', async () => {
      const [after, failed] = [sink.path('after'), sink.path('failed')];
      const url = failing();
      const id = await published({
        url,
        body: { n: 1 },
        headers: { 'X-Own': '1' },
        retries: 1,
        retryDelay: '1',
        callback: sink.url(after),
        failureCallback: sink.url(failed),
      });
      const bodies = (await sink.arrived(after, 2)).map(({ body }) => JSON.parse(body) as CallbackBody);
      expect(bodies.map(({ retried }) => retried)).to.have.members([0, 1]);
      const failure = JSON.parse((await sink.call(failed)).body) as CallbackBody;
      for (const body of [...bodies, failure]) {
        expect(body).to.include({ status: 503, sourceMessageId: id, url, method: 'POST', maxRetries: 1 });
        expect(text(body.body)).to.equal('later');
        expect(text(body.sourceBody)).to.equal('{"n":1}');
        expect(body.header).to.deep.include({ 'X-Why': ['late'] });
        expect(body.sourceHeader).to.deep.include({ 'X-Own': '1' });
        expect(body.notBefore).to.match(/^\d{13}$/);
      }
      const { dlqId } = await queue.deadLetterOf(id);
      expect(failure.dlqId).to.equal(dlqId);
      for (const body of bodies) expect(body).not.to.have.property('dlqId');
    });

    it('the receiver verifies deliveries and callbacks before, between and after rotations of the keys', async () => {
      const receiver = new Receiver({ currentSigningKey: SIGNING_KEYS.current, nextSigningKey: SIGNING_KEYS.next });
      const verified = async ({ headers, body }: SinkCall, path: string) =>
        receiver.verify({ signature: headers['upstash-signature'] as string, body, url: sink.url(path) });
      const [path, after] = [sink.path('signed'), sink.path('signed')];
      await published({ url: sink.url(path), body: { ü: 1 }, callback: sink.url(after) });
      expect(await verified(await sink.call(path), path)).to.equal(true);
      expect(await verified(await sink.call(after), after)).to.equal(true);

      const rotated = (await queue.post('/v2/keys/rotate')).json as { current: string; next: string };
      expect(rotated.current).to.equal(SIGNING_KEYS.next);
      expect(rotated.next).to.match(/^sig_/).and.not.equal(SIGNING_KEYS.current);
      expect((await queue.get('/v2/keys')).json).to.deep.equal(rotated);
      const between = sink.path('signed');
      await published({ url: sink.url(between), body: 'between' });
      expect(await verified(await sink.call(between), between)).to.equal(true);

      await queue.post('/v2/keys/rotate');
      const late = sink.path('signed');
      await published({ url: sink.url(late), body: 'late' });
      const call = await sink.call(late);
      expect(await verified(call, late).catch((error: Error) => error.name)).to.equal('SignatureError');
      const { current, next } = (await queue.get('/v2/keys')).json as { current: string; next: string };
      expect(current).to.equal(rotated.next);
      const updated = new Receiver({ currentSigningKey: current, nextSigningKey: next });
      const signature = call.headers['upstash-signature'] as string;
      expect(await updated.verify({ signature, body: call.body, url: sink.url(late) })).to.equal(true);
    });

    it('language models: are refused as not available', async () => {
      const { upstash } = await import('@upstash/qstash');
      const api = { name: 'llm' as const, provider: upstash() };
      const callback = sink.url(sink.path());
      const refused = await refusalOf(() => client.publishJSON({ api, callback, body: {} }));
      expect(refused).to.include({ status: 400 });
      expect(refused.message).to.contain('not available');
    });
  });
