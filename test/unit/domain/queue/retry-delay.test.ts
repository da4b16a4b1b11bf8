/** Proves RD1, RD2. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compileRetryDelay, retryDelayMs } from '../../../../src/domain/queue/index.js';
import { repetitions } from '../../../support/depth.js';

function evaluated(text: string, retried = 0): number {
  const outcome = compileRetryDelay(text);
  if (!outcome.isOk) throw new Error(outcome.message);
  return outcome.formula(retried);
}

function refusalOf(text: string): string {
  const outcome = compileRetryDelay(text);
  return outcome.isOk ? '' : outcome.message;
}

describe('a retry-delay expression', () => {
  const values: [text: string, retried: number, value: number][] = [
    ['1000', 0, 1000],
    ['0.5', 0, 0.5],
    ['retried', 3, 3],
    ['1000 * (1 + retried)', 2, 3000],
    ['2 + 3 * 4', 0, 14],
    ['(2 + 3) * 4', 0, 20],
    ['10 - 3 - 2', 0, 5],
    ['100 / 10 / 5', 0, 2],
    ['-2 * -3', 0, 6],
    ['--2', 0, 2],
    ['5 - -retried', 2, 7],
    ['pow(2, retried) * 1000', 3, 8000],
    ['exp(0)', 0, 1],
    ['sqrt(16)', 0, 4],
    ['abs(-7)', 0, 7],
    ['floor(1.9) + ceil(1.1) + round(1.5)', 0, 5],
    ['min(1, 2) + max(1, 2)', 0, 3],
    ['max(1000, pow(2, retried) * 100)', 4, 1600],
    [' \t1\t+ 1 ', 0, 2],
    ['max(min(1,2),(3))', 0, 3],
  ];
  for (const [text, retried, value] of values) {
    it(`${text} is ${value} after ${retried} retries`, () => expect(evaluated(text, retried)).to.equal(value));
  }

  const refusals: [text: string, reason: string][] = [
    ['', 'expected a number, retried, a function or ( at character 1'],
    ['1 +', 'expected a number, retried, a function or ( at character 4'],
    ['1 2', 'expected an operator at character 3'],
    ['(1', 'expected ) at character 3'],
    ['1)', 'expected an operator at character 2'],
    ['1.', 'expected a digit at character 3'],
    ['.5', 'expected a number, retried, a function or ( at character 1'],
    ['1e3', 'expected an operator at character 2'],
    ['2 ** 3', 'expected a number, retried, a function or ( at character 4'],
    ['retries', 'unknown name retries'],
    ['constructor(1)', 'unknown name constructor'],
    ['process.exit()', 'unknown name process'],
    ['pow', 'expected ( at character 4'],
    ['pow(1)', 'pow takes two values'],
    ['exp(1, 2)', 'exp takes one value'],
    ['max(1,2,3)', 'max takes two values'],
    ['exp()', 'expected a number, retried, a function or ( at character 5'],
  ];
  for (const [text, reason] of refusals) {
    it(`${text || 'an empty text'} is refused: ${reason}`, () => expect(refusalOf(text)).to.equal(reason));
  }

  it('has at most 256 characters', () => {
    expect(refusalOf('1'.repeat(256))).to.equal('');
    expect(refusalOf('1'.repeat(257))).to.equal('expression is longer than 256 characters');
  });

  it('nests at most 32 levels deep', () => {
    const nested = (depth: number) => '('.repeat(depth) + 1 + ')'.repeat(depth);
    expect(refusalOf(nested(31))).to.equal('');
    expect(refusalOf(nested(32))).to.equal('expression is nested deeper than 32');
    expect(refusalOf(`${'-'.repeat(200)}1`)).to.equal('expression is nested deeper than 32');
  });

  it('is rounded to whole milliseconds, up to a day', () => {
    expect([retryDelayMs('1.4', 0), retryDelayMs('1.5', 0), retryDelayMs('-1', 0)]).to.deep.equal([1, 2, 0]);
    expect(retryDelayMs('pow(10, 300) * pow(10, 300)', 0)).to.equal(86_400_000);
    expect(retryDelayMs('0 / 0', 0)).to.equal(undefined);
  });

  it('of any text gives a value or a refusal, and never throws', () => {
    const part = fc.constantFrom(
      ...'0 1 .5 2.5 + - * / ( ) , retried pow( exp( min( x e __proto__'.split(' '),
      ' ',
      '\n',
    );
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.array(part, { maxLength: 80 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, fc.nat(1000), (expression, retried) => {
        const outcome = compileRetryDelay(expression);
        if (!outcome.isOk) return outcome.message.length > 0;
        const delay = retryDelayMs(expression, retried);
        return delay === undefined || (Number.isInteger(delay) && delay >= 0 && delay <= 86_400_000);
      }),
      { numRuns: repetitions(2000) },
    );
  });
});
