import { expect } from 'chai';
import type { QueueEvent, QueueEventOf } from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import { type ItemOptions, item, noResponse, QueueSpec, response, SETTINGS } from '../../support/queue-spec.js';

const callback = { url: 'https://cb.example/', settings: { ...SETTINGS, maxRetries: 1 } };
const failureCallback = { url: 'https://fail.example/', settings: SETTINGS };
const SENT = Buffer.from('sent');

function calls(queue: QueueSpec): QueueEventOf<'MessageAccepted'>[] {
  const isCall = (event: QueueEvent) => event.type === 'MessageAccepted' && event.envelope.callbackOf !== undefined;
  return queue.journal.filter(isCall) as QueueEventOf<'MessageAccepted'>[];
}

function bodyOf(event: QueueEventOf<'MessageAccepted'> | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(event?.body.content ?? '').toString());
}

function attempted(options: ItemOptions): QueueSpec {
  const queue = new QueueSpec();
  queue.publish(item('a', { retryDelay: '0', ...options }));
  queue.work();
  return queue;
}

describe('queue: Svc-Callback and Svc-Failure-Callback', () => {
  it('one callback message is accepted after each attempt, in the turn of its outcome', () => {
    const queue = attempted({ callback });
    queue.outcome('a', response(500, [['X-A', '1']], 'oops'), SENT);
    queue.work();
    queue.outcome('a', response(200, [], 'fine'), SENT);
    const [first, second, ...more] = calls(queue);
    expect(more).to.deep.equal([]);
    expect(first?.envelope).to.deep.include({ url: 'https://cb.example/', callbackOf: 'a', callerIp: '192.0.2.1' });
    expect(first?.id).to.not.equal(second?.id);
    expect(bodyOf(first)).to.deep.include({
      status: 500,
      header: { 'X-A': ['1'] },
      body: Buffer.from('oops').toString('base64'),
      retried: 0,
      maxRetries: 3,
      sourceMessageId: 'a',
      sourceBody: SENT.toString('base64'),
    });
    expect(bodyOf(second)).to.deep.include({ status: 200, retried: 1 });
  });

  it('a callback shows the headers as the destination received them', () => {
    const queue = new QueueSpec({ deliveredWords: ['Word', 'Svc'] });
    const header = [['Svc-Extra', '1']] as const;
    queue.publish({ ...item('a', { callback, failureCallback, maxRetries: 0, header }), isAlias: true });
    queue.work();
    queue.outcome('a', 500);
    const told = calls(queue).map((call) => [call.envelope.isAlias, bodyOf(call).sourceHeader]);
    expect(told).to.deep.equal(Array(2).fill([true, { 'Word-Extra': '1', 'Svc-Extra': '1' }]));
  });

  it('a callback calls the normalised URL, and shows the URL that was given', () => {
    const given = { ...callback, url: 'https://CB.example?a=1' };
    const queue = attempted({ callback: given });
    queue.outcome('a', 200);
    expect(calls(queue)[0]?.envelope.url).to.equal('https://cb.example/?a=1');
    expect(queue.engine.attemptOf('a' as MessageId), 'it is over').to.equal(undefined);
    const reply = queue.ask({ type: 'GetMessage', id: 'a' as MessageId });
    expect(reply.type === 'Message' && reply.message.envelope.settings.callback?.url).to.equal(given.url);
  });

  it('the id of a callback is derived from the attempt', () => {
    const [one, other] = [attempted({ callback }), attempted({ callback })];
    for (const queue of [one, other]) queue.outcome('a', 200);
    expect(calls(one)[0]?.id).to.equal(calls(other)[0]?.id);
  });

  it('a callback has its own delay and retries', () => {
    const queue = attempted({ callback: { ...callback, settings: { ...callback.settings, delaySeconds: 5 } } });
    queue.outcome('a', 200);
    const id = calls(queue)[0]?.id as string;
    queue.pass(4999);
    expect(queue.news()).to.not.include(`started ${id}`);
    queue.pass(1);
    expect(queue.news()).to.include(`started ${id}`);
  });

  it('a callback cuts an answer above the largest message, and marks it as cut', () => {
    const queue = attempted({ callback });
    queue.limit({ maxMessageBytes: 2000 });
    queue.outcome('a', response(200, [], 'x'.repeat(10_000)));
    const told = bodyOf(calls(queue)[0]);
    expect(told).to.deep.include({
      status: 200,
      body: Buffer.alloc(2000, 'x').toString('base64'),
      bodyTruncated: true,
    });
  });

  it('a failure callback is sent once, after the last attempt, with the DLQ id', () => {
    const queue = attempted({ failureCallback, maxRetries: 1 });
    queue.outcome('a', 500);
    queue.work();
    expect(calls(queue)).to.deep.equal([]);
    queue.outcome('a', noResponse());
    const [call] = calls(queue);
    const dead = queue.journal.find((event) => event.type === 'MessageDeadLettered');
    expect(call?.envelope.url).to.equal('https://fail.example/');
    expect(bodyOf(call)).to.deep.include({ status: 0, header: {}, body: '', dlqId: dead?.dlqId });
  });

  it('a failed message with both options sends both callbacks', () => {
    const queue = attempted({ callback, failureCallback, maxRetries: 0 });
    queue.outcome('a', 500);
    expect(calls(queue).map(({ envelope }) => envelope.url)).to.deep.equal([
      'https://cb.example/',
      'https://fail.example/',
    ]);
  });

  it('callbacks count as messages of the day', () => {
    const queue = new QueueSpec().limit({ maxMessagesPerDay: 1 });
    queue.publish(item('a', { callback }));
    queue.work();
    queue.skipEvents().outcome('a', 200);
    expect(queue.news()).to.include('DailyLimitReached');
  });
});
