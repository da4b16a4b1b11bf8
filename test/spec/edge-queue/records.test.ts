/** Proves CFI1–CFI3, QC1. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Envelope, HeaderList, MessageView, PendingView, QueueReply } from '../../../src/domain/queue/index.js';
import type { DlqRow, LogEvent } from '../../../src/ports/index.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { parse } from '../../support/queue-settings.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://api.example/';
const NOT_FOUND = { type: 'Rejected', reason: 'NOT_FOUND', message: 'message msg_1 not found' } as const;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function envelope(headers: Record<string, string>, changes: Partial<Envelope> = {}): Envelope {
  return {
    ...PLAIN_ENVELOPE,
    url: URL,
    settings: parse(headers).settings,
    ...changes,
  };
}

function view(of: Envelope): MessageView {
  const body = { number: 1, bytes: 5 };
  return {
    id: 'msg_1' as never,
    envelope: of,
    body,
    createdAtMs: 100,
    notBeforeMs: 200,
    status: 'waiting',
    retried: 0,
  };
}

describe('edge/queue: messages', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const record = async (of: Envelope, content?: Uint8Array) => {
    face.gateway.answer('GetMessage', { type: 'Message', message: view(of), content });
    return (await face.get('/v2/messages/msg_1')).json as Record<string, unknown>;
  };

  it('GET /v2/messages/:id shows the fields that are always there, and no unset one', async () => {
    expect(await record(envelope({}))).to.deep.equal({
      messageId: 'msg_1',
      url: URL,
      method: 'POST',
      header: {},
      maxRetries: 3,
      notBefore: 200,
      createdAt: 100,
      callerIP: '192.0.2.1',
      callerIp: '192.0.2.1',
    });
  });

  it('GET /v2/messages/:id shows every option of the message', async () => {
    const of = envelope(
      {
        'content-type': 'text/plain',
        'svc-forward-x-trace': 'a',
        'svc-callback': 'https://cb.example/',
        'svc-callback-forward-x-of': 'callback',
        'svc-failure-callback': 'https://fail.example/',
        'svc-label': 'first, second',
        'svc-flow-control-key': 'k',
        'svc-flow-control-value': 'parallelism=2',
        'svc-retry-delay': '1000 * (1 + retried)',
      },
      { topicName: 'g', endpointName: 'e', queueName: 'q', scheduleId: 'scd_1' as never },
    );
    const shown = await record(of, Buffer.from('hällo'));
    expect(shown).to.deep.include({
      header: { 'Content-Type': ['text/plain'], 'X-Trace': ['a'] },
      body: 'hällo',
      topicName: 'g',
      endpointName: 'e',
      queueName: 'q',
      scheduleId: 'scd_1',
      callback: 'https://cb.example/',
      failureCallback: 'https://fail.example/',
      label: 'first',
      labels: ['first', 'second'],
      flowControlKey: 'k',
      parallelism: 2,
      period: 1,
      retryDelayExpression: '1000 * (1 + retried)',
    });
    expect(shown.callbackHeader).to.deep.include({ 'X-Of': ['callback'] });
    expect(shown).not.to.have.property('rate');
  });

  it('GET /v2/messages/:id shows a body that is not UTF-8 as base64', async () => {
    const shown = await record(envelope({}), Buffer.from([0xff, 0xfe]));
    expect(shown.bodyBase64).to.equal('//4=');
    expect(shown).not.to.have.property('body');
  });

  it('GET /v2/messages/:id shows a repeated header as two values, for any name', async () => {
    const header: HeaderList = [
      ['X-A', '1'],
      ['X-A', '2'],
      ['__proto__', 'x'],
    ];
    const of = envelope({});
    const answer = await record({ ...of, settings: { ...of.settings, header } });
    expect(Object.entries(answer.header as object)).to.deep.equal([
      ['X-A', ['1', '2']],
      ['__proto__', ['x']],
    ]);
  });

  it('GET /v2/messages/:id shows the hash of a redacted field', async () => {
    const headers = { 'svc-redact-fields': 'body, header[X-Key]', 'svc-forward-x-key': 'k', 'svc-forward-x-open': 'o' };
    const shown = await record(envelope(headers), Buffer.from('secret'));
    expect(shown.body).to.equal(`REDACTED:${sha256('secret')}`);
    expect(shown.header).to.deep.equal({ 'X-Key': [`REDACTED:${sha256('k')}`], 'X-Open': ['o'] });
  });

  it('GET and DELETE /v2/messages/:id answer 404 to an unknown id', async () => {
    face.gateway.answer('GetMessage', NOT_FOUND);
    face.gateway.answer('CancelMessage', NOT_FOUND);
    expect((await face.get('/v2/messages/msg_1')).status).to.equal(404);
    expect((await face.delete('/v2/messages/msg_1')).json).to.deep.equal({ error: 'message msg_1 not found' });
  });

  it('DELETE /v2/messages/:id cancels one message and answers the number 1', async () => {
    face.gateway.answer('CancelMessage', { type: 'Cancelled', count: 1 });
    const answer = await face.delete('/v2/messages/msg_1');
    expect([answer.status, answer.json]).to.deep.equal([200, { cancelled: 1 }]);
  });

  describe('GET /v2/messages', () => {
    const pending: PendingView = { ...view(envelope({})), retried: 1, state: 'RETRYING', dueAtMs: 300 };
    const messages = (...some: PendingView[]): QueueReply => ({
      type: 'Messages',
      messages: some,
      counts: [1, 2, 3, 4],
      after: some.length === 0 ? undefined : 17,
    });

    it('lists messages with their state, without bodies, and the numbers per state', async () => {
      face.gateway.answer('ListMessages', messages(pending));
      const { json } = await face.get('/v2/messages', { token: QUEUE_READ_ONLY_TOKEN });
      expect(json).to.deep.include({
        counts: { SCHEDULED: 1, WAITING: 2, DELIVERING: 3, RETRYING: 4 },
        cursor: '17',
      });
      const [shown] = (json as { messages: object[] }).messages;
      expect(shown).to.include({
        messageId: 'msg_1',
        state: 'RETRYING',
        retried: 1,
        bodySize: 5,
        nextDeliveryTime: 300,
      });
      expect(shown).not.to.have.any.keys('body', 'bodyBase64');
    });

    it('accepts states, filters, an order and a cursor', async () => {
      face.gateway.answer('ListMessages', messages());
      await face.get('/v2/messages');
      expect(face.gateway.last('ListMessages')).to.deep.equal({
        type: 'ListMessages',
        filter: {},
        states: [],
        order: 'latestFirst',
        count: 100,
        after: undefined,
      });
      await face.get('/v2/messages?state=waiting,RETRYING&label=x&queueName=q&order=earliestFirst&count=5&cursor=17');
      expect(face.gateway.last('ListMessages')).to.deep.equal({
        type: 'ListMessages',
        filter: { label: ['x'], queueName: ['q'] },
        states: ['WAITING', 'RETRYING'],
        order: 'earliestFirst',
        count: 5,
        after: 17,
      });
    });

    for (const query of ['state=DELIVERED', 'count=101', 'count=0', 'cursor=1-2', 'order=up', 'lable=x', 'label=']) {
      it(`answers 400 to ${query}`, async () => {
        expect((await face.get(`/v2/messages?${query}`)).status).to.equal(400);
      });
    }
  });

  describe('DELETE /v2/messages', () => {
    beforeEach(() => face.gateway.answer('CancelMessages', { type: 'Cancelled', count: 4 }));
    const selector = () => face.gateway.last('CancelMessages').selector;

    it('takes ids in the query, repeated or separated by commas, and ignores other filters then', async () => {
      const answer = await face.delete('/v2/messages?messageIds=a&messageIds=b,c&label=x&messageIds=a');
      expect(answer.json).to.deep.equal({ cancelled: 4 });
      expect(selector()).to.deep.equal({ kind: 'ids', messageIds: ['a', 'b', 'c'] });
    });

    it('takes ids or filters in a JSON body', async () => {
      await face.delete('/v2/messages', { body: { messageIds: ['a', 'b'] } });
      expect(selector()).to.deep.equal({ kind: 'ids', messageIds: ['a', 'b'] });
      await face.delete('/v2/messages', { body: { label: ['x', 'y'], fromDate: 5 } });
      expect(selector()).to.deep.equal({ kind: 'filter', filter: { label: ['x', 'y'], fromMs: 5 }, count: undefined });
    });

    it('accepts every filter', async () => {
      const query = [
        'topicName=g&queueName=q&url=https://a.example/?x=1,2,https://b.example&host=a.example&path=/a,/b',
        'label=x&label=y,z&flowControlKey=k&fromDate=1&toDate=2&scheduleId=s&callerIp=1.1.1.1&callerIP=2.2.2.2&count=100',
      ].join('&');
      await face.delete(`/v2/messages?${query}`);
      expect(selector()).to.deep.equal({
        kind: 'filter',
        count: undefined,
        filter: {
          topicName: ['g'],
          queueName: ['q'],
          // URLs as the client wrote them, and in the form that is called.
          url: ['https://a.example/?x=1,2', 'https://b.example', 'https://b.example/'],
          host: ['a.example'],
          path: ['/a', '/b'],
          label: ['x', 'y', 'z'],
          flowControlKey: ['k'],
          fromMs: 1,
          toMs: 2,
          scheduleId: ['s'],
          callerIp: ['1.1.1.1', '2.2.2.2'],
        },
      });
    });

    it('cancels all messages without a selector', async () => {
      await face.delete('/v2/messages');
      expect(selector()).to.deep.equal({ kind: 'filter', filter: {}, count: undefined });
    });

    const WRONG = [
      '?lable=x',
      '?label=',
      '?count=some',
      '?count=0',
      '?fromDate=x',
      '?messageIds=',
      '/',
      '?fromDate=1&fromDate=2',
    ];
    for (const end of WRONG) {
      it(`answers 400 to “/v2/messages${end}”, and cancels none`, async () => {
        const answer = await face.delete(`/v2/messages${end}`);
        expect(answer.status).to.equal(400);
        expect(face.gateway.asked).to.deep.equal([]);
      });
    }

    it('answers 400 to one value of a filter too many', async () => {
      const labels = Array.from({ length: 101 }, (_, index) => `l${index}`);
      expect((await face.delete(`/v2/messages?label=${labels.slice(1)}`)).status).to.equal(200);
      expect((await face.delete(`/v2/messages?label=${labels}`)).status).to.equal(400);
    });

    it('answers 400 to an empty list of ids, which does not mean all', async () => {
      expect((await face.delete('/v2/messages', { body: { messageIds: [] } })).status).to.equal(400);
    });

    it('answers 400 to one id too many', async () => {
      const ids = Array.from({ length: 1001 }, (_, index) => `m${index}`);
      expect((await face.delete('/v2/messages', { body: { messageIds: ids.slice(1) } })).status).to.equal(200);
      expect((await face.delete('/v2/messages', { body: { messageIds: ids } })).status).to.equal(400);
    });
  });
});

describe('edge/queue: dead letters', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const row = (status: number, body = ''): DlqRow => ({
    dlqId: '5-1' as never,
    messageId: 'msg_1' as never,
    envelope: envelope({}),
    body: Buffer.from('x'),
    createdAtMs: 1,
    notBeforeMs: 2,
    failedAtMs: 5,
    retried: 3,
    response: { status, header: [['X-A', '1']], body: Buffer.from(body, 'latin1'), error: 'HTTP status 500' },
  });

  it('GET /v2/dlq lists them with their last response, including the newest ones', async () => {
    face.messageLog.dlqPage = { entries: [row(500, 'no')], after: undefined };
    const answer = await face.get('/v2/dlq');
    expect(answer.json).to.have.all.keys('messages');
    const [entry] = (answer.json as { messages: Record<string, unknown>[] }).messages;
    expect(entry).to.deep.include({
      dlqId: '5-1',
      messageId: 'msg_1',
      body: 'x',
      responseStatus: 500,
      responseHeader: { 'X-A': ['1'] },
      responseBody: 'no',
    });
    expect(face.messageLog.seen).to.deep.equal([7]);
    expect(face.messageLog.selectors).to.deep.equal([
      { kind: 'filter', filter: {}, count: 100, after: undefined, order: 'earliestFirst' },
    ]);
  });

  it('GET /v2/dlq shows status 0 without a response, and base64 for a response that is no text', async () => {
    face.messageLog.dlqPage = { entries: [row(0), row(500, '\xff')], after: undefined };
    const { messages } = (await face.get('/v2/dlq')).json as { messages: Record<string, unknown>[] };
    expect(messages[0]).to.include({ responseStatus: 0 });
    expect(messages[0]).not.to.have.property('responseBody');
    expect(messages[1]).to.include({ responseBodyBase64: '/w==' });
  });

  it('GET /v2/dlq lists them in pages, without a cursor at the end and for ids', async () => {
    face.messageLog.dlqPage = { entries: [row(500)], after: '5-1' as never };
    expect((await face.get('/v2/dlq?count=1')).json).to.include({ cursor: '5-1' });
    expect((await face.get('/v2/dlq?dlqIds=5-1')).json).not.to.have.property('cursor');
    await face.get('/v2/dlq?cursor=5-1&order=latestFirst&responseStatus=500,0&messageId=m');
    expect(face.messageLog.selectors.at(-1)).to.deep.equal({
      kind: 'filter',
      filter: { messageId: ['m'], responseStatus: [500, 0] },
      count: 100,
      after: '5-1',
      order: 'latestFirst',
    });
  });

  it('GET /v2/dlq?source=workflow lists failed runs instead of messages', async () => {
    face.gateway.answer('ListFailedRuns', { type: 'FailedRuns', runs: [], after: undefined });
    expect((await face.get('/v2/dlq?source=workflow')).json).to.deep.equal({ messages: [] });
  });

  it('GET /v2/dlq answers a long list completely', async () => {
    const entries = Array.from({ length: 100 }, () => row(500, 'y'.repeat(20_000)));
    face.messageLog.dlqPage = { entries, after: '5-1' as never };
    const answer = await face.get('/v2/dlq');
    expect(answer.headers['transfer-encoding']).to.equal('chunked');
    expect((answer.json as { messages: unknown[] }).messages).to.have.lengthOf(100);
    expect(answer.json).to.include({ cursor: '5-1' });
  });

  it('GET /v2/dlq cuts the connection when a long list fails halfway, so that clients notice', async () => {
    const broken = { ...row(500), envelope: undefined as never };
    face.messageLog.dlqPage = { entries: [row(500, 'y'.repeat(200_000)), broken], after: undefined };
    const failure = await face.get('/v2/dlq').then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    );
    expect(failure?.code).to.equal('ECONNRESET');
    expect(face.log.lines.map(({ event }) => event)).to.deep.equal(['queue.request.failed']);
  });

  it('GET /v2/dlq/:id shows one', async () => {
    const { body: _, response, ...rest } = row(500);
    const entry = { ...rest, body: { number: 1, bytes: 1 }, response: { ...response, body: { number: 2, bytes: 2 } } };
    face.gateway.answer('GetDlq', { type: 'Dlq', entry, content: Buffer.from('x'), response: Buffer.from('no') });
    const answer = await face.get('/v2/dlq/5-1');
    expect(answer.json).to.deep.include({ dlqId: '5-1', body: 'x', responseStatus: 500, responseBody: 'no' });
    face.gateway.answer('GetDlq', NOT_FOUND);
    expect((await face.get('/v2/dlq/5-1')).status).to.equal(404);
  });

  it('DELETE /v2/dlq/:id deletes one, and answers 404 when it is already gone', async () => {
    face.gateway.answer('DeleteDlq', { type: 'DlqDeleted', count: 1, after: undefined });
    expect((await face.delete('/v2/dlq/5-1')).status).to.equal(200);
    face.gateway.answer('DeleteDlq', { type: 'DlqDeleted', count: 0, after: undefined });
    expect((await face.delete('/v2/dlq/5-1')).status).to.equal(404);
  });

  it('DELETE /v2/dlq deletes by query or body, with a cursor while there are more', async () => {
    face.gateway.answer('DeleteDlq', { type: 'DlqDeleted', count: 2, after: '6-2' as never });
    expect((await face.delete('/v2/dlq?label=a,b&count=2')).json).to.deep.equal({ deleted: 2, cursor: '6-2' });
    expect(face.gateway.last('DeleteDlq').selector).to.deep.include({ filter: { label: ['a', 'b'] }, count: 2 });
    face.gateway.answer('DeleteDlq', { type: 'DlqDeleted', count: 2, after: undefined });
    expect((await face.delete('/v2/dlq', { body: { dlqIds: ['1-1', '2-2'] } })).json).to.deep.equal({ deleted: 2 });
    expect(face.gateway.last('DeleteDlq').selector).to.deep.equal({ kind: 'ids', dlqIds: ['1-1', '2-2'] });
  });

  const WRONG = [
    '?lable=x',
    '?host=a',
    '?path=/a',
    '?count=101',
    '?cursor=x',
    '?order=any',
    '?responseStatus=x',
    '/',
    '?dlqIds=',
  ];
  for (const end of WRONG) {
    it(`DELETE /v2/dlq and POST /v2/dlq/retry answer 400 to “${end}”`, async () => {
      expect((await face.delete(`/v2/dlq${end}`)).status).to.equal(400);
      expect((await face.post(`/v2/dlq/retry${end}`)).status).to.equal(400);
      expect(face.gateway.asked).to.deep.equal([]);
    });
  }

  it('DELETE /v2/dlq accepts the former filter api', async () => {
    face.gateway.answer('DeleteDlq', { type: 'DlqDeleted', count: 0, after: undefined });
    expect((await face.delete('/v2/dlq?api=x')).json).to.deep.equal({ deleted: 0 });
  });

  it('POST /v2/dlq/retry answers 201 with one object for each message', async () => {
    const results = [{ messageId: 'msg_9' as never, url: URL, isDuplicate: false }];
    face.gateway.answer('RetryDlq', { type: 'DlqRetried', results, after: '5-1' as never });
    const answer = await face.post('/v2/dlq/retry?count=1', { headers: { 'Svc-Retries': '0' } });
    expect(answer.status).to.equal(201);
    expect(answer.json).to.deep.equal({ responses: [{ messageId: 'msg_9', url: URL }], cursor: '5-1' });
    const { selector, overrides, firstId } = face.gateway.last('RetryDlq');
    expect(selector).to.deep.include({ kind: 'filter', count: 1 });
    expect(overrides).to.deep.equal({ headers: [['svc-retries', '0']], query: [] });
    expect(firstId).to.match(/^msg_/);
  });

  it('POST /v2/dlq/retry/:id answers with the new message', async () => {
    const results = [{ messageId: 'msg_9' as never, url: URL, isDuplicate: false }];
    face.gateway.answer('RetryDlq', { type: 'DlqRetried', results, after: undefined });
    const answer = await face.post('/v2/dlq/retry/5-1?svc-delay=10s', {
      body: '{}',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect([answer.status, answer.json]).to.deep.equal([201, { messageId: 'msg_9', url: URL }]);
    expect(face.gateway.last('RetryDlq').overrides).to.deep.equal({ headers: [], query: [['svc-delay', '10s']] });
  });

  it('POST /v2/dlq/retry answers 404 when an id is missing, and an empty answer without a match', async () => {
    face.gateway.answer('RetryDlq', { type: 'Rejected', reason: 'NOT_FOUND', message: 'some messages were not found' });
    const missing = await face.post('/v2/dlq/retry?dlqIds=1-1,2-2');
    expect([missing.status, missing.json]).to.deep.equal([404, { error: 'some messages were not found' }]);
    face.gateway.answer('RetryDlq', { type: 'DlqRetried', results: [], after: undefined });
    const none = await face.post('/v2/dlq/retry?label=none');
    expect([none.status, none.json]).to.deep.equal([201, { responses: [] }]);
  });

  it('POST /v2/dlq/retry answers 400 to wrong options', async () => {
    const answer = await face.post('/v2/dlq/retry', { headers: { 'Svc-Retries': 'x' } });
    expect(answer.status).to.equal(400);
    expect(face.gateway.asked).to.deep.equal([]);
  });
});

describe('edge/queue: events', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const event = (changes: Partial<LogEvent> = {}, headers: Record<string, string> = {}): LogEvent => ({
    atMs: 9,
    state: 'CREATED',
    messageId: 'msg_1' as never,
    envelope: envelope(headers),
    body: Buffer.from('hello'),
    nextDeliveryAtMs: undefined,
    error: undefined,
    response: undefined,
    ...changes,
  });

  for (const path of ['/v2/events', '/v2/logs']) {
    it('GET /v2/logs/counts counts them by state, with the filters of the list', async () => {
      face.messageLog.counts = { counts: { FAILED: 2, DELIVERED: 1 }, isWhole: false };
      const { status, json } = await face.get('/v2/logs/counts?state=DELIVERED,failed&label=a&fromDate=5');
      expect([status, json]).to.deep.equal([200, { total: 3, counts: { FAILED: 2, DELIVERED: 1 }, isWhole: false }]);
      const counted = face.messageLog.counted.at(-1);
      expect(counted).to.deep.equal({ filter: { label: ['a'], fromMs: 5 }, states: ['DELIVERED', 'FAILED'] });
      for (const other of ['cursor=5-1', 'count=1', 'order=latestFirst', 'groupBy=messageId', 'state=x']) {
        expect((await face.get(`/v2/logs/counts?${other}`)).status, other).to.equal(400);
      }
    });

    it(`GET ${path} lists them under both names, newest first, including the newest ones`, async () => {
      face.messageLog.page = { events: [event()], cursor: undefined };
      const { json } = await face.get(path);
      expect(json).to.have.all.keys('events', 'logs');
      const { events, logs } = json as Record<string, Record<string, unknown>[]>;
      expect(events).to.deep.equal(logs);
      expect(events?.[0]).to.deep.equal({
        time: 9,
        messageId: 'msg_1',
        state: 'CREATED',
        url: URL,
        body: 'aGVsbG8=',
        method: 'POST',
        maxRetries: 3,
        callerIP: '192.0.2.1',
        callerIp: '192.0.2.1',
      });
      expect(face.messageLog.queries).to.deep.equal([
        { filter: {}, states: [], order: 'latestFirst', count: 100, cursor: undefined },
      ]);
      expect(face.messageLog.seen).to.deep.equal([7]);
    });
  }

  it('of a failed attempt have its response, under both names where there are two', async () => {
    const response = { status: 500, header: [['X-A', '1']] as HeaderList, body: Buffer.from('no') };
    const changes = { state: 'ERROR', error: 'HTTP status 500', nextDeliveryAtMs: 20, response } as const;
    const headers = { 'svc-timeout': '10s', 'svc-retry-delay': '5', 'svc-label': 'a' };
    face.messageLog.page = { events: [event(changes, headers)], cursor: '9-1' };
    const { json } = await face.get('/v2/events');
    expect(json).to.include({ cursor: '9-1' });
    expect((json as { events: object[] }).events[0]).to.deep.include({
      state: 'ERROR',
      error: 'HTTP status 500',
      nextDeliveryTime: 20,
      responseStatus: 500,
      responseBody: 'bm8=',
      responseHeader: { 'X-A': ['1'] },
      responseHeaders: { 'X-A': ['1'] },
      timeout: 10_000,
      retryDelayExpr: '5',
      retryDelayExpression: '5',
      label: 'a',
      labels: ['a'],
    });
  });

  it('show the hash of a redacted field', async () => {
    face.messageLog.page = { events: [event({}, { 'svc-redact-fields': 'body' })], cursor: undefined };
    const { events } = (await face.get('/v2/events')).json as { events: Record<string, unknown>[] };
    expect(events[0]?.body).to.equal(`REDACTED:${sha256('hello')}`);
  });

  it('accept every filter', async () => {
    const query = [
      'messageId=m&url=https://a.example&host=a&path=/a&topicName=g&scheduleId=s&queueName=q&fromDate=1&toDate=2',
      'label=x&flowControlKey=k&callerIp=1.1.1.1&order=earliestFirst&count=1000&cursor=9-1&state=DELIVERED',
    ].join('&');
    await face.get(`/v2/events?${query}`);
    expect(face.messageLog.queries[0]).to.deep.equal({
      filter: {
        messageId: ['m'],
        url: ['https://a.example', 'https://a.example/'],
        host: ['a'],
        path: ['/a'],
        topicName: ['g'],
        scheduleId: ['s'],
        queueName: ['q'],
        fromMs: 1,
        toMs: 2,
        label: ['x'],
        flowControlKey: ['k'],
        callerIp: ['1.1.1.1'],
      },
      states: ['DELIVERED'],
      order: 'earliestFirst',
      count: 1000,
      cursor: '9-1',
    });
  });

  it('by ids ignore other filters', async () => {
    await face.get('/v2/events?messageIds=a&messageIds=b&state=FAILED&label=x');
    expect(face.messageLog.queries[0]).to.deep.include({ filter: { messageId: ['a', 'b'] }, states: [] });
  });

  it('accept both spellings of CANCELLED, and IN_PROGRESS', async () => {
    await face.get('/v2/events?state=CANCELLED,CANCELED&state=in_progress');
    expect(face.messageLog.queries[0]?.states).to.deep.equal(['CANCELED', 'ACTIVE', 'RETRY', 'ERROR']);
  });

  for (const query of ['?state=GONE', '?count=1001', '?order=up', '?unknown=1', `?cursor=${'1'.repeat(129)}`]) {
    it(`answer 400 to “${query.slice(0, 20)}”`, async () => {
      expect((await face.get(`/v2/events${query}`)).status).to.equal(400);
    });
  }
});

describe('edge/queue: truncated bodies', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const happened = async (header: HeaderList, length: number, more: Partial<LogEvent> = {}) => {
    const event: LogEvent = {
      atMs: 1,
      state: 'ERROR',
      messageId: 'msg_1' as never,
      envelope: envelope({}),
      body: Buffer.from('hello'),
      nextDeliveryAtMs: undefined,
      error: 'HTTP status 500',
      response: { status: 500, header, body: Buffer.alloc(length, 'r') },
      ...more,
    };
    face.messageLog.page = { events: [event], cursor: undefined };
    const { events } = (await face.get('/v2/events')).json as { events: readonly Record<string, unknown>[] };
    return events[0] as Record<string, unknown>;
  };

  it('GET /v2/events marks an answer that was longer than the kept part', async () => {
    expect(await happened([['Content-Length', '70000']], 65_536)).to.include({ responseBodyTruncated: true });
    expect(await happened([], 65_536)).to.include({ responseBodyTruncated: true });
    expect(await happened([['Content-Length', '65536']], 65_536)).to.not.have.property('responseBodyTruncated');
    expect(await happened([], 65_535)).to.not.have.property('responseBodyTruncated');
  });

  it('GET /v2/events marks the bodies that are shown shortened', async () => {
    const response = { status: 500, header: [], body: Buffer.from('r'), isCut: true };
    expect(await happened([], 0, { isBodyCut: true, response })).to.include({
      bodyTruncated: true,
      responseBodyTruncated: true,
    });
    expect(await happened([], 1)).to.not.have.property('bodyTruncated');
  });
});
