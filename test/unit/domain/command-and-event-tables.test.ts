/** The rows of commands and events of the queue and of the control actor have consistent fields. */
import { expect } from 'chai';
import { CONTROL_COMMANDS, controlCommands, controlEvents } from '../../../src/domain/control/index.js';
import { type CommandRow, QUEUE_COMMANDS, queueCommands, queueEvents } from '../../../src/domain/queue/index.js';

const queueRows = Object.entries(QUEUE_COMMANDS) as [string, CommandRow][];
const controlRows = Object.entries(CONTROL_COMMANDS);

for (const [owner, rows] of [
  ['a queue', queueRows],
  ['the control actor', controlRows],
] as const) {
  describe(`the commands of ${owner}`, () => {
    it('are marked as reads exactly when their name starts with Get, List or Count', () => {
      const reads = rows.filter(([, row]) => row.isRead).map(([name]) => name);
      expect(reads).to.deep.equal(rows.map(([name]) => name).filter((name) => /^(Get|List|Count)/.test(name)));
    });
  });
}

describe('the commands of a queue', () => {
  it('have no isRepeatable and mayGrow when they are reads', () => {
    const odd = queueRows.filter(([, row]) => row.isRead && (row.isRepeatable ?? row.mayGrow) !== undefined);
    expect(odd.map(([name]) => name)).to.deep.equal([]);
  });

  it('of the actor alone are RecordAttempt and TakeIntake', () => {
    const own = queueRows.filter(([, row]) => row.isOfTheActor).map(([name]) => name);
    expect(own).to.deep.equal(['RecordAttempt', 'TakeIntake']);
  });
});

for (const [owner, numbers] of [
  ['commands of a queue', numbersOf(queueCommands)],
  ['events of a queue', numbersOf(queueEvents)],
  ['commands of the control actor', numbersOf(controlCommands)],
  ['events of the control state', numbersOf(controlEvents)],
] as const) {
  it(`the ${owner} have unique numbers without a gap`, () => {
    expect([...numbers].sort((a, b) => a - b)).to.deep.equal(numbers.map((_, at) => at + 1));
  });
}

function numbersOf(cases: { readonly [type: string]: readonly [number, unknown] }): number[] {
  return Object.values(cases).map(([number]) => number);
}
