import { expect } from 'chai';
import { accessedKeysOf, type CommandSpec, findCommand } from '../../../src/domain/kv/index.js';
import { GEO_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('kv: geo', GEO_CASES);

describe('key-value: keys of GEORADIUS', () => {
  it('are the source, and the last destination', () => {
    const words = 'GEORADIUS g 1 2 3 km STORE a STOREDIST b'.split(' ');
    expect(accessedKeysOf(findCommand(words) as CommandSpec, words)).to.deep.equal([
      { key: 'g', position: 1, access: 'read', part: 0 },
      { key: 'b', position: 9, access: 'write', part: 0 },
    ]);
  });
});
