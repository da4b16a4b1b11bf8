/** The body of a callback. Proves CBO1, CBO2. */
import { expect } from 'chai';
import {
  type AttemptOutcome,
  type CallbackSource,
  callbackBody,
  type Envelope,
} from '../../../src/domain/queue/index.js';
import type { DlqId, MessageId, ScheduleId } from '../../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { parse } from '../../support/queue-settings.js';

const envelope: Envelope = {
  ...PLAIN_ENVELOPE,
  url: 'https://a.example/hook?x=1',
  settings: parse({ 'content-type': 'text/plain', 'svc-forward-x': '1', 'svc-retries': '2' }).settings,
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
const WHOLE = { headerWords: SVC };

function told(bytes: Uint8Array) {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

describe('the body of a callback', () => {
  it('has the response and the message', () => {
    expect(told(callbackBody(source, outcome, undefined, WHOLE))).to.deep.equal({
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

  it('has dlqId, topicName, endpointName and scheduleId if the message has them', () => {
    const grouped = { ...envelope, topicName: 'g', endpointName: 'e', scheduleId: 'scd_1' as ScheduleId };
    const body = callbackBody({ ...source, envelope: grouped }, outcome, '1-2' as DlqId, WHOLE);
    expect(told(body)).to.deep.include({ dlqId: '1-2', topicName: 'g', endpointName: 'e', scheduleId: 'scd_1' });
  });

  it('has status 0, no header and no body if the destination did not answer', () => {
    const none: AttemptOutcome = { kind: 'no-response', error: 'connection refused', durationMs: 1 };
    expect(told(callbackBody(source, none, undefined, WHOLE))).to.deep.include({ status: 0, header: {}, body: '' });
  });

  it('joins repeated headers of the message in sourceHeader', () => {
    const settings = parse([
      ['svc-forward-x', '1'],
      ['svc-forward-x', '2'],
    ]).settings;
    const body = callbackBody({ ...source, envelope: { ...envelope, settings } }, outcome, undefined, WHOLE);
    expect(told(body).sourceHeader).to.deep.equal({ X: '1, 2' });
  });

  it("shows the queue's own headers in the spelling that the destination received", () => {
    const settings = parse({ 'content-type': 'text/plain', 'svc-forward-svc-label': 'l' }).settings;
    const headerTold = (...words: string[]) =>
      told(callbackBody({ ...source, envelope: { ...envelope, settings } }, outcome, undefined, { headerWords: words }))
        .sourceHeader;
    expect(headerTold('Svc')).to.deep.equal({ 'Content-Type': 'text/plain', 'Svc-Label': 'l' });
    expect(headerTold('Word')).to.deep.equal({ 'Content-Type': 'text/plain', 'Word-Label': 'l' });
    const both = { 'Content-Type': 'text/plain', 'Word-Label': 'l', 'Svc-Label': 'l' };
    expect(headerTold('Word', 'Svc')).to.deep.equal(both);
  });

  it("carries headers with the names of Object.prototype's properties", () => {
    const odd: AttemptOutcome = { ...outcome, header: [['__proto__', 'x']] };
    const body = callbackBody(source, odd, undefined, WHOLE);
    expect(Buffer.from(body).toString()).to.contain('"header":{"__proto__":["x"]}');
  });

  it('cuts each body at its own limit, and marks it with bodyTruncated or sourceBodyTruncated', () => {
    const of = (sent: number, received: number, isCut = false) =>
      told(
        callbackBody(
          { ...source, body: Buffer.alloc(sent, 's') },
          { ...outcome, body: Buffer.alloc(received, 'r'), isCut },
          undefined,
          { maxBodyBytes: 1000, headerWords: SVC },
        ),
      );
    const whole = of(1000, 1000);
    expect(whole.body).to.equal(Buffer.alloc(1000, 'r').toString('base64'));
    expect(whole.sourceBody).to.equal(Buffer.alloc(1000, 's').toString('base64'));
    expect(whole).to.not.have.any.keys('bodyTruncated', 'sourceBodyTruncated');
    expect(of(1000, 1001)).to.deep.equal({ ...whole, bodyTruncated: true });
    expect(of(1001, 1000)).to.deep.equal({ ...whole, sourceBodyTruncated: true });
    expect(of(5000, 1000, true)).to.deep.equal({ ...whole, bodyTruncated: true, sourceBodyTruncated: true });
  });

  it('has the reason in error, as in the DLQ, if the destination did not answer', () => {
    const none: AttemptOutcome = { kind: 'no-response', error: 'connection refused', durationMs: 1 };
    expect(told(callbackBody(source, none, undefined, WHOLE)).error).to.equal('connection refused');
    expect(told(callbackBody(source, outcome, undefined, WHOLE))).to.not.have.property('error');
    const more = { error: 'the run is too large' };
    expect(told(callbackBody(source, none, undefined, WHOLE, more)).error).to.equal('the run is too large');
  });

  it('shows header values as text, decoded from UTF-8 or Latin-1', () => {
    const bytes = Buffer.from('日本').toString('latin1');
    const answered: AttemptOutcome = {
      ...outcome,
      header: [
        ['X-Name', bytes],
        ['X-Old', '\xe9'],
      ],
    };
    const { settings } = parse({ 'svc-forward-x-name': bytes });
    const body = told(callbackBody({ ...source, envelope: { ...envelope, settings } }, answered, undefined, WHOLE));
    expect(body.header).to.deep.equal({ 'X-Name': ['日本'], 'X-Old': ['é'] });
    expect(body.sourceHeader).to.deep.equal({ 'X-Name': '日本' });
  });
});
