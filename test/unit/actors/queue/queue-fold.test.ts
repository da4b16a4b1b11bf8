import { expect } from 'chai';
import { QueuePartitionFold } from '../../../../src/actors/queue/index.js';
import { encodeQueueEvent } from '../../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../../src/domain/queue/index.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';
import { PLAIN_SETTINGS } from '../../../support/queue-shard-stand.js';

const AT_MS = 1_767_225_600_000;

function idOf(number: number): MessageId {
  return `msg_${String(number).padStart(28, 'z')}` as MessageId;
}

/** A message with a body that is named after its number. */
function accepted(number: number): QueueEvent {
  const content = Buffer.from(`body ${number}`);
  return {
    type: 'MessageAccepted',
    id: idOf(number),
    atMs: AT_MS + number,
    envelope: {
      ...PLAIN_ENVELOPE,
      url: 'https://a.example/',
      settings: PLAIN_SETTINGS,
    },
    body: { number, bytes: content.length, content },
    notBeforeMs: AT_MS + number,
    deduplication: undefined,
    retryOf: undefined,
    holdsPlaceOf: undefined,
  };
}

function cancelled(number: number): QueueEvent[] {
  const atMs = AT_MS + 1000;
  return [
    { type: 'CancelRequested', id: idOf(number), atMs },
    { type: 'MessageCancelled', id: idOf(number), atMs },
  ];
}

const effectsOf = (events: readonly QueueEvent[]) => Buffer.concat(events.map((event) => encodeQueueEvent(event)));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

function foldOf(events: readonly QueueEvent[]): QueuePartitionFold {
  const fold = new QueuePartitionFold();
  fold.apply(effectsOf(events));
  return fold;
}

describe("an account's queue as a fold", () => {
  it('is rebuilt from its segments to an equal state', () => {
    const fold = foldOf([...range(1, 50).map(accepted), ...cancelled(7)]);
    const rebuilt = new QueuePartitionFold();
    const segments = [...fold.segments(1000)];
    expect(segments.length).to.be.greaterThan(1);
    for (const segment of segments) rebuilt.apply(segment);
    expect(rebuilt.digest()).to.equal(fold.digest());
    expect(rebuilt.size).to.equal(fold.size);
    expect(rebuilt.size).to.equal(49);
  });

  it('ends in the same state when effects are applied whole or in slices', () => {
    const effects = effectsOf(range(1, 1000).map(accepted));
    const whole = new QueuePartitionFold();
    whole.apply(effects);
    const sliced = new QueuePartitionFold();
    let slices = 0;
    for (const _ of sliced.applyInSlices(effects)) slices += 1;
    expect(slices).to.be.greaterThan(2);
    expect(sliced.digest()).to.equal(whole.digest());
  });

  it('has a different digest for a different state', () => {
    expect(foldOf([accepted(1)]).digest()).not.to.equal(foldOf([accepted(1), ...cancelled(1)]).digest());
  });

  it('keeps the bodies of its effects while they are referenced', () => {
    const fold = foldOf([accepted(1), accepted(2), accepted(3), ...cancelled(2)]);
    const fresh = [...(fold.bodies?.fresh() ?? [])].map(([number, content]) => [
      number,
      Buffer.from(content).toString(),
    ]);
    expect(fresh).to.deep.equal([
      [1, 'body 1'],
      [3, 'body 3'],
    ]);
    expect([1, 2, 3].map((number) => fold.bodies?.isNeeded(number))).to.deep.equal([true, false, true]);
  });

  it('has no bodies itself where they are kept elsewhere', () => {
    const put: number[] = [];
    const fold = new QueuePartitionFold({ put: (number) => void put.push(number), drop: () => {} });
    fold.apply(effectsOf([accepted(1)]));
    expect(fold.bodies).to.equal(undefined);
    expect(put).to.deep.equal([1]);
  });
});
