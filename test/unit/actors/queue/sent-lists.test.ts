/** Proves SLT1. */
import { expect } from 'chai';
import { keptContents, planOf, putTogether } from '../../../../src/actors/queue/sent-body.js';
import { SentLists } from '../../../../src/actors/queue/sent-lists.js';
import type { RunEntry } from '../../../../src/domain/queue/runs/index.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { Shelf, stepAttempt } from '../../../support/run-attempts.js';

const ANY_LENGTH = Number.MAX_SAFE_INTEGER;
const RECORDS = ['payload', '{"stepId":1}', '{"stepId":2}', '{"stepId":3}'];

type Attempt = ReturnType<typeof stepAttempt>;

function sent(shelf: Shelf, attempt: Attempt, lists?: SentLists): string {
  const plan = planOf(attempt, ANY_LENGTH, lists);
  const steps = putTogether(plan, keptContents(plan.refs, shelf) as readonly Uint8Array[], lists);
  const step = steps.next();
  expect(step.done).to.equal(true);
  return Buffer.from(step.value as Uint8Array).toString();
}

/** An attempt with the first entries of another, unchanged. */
function upTo(attempt: Attempt, count: number): Attempt {
  const { run } = attempt;
  return { ...attempt, run: run && { ...run, entries: run.entries.slice(0, count) } };
}

function renamed(attempt: Attempt, place: number, messageId: string): Attempt {
  const { run } = attempt;
  const entryAt = (entry: RunEntry, at: number) =>
    at === place ? { ...entry, messageId: messageId as MessageId } : entry;
  return { ...attempt, run: run && { ...run, entries: run.entries.map(entryAt) } };
}

function whole(shelf: Shelf): Attempt {
  return stepAttempt(
    shelf,
    shelf.contents.map((_, at) => at + 1),
  );
}

describe('a list that extends a previously sent list', () => {
  it('is equal to a list that is made from all entries', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists()];
    const attempt = whole(shelf);
    for (let count = 1; count <= RECORDS.length; count += 1) {
      expect(sent(shelf, upTo(attempt, count), lists)).to.equal(sent(shelf, upTo(attempt, count)));
    }
  });

  it('needs only the bodies of added entries; the same list again needs none', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists()];
    const attempt = whole(shelf);
    sent(shelf, upTo(attempt, 2), lists);
    expect(planOf(upTo(attempt, 4), ANY_LENGTH, lists).refs.map(({ number }) => number)).to.deep.equal([3, 4]);
    expect(planOf(upTo(attempt, 2), ANY_LENGTH, lists).refs).to.deep.equal([]);
    expect(sent(shelf, upTo(attempt, 2), lists)).to.equal(sent(shelf, upTo(attempt, 2)));
  });

  it('is not reused when an entry is delivered again under another id', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists()];
    const attempt = whole(shelf);
    sent(shelf, upTo(attempt, 3), lists);
    const again = renamed(attempt, 1, 'msg_x');
    expect(sent(shelf, again, lists))
      .to.equal(sent(shelf, again))
      .and.to.contain('msg_x');
  });

  it('is not reused for a shorter list', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists()];
    const attempt = whole(shelf);
    sent(shelf, upTo(attempt, 2), lists);
    expect(planOf(upTo(attempt, 1), ANY_LENGTH, lists).begun).to.equal(undefined);
  });

  it('is not reused after too many bytes of other lists were sent', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists({ listBytes: 1000, allBytes: 300 })];
    const [one, other] = [whole(shelf), renamed(whole(shelf), 0, 'msg_y')];
    sent(shelf, one, lists);
    expect(planOf(one, ANY_LENGTH, lists).begun?.entries).to.have.length(RECORDS.length);
    sent(shelf, other, lists);
    expect(planOf(one, ANY_LENGTH, lists).begun).to.equal(undefined);
    expect(planOf(other, ANY_LENGTH, lists).begun?.entries).to.have.length(RECORDS.length);
  });

  it('exists for a run that is over and has no entries', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists()];
    expect(sent(shelf, upTo(whole(shelf), 0), lists)).to.equal(sent(shelf, upTo(whole(shelf), 0)));
  });

  it('is not reused when it is too long to be kept', () => {
    const [shelf, lists] = [new Shelf(...RECORDS), new SentLists({ listBytes: 100, allBytes: 1000 })];
    const attempt = whole(shelf);
    sent(shelf, attempt, lists);
    expect(planOf(attempt, ANY_LENGTH, lists).begun).to.equal(undefined);
  });
});
