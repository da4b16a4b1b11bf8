import { expect } from 'chai';
import { counted } from '../../../src/projections/log-rows/row-counts.js';
import type { SearchStep } from '../../../src/projections/log-rows/row-search.js';

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

describe('row counts', () => {
  it('are grouped, with a pause after thousands of rows', () => {
    const states = Array.from({ length: 5000 }, (_, at) => at % 2);
    expect(walked(states, () => false)).to.deep.equal({ pauses: 2, counts: { 0: 2500, 1: 2500 }, isWhole: true });
  });

  it('stop at the time limit, also while a search finds no rows', () => {
    expect(walked([1, undefined, 1], () => true)).to.deep.equal({ pauses: 0, counts: { 1: 1 }, isWhole: false });
  });
});
