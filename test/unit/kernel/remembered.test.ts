import { expect } from 'chai';
import { obtain, Remembered } from '../../../src/kernel/index.js';

describe('what is remembered', () => {
  it('is looked for once', () => {
    const remembered = new Remembered<string, number>(10);
    let looks = 0;
    const find = () => {
      looks += 1;
      return 7;
    };
    expect([obtain(remembered, 'a', find), obtain(remembered, 'a', find), looks]).to.deep.equal([7, 7, 1]);
  });

  it('is forgotten as a whole by one more than it has room for, and not by what it knows already', () => {
    const remembered = new Remembered<string, number>(2);
    remembered.set('a', 1).set('b', 2).set('a', 3);
    expect([...remembered]).to.deep.equal([
      ['a', 3],
      ['b', 2],
    ]);
    remembered.set('c', 4);
    expect([...remembered]).to.deep.equal([['c', 4]]);
  });
});
