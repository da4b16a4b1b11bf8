/** The rows of the queue's and the control actor's commands and events: what they say does not contradict itself. */
import { expect } from 'chai';
import { CONTROL_COMMANDS, CONTROL_EVENTS } from '../../../src/domain/control/index.js';
import { type CommandRow, QUEUE_COMMANDS, QUEUE_EVENTS } from '../../../src/domain/queue/index.js';

const queueRows = Object.entries(QUEUE_COMMANDS) as [string, CommandRow][];
const controlRows = Object.entries(CONTROL_COMMANDS);

for (const [whose, rows] of [
  ['a queue', queueRows],
  ['the control actor', controlRows],
] as const) {
  describe(`the commands of ${whose}`, () => {
    it('have numbers of their own, without a gap', () => {
      const numbers = rows.map(([, { number }]) => number).sort((a, b) => a - b);
      expect(numbers).to.deep.equal(rows.map((_, at) => at + 1));
    });

    it('are reads where they get or list, and nowhere else', () => {
      const reads = rows.filter(([, row]) => row.isRead).map(([name]) => name);
      expect(reads).to.deep.equal(rows.map(([name]) => name).filter((name) => /^(Get|List)/.test(name)));
    });
  });
}

describe('the commands of a queue', () => {
  it('that are reads need not say that they may be asked again, and grow nothing', () => {
    const odd = queueRows.filter(([, row]) => row.isRead && (row.isRepeatable ?? row.mayGrow) !== undefined);
    expect(odd.map(([name]) => name)).to.deep.equal([]);
  });

  it('that only their actor may ask are what came of attempts and of the intake', () => {
    const own = queueRows.filter(([, row]) => row.isOfTheActor).map(([name]) => name);
    expect(own).to.deep.equal(['RecordAttempt', 'TakeIntake']);
  });
});

for (const [whose, table] of [
  ['a queue', QUEUE_EVENTS],
  ['the control state', CONTROL_EVENTS],
] as const) {
  it(`the events of ${whose} have numbers of their own, without a gap`, () => {
    const numbers = Object.values(table).map(({ number }) => number);
    expect(numbers.sort((a, b) => a - b)).to.deep.equal(numbers.map((_, at) => at + 1));
  });
}
