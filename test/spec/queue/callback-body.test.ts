/** What a callback tells its receiver. Proves CBO1, CBO2. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AttemptOutcome,
  type CallbackSource,
  callbackBody,
  type Envelope,
} from '../../../src/domain/queue/index.js';
import type { DlqId, MessageId, ScheduleId } from '../../../src/kernel/index.js';
import { parse } from '../../support/queue-settings.js';

const envelope: Envelope = {
  url: 'https://a.example/hook?x=1',
  settings: parse({ 'content-type': 'text/plain', 'svc-forward-x': '1', 'svc-retries': '2' }).settings,
  queueName: undefined,
  scheduleId: undefined,
  topicName: undefined,
  endpointName: undefined,
  callerIp: '192.0.2.1',
  isAlias: false,
  callbackOf: undefined,
};
const source: CallbackSource = {
  id: 'msg_1' as MessageId,
  envelope,
  body: Buffer.from('hello'),
  createdAtMs: 1_700_000_000_000,
  notBeforeMs: 1_700_000_060_000,
  retried: 1,
};
const outcome: AttemptOutcome = {
  kind: 'response',
  status: 200,
  header: [
    ['Content-Type', 'text/plain'],
    ['Set-Cookie', 'a'],
    ['Set-Cookie', 'b'],
  ],
  body: Buffer.from([0, 255, 1]),
  isCut: false,
  durationMs: 5,
};
const SVC = ['Svc'];
const ROOM = 1_048_576;

function told(bytes: Uint8Array) {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

describe('the body of a callback', () => {
  it('tells the response beside the message', () => {
    expect(told(callbackBody(source, outcome, undefined, ROOM, SVC))).to.deep.equal({
      status: 200,
      header: { 'Content-Type': ['text/plain'], 'Set-Cookie': ['a', 'b'] },
      body: 'AP8B',
      retried: 1,
      maxRetries: 2,
      sourceMessageId: 'msg_1',
      url: 'https://a.example/hook?x=1',
      method: 'POST',
      sourceHeader: { 'Content-Type': 'text/plain', X: '1' },
      sourceBody: 'aGVsbG8=',
      notBefore: '1700000060000',
      createdAt: '1700000000000',
      callerIP: '192.0.2.1',
    });
  });

  it('names the DLQ entry, the group, the endpoint and the schedule where there are any', () => {
    const grouped = { ...envelope, topicName: 'g', endpointName: 'e', scheduleId: 'scd_1' as ScheduleId };
    const body = callbackBody({ ...source, envelope: grouped }, outcome, '1-2' as DlqId, ROOM, SVC);
    expect(told(body)).to.deep.include({ dlqId: '1-2', topicName: 'g', endpointName: 'e', scheduleId: 'scd_1' });
  });

  it('has status 0, no header and no body when nothing came back', () => {
    const none: AttemptOutcome = { kind: 'no-response', error: 'connection refused', durationMs: 1 };
    expect(told(callbackBody(source, none, undefined, ROOM, SVC))).to.deep.include({ status: 0, header: {}, body: '' });
  });

  it('joins repeated headers of the message', () => {
    const settings = parse([
      ['svc-forward-x', '1'],
      ['svc-forward-x', '2'],
    ]).settings;
    const body = callbackBody({ ...source, envelope: { ...envelope, settings } }, outcome, undefined, ROOM, SVC);
    expect(told(body).sourceHeader).to.deep.equal({ X: '1, 2' });
  });

  it("spells the queue's own headers as the message's destination saw them", () => {
    const settings = parse({ 'content-type': 'text/plain', 'svc-forward-svc-label': 'l' }).settings;
    const headerTold = (...words: string[]) =>
      told(callbackBody({ ...source, envelope: { ...envelope, settings } }, outcome, undefined, ROOM, words))
        .sourceHeader;
    expect(headerTold('Svc')).to.deep.equal({ 'Content-Type': 'text/plain', 'Svc-Label': 'l' });
    expect(headerTold('Word')).to.deep.equal({ 'Content-Type': 'text/plain', 'Word-Label': 'l' });
    const both = { 'Content-Type': 'text/plain', 'Word-Label': 'l', 'Svc-Label': 'l' };
    expect(headerTold('Word', 'Svc')).to.deep.equal(both);
  });

  it('carries headers with names that objects have by themselves', () => {
    const odd: AttemptOutcome = { ...outcome, header: [['__proto__', 'x']] };
    const body = callbackBody(source, odd, undefined, ROOM, SVC);
    expect(Buffer.from(body).toString()).to.contain('"header":{"__proto__":["x"]}');
  });

  it("cuts the response's body so that the whole fits, and nothing else", () => {
    const large: AttemptOutcome = { ...outcome, body: Buffer.alloc(3000, 'r') };
    const whole = callbackBody(source, large, undefined, ROOM, SVC);
    expect(callbackBody(source, large, undefined, whole.byteLength, SVC)).to.deep.equal(whole);
    const cut = callbackBody(source, large, undefined, whole.byteLength - 1, SVC);
    expect(cut.byteLength).to.be.within(whole.byteLength - 4, whole.byteLength - 1);
    expect(told(cut)).to.deep.equal({ ...told(whole), body: Buffer.alloc(2997, 'r').toString('base64') });
  });

  it('shares the room between both bodies when the message alone would fill it', () => {
    const full = { ...source, body: Buffer.alloc(ROOM, 's') };
    const large: AttemptOutcome = { ...outcome, body: Buffer.alloc(ROOM, 'r') };
    const body = callbackBody(full, large, undefined, ROOM, SVC);
    expect(body.byteLength).to.be.within(ROOM - 8, ROOM);
    const { body: response, sourceBody } = told(body);
    expect(response.length).to.be.within(ROOM / 2 - 1000, ROOM / 2);
    expect(sourceBody.length).to.be.within(ROOM / 2 - 1000, ROOM / 2);
  });

  it('gives up headers last, so that it stays JSON that names the message', () => {
    const wide: AttemptOutcome = { ...outcome, header: [['X-Wide', 'w'.repeat(5000)]] };
    const body = told(callbackBody(source, wide, undefined, 1000, SVC));
    expect(body.header).to.deep.equal({});
    expect(body.sourceHeader).to.deep.equal({ 'Content-Type': 'text/plain', X: '1' });
    expect(told(callbackBody(source, wide, undefined, 10, SVC))).to.deep.include({
      sourceMessageId: 'msg_1',
      sourceHeader: {},
      body: '',
      sourceBody: '',
    });
  });

  it('is JSON within its bound for any bodies', () => {
    const bytes = fc.uint8Array({ maxLength: 600 });
    fc.assert(
      fc.property(bytes, bytes, fc.integer({ min: 500, max: 2000 }), (sent, received, room) => {
        const body = callbackBody({ ...source, body: sent }, { ...outcome, body: received }, undefined, room, SVC);
        expect(body.byteLength).to.be.at.most(room);
        const { body: response, sourceBody } = told(body);
        const isStart = (text: string, of: Uint8Array) =>
          Buffer.from(text, 'base64').equals(Buffer.from(of.subarray(0, Buffer.from(text, 'base64').byteLength)));
        expect(isStart(response, received) && isStart(sourceBody, sent)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
