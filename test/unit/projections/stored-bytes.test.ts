/**
 * The stored bytes of the read models stay the same: files of earlier releases are still read, and rows are found by
 * the digest of those bytes. Files may be added to test/fixtures/read-models, and never edited.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { DeliverySettings, Envelope } from '../../../src/domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../../src/kernel/index.js';
import { decodeEnvelope, encodeEnvelope } from '../../../src/projections/log-rows/envelope-bytes.js';
import { Bucket, decodeBucket, encodeBucket } from '../../../src/projections/stats/bucket.js';
import { PLAIN_DELIVERY, PLAIN_ENVELOPE } from '../../support/plain-delivery.js';

const plain = PLAIN_DELIVERY;
const envelope: Envelope = { ...PLAIN_ENVELOPE, url: 'https://app.example/a', callerIp: '' };
const full: DeliverySettings = {
  method: 'DELETE',
  header: [
    ['Content-Type', 'text/plain'],
    ['X-ä', 'x'.repeat(300)],
  ],
  maxRetries: 70_000,
  retryDelay: 'pow(2, retried)',
  timeoutSeconds: 300,
  delaySeconds: 5_000_000_000,
  callback: { url: 'https://app.example/done', settings: { ...plain, method: 'GET' } },
  failureCallback: { url: 'https://app.example/failed', settings: plain },
  flowControl: { key: 'k', parallelism: undefined, rate: 200, periodSeconds: 1 },
  labels: ['one', 'two'],
  redact: { body: true, allHeaders: false, headers: ['Authorization'] },
};

const ENVELOPES: readonly Envelope[] = [
  envelope,
  {
    url: 'https://app.example/\ud800',
    settings: full,
    queueName: 'q',
    scheduleId: 'scd_1' as ScheduleId,
    topicName: 't',
    endpointName: 'e',
    callerIp: '192.0.2.1',
    isAlias: true,
    callbackOf: 'msg_1' as MessageId,
  },
];

const BUCKETS: readonly Bucket[] = [
  new Bucket(),
  new Bucket(
    [7, 0, 4_294_967_296, 0.5],
    new Map([
      ['GET', 3],
      ['SET', 200],
    ]),
    [undefined, 5, -2],
  ),
];

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('the stored form of read models', () => {
  const keep = <T>(
    name: string,
    values: readonly T[],
    encode: (value: T) => Uint8Array,
    decode: (bytes: Uint8Array) => T,
  ) =>
    it(name, () => {
      const recorded = JSON.parse(readFileSync('test/fixtures/read-models/rows.json', 'utf8')) as Record<
        string,
        string[]
      >;
      const texts = recorded[name] ?? [];
      expect(values.map((value) => hex(encode(value)))).to.deep.equal(texts);
      expect(texts.map((text) => hex(encode(decode(Buffer.from(text, 'hex')))))).to.deep.equal(texts);
    });

  keep('envelopes of messages', ENVELOPES, encodeEnvelope, decodeEnvelope);
  keep('numbers of a span of time', BUCKETS, encodeBucket, decodeBucket);

  it('an envelope is decoded as it was encoded', () => {
    expect(decodeEnvelope(encodeEnvelope(envelope))).to.deep.equal(envelope);
    expect(decodeEnvelope(encodeEnvelope({ ...envelope, settings: full })).settings).to.deep.equal(full);
  });
});
