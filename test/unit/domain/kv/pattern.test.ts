/** Regular expressions without backtracking. */
import { expect } from 'chai';
import { compilePattern } from '../../../../src/domain/kv/pattern.js';
import { MAX_PATTERN_BYTES as MAX_BYTES } from '../../../../src/domain/kv/types/json/json-limits.js';

function refusalOf(run: () => unknown): unknown {
  try {
    run();
  } catch (refusal) {
    return refusal;
  }
  return undefined;
}

describe('key-value: regular expressions of JSON filters and of ARGREP', () => {
  it('match as regular expressions do', () => {
    const sources = [
      'a',
      '^a',
      'a$',
      '^a*$',
      'a|b',
      '(ab)+c',
      '[a-c]+$',
      '[^a]',
      'a?b',
      '.b',
      '\\d+',
      '^\\w+$',
      'a\\.b',
      '(a*)*b',
      '(?:a|ab)(c|bcd)',
      '',
      '[]a]',
      '[a-]',
      '\\s',
      '\\D',
      'x*',
      '^(a|^b)$',
      '(|a)b',
      '^a{2}$',
      'a{2,}',
      '^(ab){1,2}$',
      '^a{0}b{1,}$',
      'a{0,2}b',
    ];
    const texts = [
      '',
      'a',
      'b',
      'ab',
      'abc',
      'ababc',
      'abcd',
      'xyz',
      'a.b',
      '12',
      'a b',
      'aaaa',
      '-',
      ']',
      '\n',
      'cab',
    ];
    for (const source of sources) {
      // A bracket at the start of a class is literal; JavaScript needs an escape for that.
      const expected = new RegExp(source === '[]a]' ? '[\\]a]' : source);
      for (const text of texts)
        expect(compilePattern(source, MAX_BYTES).matches(text), `${source} in ${JSON.stringify(text)}`).to.equal(
          expected.test(text),
        );
    }
    expect(compilePattern('(?i)^[a-c]B$', MAX_BYTES).matches('Cb')).to.equal(true);
  });

  it('have the named classes of POSIX', () => {
    const matching = (source: string) =>
      ['a', 'Z', '7', ' ', '-', '\t'].filter(compilePattern(source, MAX_BYTES).matches);
    expect(matching('[[:alpha:]]')).to.deep.equal(['a', 'Z']);
    expect(matching('[[:digit:][:blank:]]')).to.deep.equal(['7', ' ', '\t']);
    expect(matching('[^[:alnum:][:space:]]')).to.deep.equal(['-']);
    expect(matching('[[:upper:]-]')).to.deep.equal(['Z', '-']);
    expect(matching('[[:xdigit:]]')).to.deep.equal(['a', '7']);
    expect(matching('[[:punct:]]')).to.deep.equal(['-']);
  });

  it('pause while they match a long text', () => {
    const steps = compilePattern('(a|aa)+$b', MAX_BYTES).matchesInSteps('a'.repeat(50_000));
    let pauses = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) pauses += 1;
    expect(pauses).to.be.greaterThan(5);
  });

  it('take time in proportion to the text', () => {
    const text = 'a'.repeat(50_000);
    for (const source of ['(a*)*b', '(a|a)*b', '(a|aa)+$b', 'a*a*a*a*a*b', `${'a?'.repeat(60)}${'a'.repeat(60)}b`])
      expect(compilePattern(source, MAX_BYTES).matches(text)).to.equal(false);
  });

  it('are refused when they are invalid, unsupported or too long', () => {
    for (const source of [
      '(',
      ')',
      'a)',
      '[',
      '[a',
      '*',
      '+a',
      'a**',
      'a{2',
      'a{,2}',
      'a{2,1}',
      'a{256}',
      'a{2}{2}',
      '(a{200}){200}',
      '[[:word:]]',
      '\\',
      '\\1',
      '\\b',
      '[b-a]',
      '[a-\\d]',
      '(?=a)',
      '(?<n>a)',
    ])
      expect(
        refusalOf(() => compilePattern(source, MAX_BYTES)),
        source,
      )
        .to.have.property('text')
        .that.includes('regular expression');
    expect(compilePattern('a'.repeat(MAX_BYTES), MAX_BYTES).matches('a')).to.equal(false);
    expect(refusalOf(() => compilePattern('a'.repeat(MAX_BYTES + 1), MAX_BYTES))).to.have.property('text');
  });
});
