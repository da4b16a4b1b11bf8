import { expect } from 'chai';
import fc from 'fast-check';
import { compileGlob } from '../../../../src/domain/kv/glob.js';
import { repetitions } from '../../../support/depth.js';
import { processorMsOf } from '../../../support/processor-time.js';

describe('glob patterns', () => {
  const rows: [string, string[], string[]][] = [
    ['*', ['', 'a', 'abc'], []],
    ['', [''], ['a']],
    ['h?llo', ['hello', 'hallo'], ['hllo', 'heello']],
    ['h*llo', ['hllo', 'heeeello'], ['hllox']],
    ['h[ae]llo', ['hello', 'hallo'], ['hillo']],
    ['h[^e]llo', ['hallo'], ['hello']],
    ['h[a-b]llo', ['hallo', 'hbllo'], ['hcllo']],
    ['h[b-a]llo', ['hallo', 'hbllo'], ['hcllo']],
    ['h\\*llo', ['h*llo'], ['hello']],
    ['[\\]]', [']'], ['\\']],
    ['[]', [], ['', '[', ']', 'a']],
    ['[^]', ['a', ']'], ['']],
    ['[ab', ['a', 'b'], ['c']],
    ['a\\', ['a\\'], ['a']],
    ['*a*b*', ['ab', 'xaxbx'], ['ba']],
    ['*aab', ['aaab', 'aab'], ['aaba']],
    ['**', ['', 'x'], []],
    ['user:*', ['user:', 'user:1'], ['user', 'xuser:1']],
    ['\xff?', ['\xff\x00'], ['\xff']],
  ];
  for (const [pattern, yes, no] of rows) {
    it(`${JSON.stringify(pattern)} matches the listed texts, and no others`, () => {
      const glob = compileGlob(pattern);
      expect(yes.filter((text) => !glob(text))).to.deep.equal([]);
      expect(no.filter((text) => glob(text))).to.deep.equal([]);
    });
  }

  it('match a text with all its bytes escaped', () => {
    const bytes = fc.array(fc.integer({ min: 0, max: 255 })).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(bytes, bytes, (text, other) => {
        const glob = compileGlob(text.replace(/./gs, '\\$&'));
        return glob(text) && glob(other) === (other === text);
      }),
    );
  });

  it('agree with a regular expression for stars and question marks', () => {
    const word = fc.array(fc.constantFrom('a', 'b', '*', '?'), { maxLength: 8 }).map((parts) => parts.join(''));
    const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(word, text, (pattern, candidate) => {
        const regex = new RegExp(`^${pattern.replace(/\*+/g, '.*').replace(/\?/g, '.')}$`, 's');
        return compileGlob(pattern)(candidate) === regex.test(candidate);
      }),
      { numRuns: repetitions(2000) },
    );
  });

  it('take steps in proportion to the text, for any number of stars', () => {
    const glob = compileGlob(`${'a*'.repeat(30)}b`);
    const tookMs = processorMsOf(() => expect(glob('a'.repeat(100_000))).to.equal(false));
    expect(tookMs, 'of the processor').to.be.lessThan(1000);
  });
});
