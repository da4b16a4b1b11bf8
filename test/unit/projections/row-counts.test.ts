import { expect } from 'chai';
import { counted } from '../../../src/projections/message-log/row-counts.js';
import type { SearchStep } from '../../../src/projections/message-log/row-search.js';

const place = { atMs: 1, n: 1 };

function* rowsOf(states: readonly (number | undefined)[]): Generator<SearchStep> {
  for (const state of states) yield { place, row: state === undefined ? undefined : { state } };
}

function walked(states: readonly (number | undefined)[], isLate: () => boolean) {
  const counting = counted(rowsOf(states), isLate, ({ state }) => String(state));
  let pauses = 0;
  for (let step = counting.next(); ; step = counting.next()) {
    if (step.done === true) return { pauses, ...step.value };
    pauses += 1;
  }
}

describe('rows, counted', () => {
  it('are told apart, and time for others is left after thousands of them', () => {
    const states = Array.from({ length: 5000 }, (_, at) => at % 2);
    expect(walked(states, () => false)).to.deep.equal({ pauses: 2, counts: { 0: 2500, 1: 2500 }, isWhole: true });
  });

  it('are counted as far as time allows, also while a search finds nothing', () => {
    expect(walked([1, undefined, 1], () => true)).to.deep.equal({ pauses: 0, counts: { 1: 1 }, isWhole: false });
  });
});
