/** A body in any event is found by its number. */
import { expect } from 'chai';
import { carriedBodies } from '../../../../src/actors/queue/queue-owner.js';
import { encodeQueueEvent } from '../../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../../src/domain/queue/index.js';
import type { RunId } from '../../../../src/kernel/index.js';
import { GOLDEN_EVENTS } from './golden-values.js';
import { GOLDEN_RUN_MESSAGES } from './workflow-golden-values.js';

type Found = readonly [number: number, content: Uint8Array];

describe('bodies in queue events', () => {
  const events: readonly QueueEvent[] = [...Object.values(GOLDEN_EVENTS), ...Object.values(GOLDEN_RUN_MESSAGES)];

  it('are found in every event with a numbered content', () => {
    const expected = events.map((event) => {
      const contents = numberedContents(event);
      expect(contents.length, event.type).to.be.at.most(1);
      return contents[0];
    });
    const carriers = events.filter((_, at) => expected[at] !== undefined).map(({ type }) => type);
    expect([...new Set(carriers)]).to.deep.equal(['MessageAccepted', 'ScheduleSet', 'FailureFunctionEnded']);
    const found = [...carriedBodies(Buffer.concat(events.map(encodeQueueEvent)))];
    expect(found).to.deep.equal(expected);
  });

  it('are found in a rerun, which has one for each entry that it keeps', () => {
    const contents = [3, 4].map((number) => ({ number, bytes: 1, content: Uint8Array.from([number]) }));
    const rerunOf = { runId: 'r' as RunId, runCreatedAtMs: 1, contents };
    const found = [...carriedBodies(encodeQueueEvent({ ...GOLDEN_EVENTS.RunStarted, rerunOf }))];
    expect(found).to.deep.equal(contents.map(({ number, content }) => [number, content]));
  });

  it('are found in the last response of a message or of a failure function', () => {
    const { MessageDeadLettered, FailureFunctionEnded } = GOLDEN_EVENTS;
    const content = Uint8Array.from([1, 2]);
    const response = { number: 9, bytes: 2, content };
    const kept = [
      { ...MessageDeadLettered, response },
      { ...FailureFunctionEnded, response },
    ];
    const without = [
      { ...MessageDeadLettered, response: { ...response, content: undefined } },
      { ...FailureFunctionEnded, response: { ...response, content: undefined } },
    ];
    const found = [...carriedBodies(Buffer.concat([...kept, ...without].map(encodeQueueEvent)))];
    expect(found).to.deep.equal([[9, content], [9, content], undefined, undefined]);
  });
});

/** Every object with a number and a content, at any depth. */
function numberedContents(value: unknown): Found[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const { number, content } = value as { number?: unknown; content?: unknown };
  if (typeof number === 'number' && content instanceof Uint8Array) return [[number, content]];
  return Object.values(value).flatMap(numberedContents);
}
