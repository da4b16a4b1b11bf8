/** Proves SAU1 and SAU2. */
import { expect } from 'chai';
import { OpenAuthors } from '../../../src/actors/kv-shard/section-authors.js';

describe('authors of a section', () => {
  function noted(...runs: readonly (readonly [string, number])[]): OpenAuthors {
    const authors = new OpenAuthors();
    for (const [author, effects] of runs) {
      authors.current = author;
      authors.note(effects);
      authors.current = '';
    }
    return authors;
  }

  it('are different names, and runs of effects in order', () => {
    const authors = noted(['a@1', 2], ['a@1', 1], ['', 4], ['b@1', 1], ['a@1', 5], ['b@1', 0]);
    expect(authors.take(13)).to.deep.equal([
      ['a@1', '', 'b@1'],
      [0, 3, 1, 4, 2, 1, 0, 5],
    ]);
    expect(authors.take(0)).to.equal(undefined);
  });

  it('are left out when only the server wrote (SAU1)', () => {
    expect(noted(['', 3]).take(3)).to.equal(undefined);
  });

  it('are left out when not all effects were counted (SAU2)', () => {
    expect(noted(['a@1', 3]).take(4)).to.equal(undefined);
    const spoilt = noted(['a@1', 3]);
    spoilt.spoil();
    expect(spoilt.take(3)).to.equal(undefined);
    spoilt.current = 'b@1';
    spoilt.note(1);
    expect(spoilt.take(1)).to.deep.equal([['b@1'], [0, 1]]);
  });
});
