import { expect } from 'chai';
import type { FlowView, QueueView, Schedule, UrlGroup } from '../../../src/domain/queue/index.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { parse } from '../../support/queue-settings.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://api.example/';
const NOT_FOUND = { type: 'Rejected', reason: 'NOT_FOUND', message: 'not there' } as const;
const TOO_MANY = { type: 'Rejected', reason: 'TOO_MANY', message: 'too many' } as const;

describe('edge/queue: resources', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const errorOf = ({ json }: { json: unknown }) => (json as { error: string }).error;

  describe('queues', () => {
    const queue: QueueView = { name: 'q', parallelism: 2, isPaused: true, lag: 3, createdAtMs: 10, updatedAtMs: 20 };
    const record = { name: 'q', parallelism: 2, paused: true, lag: 3, createdAt: 10, updatedAt: 20 };

    it('POST /v2/queues sets parallelism 1 and running, unless the body has other values', async () => {
      for (const path of ['/v2/queues', '/v2/queues/']) {
        expect((await face.post(path, { body: { queueName: 'a' } })).status).to.equal(200);
        expect(face.gateway.last('SetQueue')).to.include({ name: 'a', parallelism: 1, isPaused: false });
      }
      await face.post('/v2/queues', { body: { queueName: 'a', parallelism: 5, paused: true } });
      expect(face.gateway.last('SetQueue')).to.include({ name: 'a', parallelism: 5, isPaused: true });
    });

    const WRONG = [
      [{}, /^queueName /],
      [{ queueName: 'a b' }, /^queueName may have letters/],
      [{ queueName: 'a', parallelism: 0 }, /^parallelism must not be less than 1/],
      [{ queueName: 'a', parallelism: '2' }, /^parallelism must be an integer/],
      [{ queueName: 'a', paused: 1 }, /^paused must be a boolean/],
      [[], /^the body is not a JSON object/],
      ['{', /^the body is not valid JSON/],
    ] as const;
    for (const [body, text] of WRONG) {
      it(`POST /v2/queues refuses ${JSON.stringify(body)}, with an error that names the field`, async () => {
        const answer = await face.post('/v2/queues', { body });
        expect(answer.status).to.equal(400);
        expect(errorOf(answer)).to.match(text);
      });
    }

    it('POST /v2/queues answers 412 above the account’s number of queues', async () => {
      face.gateway.answer('SetQueue', TOO_MANY);
      expect((await face.post('/v2/queues', { body: { queueName: 'a' } })).status).to.equal(412);
    });

    it('are listed, read, deleted, paused and resumed', async () => {
      face.gateway.answer('ListQueues', { type: 'Queues', queues: [queue, queue] });
      face.gateway.answer('GetQueue', { type: 'Queues', queues: [queue] });
      expect((await face.get('/v2/queues')).json).to.deep.equal([record, record]);
      expect((await face.get('/v2/queues/q')).json).to.deep.equal(record);
      expect((await face.delete('/v2/queues/q')).status).to.equal(200);
      expect(face.gateway.last('DeleteQueue').name).to.equal('q');
      await face.post('/v2/queues/q/pause');
      expect(face.gateway.last('PauseQueue')).to.include({ name: 'q', isPaused: true });
      await face.post('/v2/queues/q/resume');
      expect(face.gateway.last('PauseQueue')).to.include({ name: 'q', isPaused: false });
    });

    it('answer 404 for an unknown name, and 400 for an invalid one', async () => {
      face.gateway.answer('GetQueue', NOT_FOUND);
      expect((await face.get('/v2/queues/q')).status).to.equal(404);
      for (const answer of [await face.get('/v2/queues/a%20b'), await face.post('/v2/queues/a%20b/pause')]) {
        expect([answer.status, errorOf(answer)]).to.deep.equal([
          400,
          'queue name may have letters, digits, hyphens, underscores and periods only',
        ]);
      }
    });
  });

  describe('URL groups', () => {
    const group: UrlGroup = {
      name: 'g',
      endpoints: [
        { url: URL, name: 'one' },
        { url: `${URL}2`, name: undefined },
      ],
      defaults: [['svc-retries', '1']],
      createdAtMs: 1,
      updatedAtMs: 2,
    };

    it('are listed and read, with the given fields of their endpoints only', async () => {
      const record = {
        name: 'g',
        createdAt: 1,
        updatedAt: 2,
        endpoints: [{ url: URL, name: 'one' }, { url: `${URL}2` }],
      };
      face.gateway.answer('ListGroups', { type: 'Groups', groups: [group] });
      face.gateway.answer('GetGroup', { type: 'Groups', groups: [group] });
      expect((await face.get('/v2/topics')).json).to.deep.equal([record]);
      expect((await face.get('/v2/topics/g')).json).to.deep.equal(record);
    });

    it('get endpoints by POST and lose them by DELETE, with a body', async () => {
      await face.post('/v2/topics/g/endpoints', {
        body: {
          endpoints: [
            { url: URL, name: 'a' },
            { url: URL, name: null },
          ],
        },
      });
      expect(face.gateway.last('UpsertEndpoints')).to.deep.include({
        group: 'g',
        endpoints: [
          { url: URL, name: 'a' },
          { url: URL, name: undefined },
        ],
      });
      const gone = await face.delete('/v2/topics/g/endpoints', { body: { endpoints: [{ name: 'a' }, { url: URL }] } });
      expect(gone.status).to.equal(200);
      expect(face.gateway.last('RemoveEndpoints').endpoints).to.deep.equal([
        { url: undefined, name: 'a' },
        { url: URL, name: undefined },
      ]);
    });

    const WRONG = [
      [{}, /^endpoints must be an array/],
      [{ endpoints: [] }, /^endpoints should not be empty/],
      [{ endpoints: [3] }, /^an endpoint is not a JSON object/],
      [{ endpoints: [{ url: 3 }] }, /^endpoints\[0\]\.url must be /],
      [{ endpoints: [{ url: URL }, { name: 'a' }] }, /^endpoints\[1\]\.url is missing/],
      [{ endpoints: [{ url: 'example.com' }] }, /invalid scheme/],
      [{ endpoints: [{ url: 'https://forbidden.example' }] }, /^invalid endpoint url: endpoint is forbidden/],
    ] as const;
    for (const [body, text] of WRONG) {
      it(`refuse ${JSON.stringify(body)}, with an error that names the field`, async () => {
        const answer = await face.post('/v2/topics/g/endpoints', { body });
        expect(answer.status).to.equal(400);
        expect(errorOf(answer)).to.match(text);
      });
    }

    it('get default headers by PATCH, one value or a list, in either spelling', async () => {
      const headers = { 'Svc-Retries': '3', 'Acme-Header-Forward': ['true'], 'acme-forward-acme-x': 'y' };
      expect((await face.patch('/v2/topics/g', { body: { headers } })).status).to.equal(200);
      expect(face.gateway.last('SetGroupDefaults').defaults).to.deep.equal([
        ['svc-retries', '3'],
        ['svc-header-forward', 'true'],
        ['svc-forward-svc-x', 'y'],
      ]);
      expect(errorOf(await face.patch('/v2/topics/g', { body: { headers: { a: {} } } }))).to.match(
        /^headers\.a must be/,
      );
    });

    it('refuse default headers that no message could have', async () => {
      for (const headers of [{ 'Svc-Retries': 'x' }, { 'Svc-Callback': 'https://forbidden.example' }]) {
        expect((await face.patch('/v2/topics/g', { body: { headers } })).status).to.equal(400);
      }
      expect(face.gateway.asked).to.deep.equal([]);
    });

    it('are deleted with DELETE, also when the name is unknown', async () => {
      expect((await face.delete('/v2/topics/g')).status).to.equal(200);
      expect(face.gateway.last('DeleteGroup').group).to.equal('g');
    });
  });

  describe('schedules', () => {
    const schedule: Schedule = {
      id: 'scd_1' as never,
      cron: 'CRON_TZ=Europe/Berlin 0 8 * * *',
      destination: { kind: 'url', url: URL },
      settings: parse({ 'content-type': 'application/json', 'svc-delay': '10s', 'svc-timeout': '1m' }).settings,
      ownHeaders: [],
      queueName: undefined,
      body: { number: 0, bytes: 0 },
      callerIp: '192.0.2.1',
      isAlias: false,
      isPaused: false,
      createdAtMs: 1,
      lastTickAtMs: 2,
      nextTickAtMs: 3,
      lastOutcomes: new Map([['msg_1' as never, 'SUCCESS']]),
    };

    it('GET /v2/ticks lists the next ticks of a cron expression before a schedule exists', async () => {
      const asked = new URLSearchParams({ cron: '0 8 * * * ', fromDate: '1767225600000', count: '2' });
      expect((await face.get(`/v2/ticks?${asked}`, { token: QUEUE_READ_ONLY_TOKEN })).json).to.deep.equal({
        cron: '0 8 * * *',
        ticks: [Date.UTC(2026, 0, 1, 8), Date.UTC(2026, 0, 2, 8)],
      });
      asked.append('toDate', String(Date.UTC(2026, 0, 1, 8)));
      expect((await face.get(`/v2/ticks?${asked}`)).json)
        .to.have.property('ticks')
        .with.length(1);
      expect((await face.get(`/v2/ticks?cron=${encodeURIComponent('* * * * *')}&count=100`)).status).to.equal(200);
      for (const wrong of ['', '?cron=', '?cron=x', '?cron=*+*+*+*+*&count=101', '?cron=*+*+*+*+*&zone=UTC']) {
        expect((await face.get(`/v2/ticks${wrong}`)).status, wrong).to.equal(400);
      }
    });

    it('POST /v2/schedules creates one for a raw destination, with a trimmed cron expression and a new id', async () => {
      face.gateway.answer('SetSchedule', { type: 'ScheduleSet', id: 'scd_9' as never });
      const headers = { 'Svc-Cron': '* * * * *', 'Svc-Queue-Name': 'q', 'Svc-Delay': '5s' };
      const answer = await face.post(`/v2/schedules/${URL}a?b=c`, { headers, body: 'tick' });
      expect([answer.status, answer.json]).to.deep.equal([200, { scheduleId: 'scd_9' }]);
      const made = face.gateway.last('SetSchedule').schedule;
      expect(made).to.deep.include({ cron: '* * * * *', queueName: 'q', callerIp: '127.0.0.1' });
      expect(made.destination).to.include({ kind: 'url', url: `${URL}a?b=c` });
      expect(made.id).to.match(/^scd_/);
      expect(Buffer.from(made.body).toString()).to.equal('tick');
    });

    it('POST /v2/schedules creates one for a group, and replaces one by the caller’s id', async () => {
      face.gateway.answer('SetSchedule', { type: 'ScheduleSet', id: 'mine' as never });
      await face.post('/v2/schedules/my-group', { headers: { 'Svc-Cron': '@hourly', 'Svc-Schedule-Id': 'mine' } });
      expect(face.gateway.last('SetSchedule').schedule).to.deep.include({ id: 'mine' });
      expect(face.gateway.last('SetSchedule').schedule.destination).to.include({ kind: 'group', name: 'my-group' });
    });

    it('POST /v2/schedules refuses the schedule ids "." and "..", which clients remove from a path', async () => {
      for (const id of ['.', '..']) {
        const headers = { 'Svc-Cron': '* * * * *', 'Svc-Schedule-Id': id };
        const answer = await face.post('/v2/schedules/https://a.example/', { headers });
        expect(answer.status).to.equal(400);
        expect(answer.text).to.contain('which HTTP clients remove from a path');
      }
    });

    it('POST /v2/schedules refuses one without a cron expression, with a bad one, or with a bad id', async () => {
      const refused = async (headers: Record<string, string>) =>
        errorOf(await face.post(`/v2/schedules/${URL}`, { headers }));
      expect(await refused({})).to.equal(
        'Invalid cron expression: empty spec string; write five fields such as */5 * * * *, or @daily',
      );
      expect(await refused({ 'Svc-Cron': 'nonsense' })).to.match(/Invalid cron expression/);
      expect(await refused({ 'Svc-Cron': '* * * * *', 'Svc-Schedule-Id': 'a b' })).to.match(/schedule-id/);
    });

    it('POST /v2/schedules answers 412 above the account’s number of schedules', async () => {
      face.gateway.answer('SetSchedule', TOO_MANY);
      const headers = { 'Svc-Cron': '* * * * *' };
      expect((await face.post(`/v2/schedules/${URL}`, { headers })).status).to.equal(412);
    });

    it('are listed as an array, and read', async () => {
      const content = Buffer.from('{"a":1}');
      face.gateway.answer('ListSchedules', { type: 'Schedules', schedules: [{ schedule, content: undefined }] });
      face.gateway.answer('GetSchedule', { type: 'Schedules', schedules: [{ schedule, content }] });
      const record = {
        scheduleId: 'scd_1',
        cron: 'CRON_TZ=Europe/Berlin 0 8 * * *',
        destination: URL,
        method: 'POST',
        createdAt: 1,
        isPaused: false,
        retries: 3,
        header: { 'Content-Type': ['application/json'] },
        delay: 10,
        timeout: 60,
        callerIP: '192.0.2.1',
        callerIp: '192.0.2.1',
        lastScheduleTime: 2,
        nextScheduleTime: 3,
        lastScheduleStates: { msg_1: 'SUCCESS' },
      };
      expect((await face.get('/v2/schedules')).json).to.deep.equal([record]);
      expect((await face.get('/v2/schedules/scd_1')).json).to.deep.equal({ ...record, body: '{"a":1}' });
    });

    it('are paused and resumed by PATCH and by POST, and deleted', async () => {
      for (const method of ['PATCH', 'POST']) {
        for (const [action, isPaused] of [
          ['pause', true],
          ['resume', false],
        ] as const) {
          expect((await face.request(method, `/v2/schedules/scd_1/${action}`)).status).to.equal(200);
          expect(face.gateway.last('PauseSchedule')).to.include({ id: 'scd_1', isPaused });
        }
      }
      expect((await face.delete('/v2/schedules/scd_1')).status).to.equal(200);
      expect(face.gateway.last('DeleteSchedule').id).to.equal('scd_1');
    });

    it('answer 404 for an unknown id', async () => {
      face.gateway.answer('GetSchedule', NOT_FOUND);
      face.gateway.answer('PauseSchedule', NOT_FOUND);
      expect((await face.get('/v2/schedules/scd_1')).status).to.equal(404);
      expect((await face.patch('/v2/schedules/scd_1/pause')).status).to.equal(404);
    });

    it('accept a destination URL that ends like an action', async () => {
      face.gateway.answer('SetSchedule', { type: 'ScheduleSet', id: 'scd_9' as never });
      await face.post(`/v2/schedules/${URL}pause`, { headers: { 'Svc-Cron': '* * * * *' } });
      expect(face.gateway.last('SetSchedule').schedule.destination).to.include({ url: `${URL}pause` });
    });
  });

  describe('flow control', () => {
    const flow: FlowView = {
      key: 'k',
      waiting: 4,
      parallelism: 3,
      active: 2,
      rate: undefined,
      started: 1,
      periodSeconds: 60,
      windowStartedAtMs: 1_700_000_000_999,
      isPaused: false,
      isParallelismPinned: true,
      isRatePinned: false,
    };
    const record = {
      flowControlKey: 'k',
      waitListSize: 4,
      parallelismMax: 3,
      parallelismCount: 2,
      rateMax: 0,
      rateCount: 1,
      ratePeriod: 60,
      ratePeriodStart: 1_700_000_000,
      isPaused: false,
      isPinnedParallelism: true,
      isPinnedRate: false,
    };

    it('lists, searches and reads keys with any characters', async () => {
      face.gateway.answer('ListFlows', { type: 'Flows', flows: [flow] });
      face.gateway.answer('GetFlow', { type: 'Flows', flows: [flow] });
      expect((await face.get('/v2/flowControl?search=ab')).json).to.deep.equal([record]);
      expect(face.gateway.last('ListFlows').search).to.equal('ab');
      for (const [path, key] of [
        ['k', 'k'],
        ['a%20b', 'a b'],
        ['user/1', 'user/1'],
        ['user%2F1', 'user/1'],
        ['__proto__', '__proto__'],
      ]) {
        expect((await face.get(`/v2/flowControl/${path}`)).json).to.deep.equal(record);
        expect(face.gateway.last('GetFlow').key).to.equal(key);
      }
    });

    it('pauses, resumes, resets, pins and unpins keys', async () => {
      const post = (path: string) => face.post(`/v2/flowControl/${path}`).then(({ status }) => status);
      expect(await post('a/b/pause')).to.equal(200);
      expect(face.gateway.last('PauseFlow')).to.include({ key: 'a/b', isPaused: true });
      expect(await post('k/resume')).to.equal(200);
      expect(face.gateway.last('PauseFlow')).to.include({ key: 'k', isPaused: false });
      expect(await post('k/resetRate')).to.equal(200);
      expect(face.gateway.last('ResetFlow')).to.include({ key: 'k', all: false });
      expect(await post('k/reset')).to.equal(200);
      expect(face.gateway.last('ResetFlow')).to.include({ all: true });
      expect(await post('k/pin?parallelism=2&rate=10&period=60')).to.equal(200);
      expect(face.gateway.last('PinFlow')).to.include({ parallelism: 2, rate: 10, periodSeconds: 60 });
      expect(await post('k/unpin?rate=True')).to.equal(200);
      expect(face.gateway.last('UnpinFlow')).to.include({ parallelism: false, rate: true });
    });

    const WRONG = ['', '?parallelism=0', '?rate=x', '?period=0', '?period=604801', '?speed=1', '?rate=1&rate=2'];
    for (const query of WRONG) {
      it(`refuses to pin with “${query}”`, async () => {
        expect((await face.post(`/v2/flowControl/k/pin${query}`)).status).to.equal(400);
      });
    }

    it('accepts keys of at most 256 bytes', async () => {
      expect((await face.post(`/v2/flowControl/${'k'.repeat(256)}/pause`)).status).to.equal(200);
      expect((await face.post(`/v2/flowControl/${'k'.repeat(257)}/pause`)).status).to.equal(400);
    });

    it('answers 400 to an unpin option that is no boolean', async () => {
      expect((await face.post('/v2/flowControl/k/unpin?rate=1')).status).to.equal(400);
    });

    it('GET /v2/globalParallelism shows the account’s parallelism', async () => {
      face.gateway.answer('GetGlobalParallelism', { type: 'GlobalParallelism', max: 50, active: 3 });
      expect((await face.get('/v2/globalParallelism')).json).to.deep.equal({ parallelismMax: 50, parallelismCount: 3 });
    });
  });

  describe('signing keys', () => {
    it('are shown with GET /v2/keys and rotated with POST /v2/keys/rotate', async () => {
      expect((await face.get('/v2/keys')).json).to.deep.equal({ current: 'sig_1', next: 'sig_2' });
      expect((await face.post('/v2/keys/rotate')).json).to.deep.equal({ current: 'sig_2', next: 'sig_3' });
    });

    it('are answered with 503 until this process has loaded them', async () => {
      face.keys = undefined;
      expect((await face.get('/v2/keys')).status).to.equal(503);
    });
  });

  it('a read-only token changes no resource and reads all of them', async () => {
    const changes = [
      ['POST', '/v2/queues', { queueName: 'a' }],
      ['DELETE', '/v2/queues/a'],
      ['POST', '/v2/queues/a/pause'],
      ['POST', '/v2/topics/g/endpoints', { endpoints: [{ url: URL }] }],
      ['DELETE', '/v2/topics/g/endpoints', { endpoints: [{ url: URL }] }],
      ['PATCH', '/v2/topics/g', { headers: {} }],
      ['DELETE', '/v2/topics/g'],
      ['POST', `/v2/schedules/${URL}`],
      ['DELETE', '/v2/schedules/s'],
      ['PATCH', '/v2/schedules/s/pause'],
      ['POST', '/v2/batch', []],
      ['DELETE', '/v2/messages'],
      ['DELETE', '/v2/messages/m'],
      ['DELETE', '/v2/dlq'],
      ['DELETE', '/v2/dlq/1-1'],
      ['POST', '/v2/dlq/retry'],
      ['POST', '/v2/dlq/retry/1-1'],
      ['POST', '/v2/flowControl/k/pause'],
      ['POST', '/v2/flowControl/k/pin?rate=1'],
      ['POST', '/v2/keys/rotate'],
      ['GET', '/v2/keys'],
    ] as const;
    for (const [method, path, body] of changes) {
      const options = { token: QUEUE_READ_ONLY_TOKEN, ...(body === undefined ? {} : { body }) };
      const answer = await face.request(method, path, options);
      expect(answer.status, `${method} ${path}`).to.equal(403);
    }
    expect(face.gateway.asked).to.deep.equal([]);
    face.gateway.answer('ListQueues', { type: 'Queues', queues: [] });
    expect((await face.get('/v2/queues', { token: QUEUE_READ_ONLY_TOKEN })).json).to.deep.equal([]);
  });
});
