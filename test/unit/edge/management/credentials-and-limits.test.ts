/** Who asks, and how often. */
import { expect } from 'chai';
import { basicCredentials } from '../../../../src/edge/management/basic-credentials.js';
import { CallLimiter } from '../../../../src/edge/management/call-limiter.js';
import { MAX_COUNTED_KEYS } from '../../../../src/edge/management/management-limits.js';

const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('basic credentials', () => {
  it('are split at the first colon, and the e-mail is in lower case', () => {
    expect(basicCredentials(encoded('Ada@Example.com:mrk_a:b'))).to.deep.equal({
      email: 'ada@example.com',
      key: 'mrk_a:b',
    });
  });

  it('may be called so in any case, with more than one blank', () => {
    expect(basicCredentials(encoded('a@b:c').replace('Basic ', 'BASIC   '))).to.deep.equal({ email: 'a@b', key: 'c' });
  });

  for (const [what, header] of [
    ['nothing', undefined],
    ['another scheme', 'Bearer abc'],
    ['no colon', encoded('a@b')],
    ['no e-mail', encoded(':key')],
    ['no key', encoded('a@b:')],
    ['no base64', 'Basic a b c'],
    ['more than any key has', encoded(`a@b:${'x'.repeat(2048)}`)],
  ] as const) {
    it(`are none in ${what}`, () => expect(basicCredentials(header)).to.equal(undefined));
  }
});

describe('calls a second', () => {
  function limiter(perSecond: number) {
    const clock = { now: 0, nowMs: () => 0, monotonicMs: () => clock.now };
    return { clock, limit: new CallLimiter(clock, perSecond) };
  }

  it('are as many as said, and fill evenly', () => {
    const { clock, limit } = limiter(2);
    expect([limit.take('a'), limit.take('a'), limit.take('a')]).to.deep.equal([true, true, false]);
    clock.now = 499;
    expect(limit.take('a')).to.equal(false);
    clock.now = 500;
    expect([limit.take('a'), limit.take('a')]).to.deep.equal([true, false]);
    clock.now = 60_000;
    expect([limit.take('a'), limit.take('a'), limit.take('a')]).to.deep.equal([true, true, false]);
  });

  it('are counted for each key', () => {
    const { limit } = limiter(1);
    expect([limit.take('a'), limit.take('b'), limit.take('a')]).to.deep.equal([true, true, false]);
  });

  it('are not limited with 0', () => {
    const { limit } = limiter(0);
    expect(Array.from({ length: 1000 }, () => limit.take('a')).every(Boolean)).to.equal(true);
  });

  it('are remembered for a bounded number of keys, the oldest forgotten first', () => {
    const { limit } = limiter(1);
    limit.take('first');
    for (let key = 0; key < MAX_COUNTED_KEYS; key += 1) limit.take(`key ${key}`);
    expect(limit.take('first')).to.equal(true);
    expect(limit.take(`key ${MAX_COUNTED_KEYS - 1}`)).to.equal(false);
  });
});
