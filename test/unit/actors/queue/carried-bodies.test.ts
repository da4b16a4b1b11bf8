import { expect } from 'chai';
import { carriedBodies } from '../../../../src/actors/queue/queue-owner.js';
import { encodeQueueEvent } from '../../../../src/codec/queue/index.js';
import type { Envelope, QueueEvent } from '../../../../src/domain/queue/index.js';
import { type DlqId, isMillraceError, type MessageId } from '../../../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';

const envelope: Envelope = {
  ...PLAIN_ENVELOPE,
  url: 'https://example.com/hook',
};
const id = 'msg_1111111111111111111111111111' as MessageId;

function accepted(number: number, content: string | undefined): QueueEvent {
  const bytes = content?.length ?? 3;
  const body = { number, bytes, content: content === undefined ? undefined : Buffer.from(content) };
  const nothing = { deduplication: undefined, retryOf: undefined, holdsPlaceOf: undefined };
  return { type: 'MessageAccepted', id, atMs: 1, envelope, body, notBeforeMs: 1, ...nothing };
}

describe('queue: the bodies in events', () => {
  it('are those of accepted messages and of kept responses, one step per event', () => {
    const deadLettered: QueueEvent = {
      type: 'MessageDeadLettered',
      id,
      dlqId: '1-1' as DlqId,
      atMs: 2,
      status: 500,
      error: 'HTTP status 500',
      header: [],
      response: { number: 9, bytes: 4, content: Buffer.from('oops') },
    };
    const started: QueueEvent = { type: 'AttemptStarted', id, atMs: 1, retried: 0, restarts: 0 };
    const events = [accepted(7, 'one'), started, accepted(8, 'two'), accepted(7, undefined), deadLettered];
    const found = [...carriedBodies(Buffer.concat(events.map(encodeQueueEvent)))];
    const texts = found.map((body) => body && [body[0], Buffer.from(body[1]).toString()]);
    expect(texts).to.deep.equal([[7, 'one'], undefined, [8, 'two'], undefined, [9, 'oops']]);
  });

  it('are refused with an error in bytes that are no events', () => {
    expect(() => [...carriedBodies(Buffer.from('nonsense'))])
      .to.throw()
      .and.satisfy((error: unknown) => isMillraceError(error, 'JOURNAL_DAMAGED'));
  });
});
