/** The story of one message, from its log, the state of its owner, and its DLQ entry. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { callbackId } from '../../../src/domain/queue/index.js';
import { MAX_STORY_CALLBACKS, MAX_STORY_EVENTS } from '../../../src/edge/queue/queue-limits.js';
import type { MessageId } from '../../../src/kernel/index.js';
import type { LogEvent, MessageState } from '../../../src/ports/index.js';
import { PLAIN_ENVELOPE, T0 } from '../../support/message-log-stand.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { parse } from '../../support/queue-settings.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const ID = 'msg_1' as MessageId;
const NOT_FOUND = { type: 'Rejected', reason: 'NOT_FOUND', message: 'message msg_1 not found' } as const;

function event(state: MessageState, atMs: number, more: Partial<LogEvent> = {}): LogEvent {
  return {
    atMs,
    state,
    messageId: ID,
    envelope: PLAIN_ENVELOPE,
    body: new Uint8Array(Buffer.from('hello')),
    nextDeliveryAtMs: undefined,
    error: undefined,
    response: undefined,
    ...more,
  };
}

describe('edge/queue: GET /v2/messages/:id/story', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());
  beforeEach(async () => {
    face.gateway.answer('GetMessage', NOT_FOUND);
  });

  const story = async () => {
    const { status, json } = await face.get('/v2/messages/msg_1/story', { token: QUEUE_READ_ONLY_TOKEN });
    expect(status).to.equal(200);
    return json as Record<string, never> & { attempts: object[]; callbacks: object[]; message: object };
  };
  const happened = (...events: LogEvent[]) => {
    face.messageLog.page = { events, cursor: undefined };
  };

  it('lists each attempt, including those that a crash ended', async () => {
    const body = new Uint8Array(Buffer.from('no'));
    happened(
      event('CREATED', T0),
      event('ACTIVE', T0 + 1),
      event('ACTIVE', T0 + 5),
      event('ERROR', T0 + 9, { error: 'HTTP status 500', response: { status: 500, header: [['X-A', '1']], body } }),
      event('RETRY', T0 + 9, { error: 'HTTP status 500', nextDeliveryAtMs: T0 + 50 }),
      event('ACTIVE', T0 + 50),
      event('DELIVERED', T0 + 59, {
        response: { status: 201, header: [], body: new Uint8Array(Buffer.from('yes')), isCut: true, durationMs: 8 },
      }),
    );
    const { attempts, state, isUnderWay, message } = await story();
    expect(attempts).to.deep.equal([
      { retried: 0, startedAt: T0 + 1, endedAt: T0 + 5, outcome: 'INTERRUPTED' },
      {
        retried: 0,
        startedAt: T0 + 5,
        endedAt: T0 + 9,
        outcome: 'ERROR',
        error: 'HTTP status 500',
        nextDeliveryTime: T0 + 50,
        responseStatus: 500,
        responseHeader: { 'X-A': ['1'] },
        responseBody: 'no',
      },
      {
        retried: 1,
        startedAt: T0 + 50,
        endedAt: T0 + 59,
        outcome: 'DELIVERED',
        duration: 8,
        responseStatus: 201,
        responseHeader: {},
        responseBody: 'yes',
        responseBodyTruncated: true,
      },
    ]);
    expect([state, isUnderWay]).to.deep.equal(['DELIVERED', false]);
    expect(message).to.deep.include({ messageId: ID, body: 'hello', createdAt: T0, notBefore: T0 });
  });

  it('hides the parts of answers that the message names', async () => {
    const redact = 'response-body, response-header[X-A]';
    const envelope = { ...PLAIN_ENVELOPE, settings: parse({ 'svc-redact-fields': redact }).settings };
    const answer = {
      header: [
        ['X-A', '1'],
        ['X-B', '2'],
      ] as const,
      body: new Uint8Array(Buffer.from('yes')),
    };
    happened(
      event('ACTIVE', T0, { envelope }),
      event('DELIVERED', T0 + 1, { envelope, response: { ...answer, status: 200 } }),
    );
    const { attempts, message } = await story();
    const hidden = (text: string) => `REDACTED:${createHash('sha256').update(text).digest('hex')}`;
    expect(attempts[0]).to.deep.include({
      responseHeader: { 'X-A': [hidden('1')], 'X-B': ['2'] },
      responseBody: hidden('yes'),
    });
    expect(message).to.deep.include({ body: 'hello' });
  });

  it('includes all events that the owner has stored', async () => {
    happened(event('CREATED', T0));
    await story();
    expect(face.messageLog.seen).to.deep.equal([7, 7]);
    expect(face.messageLog.queries[0]).to.deep.include({ filter: { messageId: [ID] }, count: MAX_STORY_EVENTS });
  });

  it('lists callbacks by the ids derived from the message id, of the newest attempts', async () => {
    const envelope = { ...PLAIN_ENVELOPE, settings: parse({ 'svc-callback': 'https://cb.example/' }).settings };
    const retries = MAX_STORY_CALLBACKS + 1;
    const oldest = callbackId(ID, 'callback', 1);
    const own = [event('CREATED', T0, { envelope })];
    for (let count = 0; count < retries; count += 1) own.push(event('RETRY', T0, { envelope }));
    face.messageLog.pageOf = ({ filter: { messageId = [] } }) =>
      messageId[0] === ID
        ? { events: own, cursor: undefined }
        : {
            events: ['CREATED', 'DELIVERED'].map((state, at) =>
              event(state as MessageState, T0 + at, { messageId: messageId.at(-1) as MessageId }),
            ),
            cursor: undefined,
          };
    const { callbacks } = await story();
    const url = PLAIN_ENVELOPE.url;
    const messageId = callbackId(ID, 'callback', retries);
    expect(callbacks).to.deep.equal([
      { messageId, kind: 'callback', retried: retries, url, createdAt: T0, state: 'DELIVERED' },
    ]);
    const asked = face.messageLog.queries.at(-1)?.filter.messageId ?? [];
    expect(asked).to.have.length(MAX_STORY_CALLBACKS);
    expect(asked).not.to.include(oldest);
  });

  it('has the newest state also when its log is longer than an answer', async () => {
    face.messageLog.pageOf = ({ order }) =>
      order === 'latestFirst'
        ? { events: [event('DELIVERED', T0 + 9)], cursor: '1-1' }
        : { events: [event('CREATED', T0)], cursor: '7-1' };
    const { state, cursor } = await story();
    expect([state, cursor]).to.deep.equal(['DELIVERED', '7-1']);
  });

  it('answers for a message that is no longer in the log, and with 404 for an unknown message', async () => {
    const body = { number: 1, bytes: 1 };
    const view = {
      id: ID,
      envelope: PLAIN_ENVELOPE,
      body,
      createdAtMs: T0,
      notBeforeMs: T0,
      status: 'active',
      retried: 2,
    } as const;
    face.gateway.answer('GetMessage', { type: 'Message', message: view, content: Buffer.from('x') });
    const { state, isUnderWay, message } = await story();
    expect([state, isUnderWay]).to.deep.equal(['ACTIVE', true]);
    expect(message).to.deep.include({ body: 'x' });
    face.gateway.answer('GetMessage', NOT_FOUND);
    const unknown = await face.get('/v2/messages/msg_1/story');
    expect([unknown.status, unknown.json]).to.deep.equal([404, { error: 'message msg_1 not found' }]);
    face.gateway.answer('GetMessage', { type: 'Rejected', reason: 'SUSPENDED', message: 'no' });
    expect((await face.get('/v2/messages/msg_1/story')).status).to.equal(403);
  });
});
