/** When a failed attempt is made again (docs/guide/retry-delay.md). */
import { expect } from 'chai';
import { type HeaderList, isFinalRefusal, MAX_RETRY_DELAY_MS, nextDelayMs } from '../../../src/domain/queue/index.js';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const BACKOFF_MS = 12_182;

function delayOf(header: HeaderList | undefined, retryDelay?: string, retried = 0): number {
  return nextDelayMs({ settings: { retryDelay }, retried, header, nowMs: NOW_MS });
}

describe('the delay before a retry', () => {
  it('follows the backoff, up to a day', () => {
    const seconds = [0, 1, 2, 3, 4, 99, 1000].map((retried) =>
      Math.floor(delayOf(undefined, undefined, retried) / 1000),
    );
    expect(seconds).to.deep.equal([12, 148, 1808, 22_026, 86_400, 86_400, 86_400]);
  });

  it('follows Svc-Retry-Delay, which counts retries from 0', () => {
    const delays = [0, 1, 2, 3].map((retried) => delayOf([], 'pow(2, retried) * 1000', retried));
    expect(delays).to.deep.equal([1000, 2000, 4000, 8000]);
  });

  it('is never negative and at most a day', () => {
    expect(delayOf(undefined, '-5')).to.equal(0);
    expect(delayOf(undefined, '1 / 0')).to.equal(MAX_RETRY_DELAY_MS);
    expect(delayOf(undefined, '86400001')).to.equal(DAY_MS);
    expect(delayOf(undefined, '0 - 1 / 0')).to.equal(0);
  });

  it('follows the backoff if the expression gives no number', () => {
    for (const text of ['0 / 0', 'sqrt(-1)', 'no expression']) expect(delayOf(undefined, text)).to.equal(BACKOFF_MS);
  });

  describe('from a response header', () => {
    const names = ['Retry-After', 'X-RateLimit-Reset', 'X-RateLimit-Reset-Requests', 'X-RateLimit-Reset-Tokens'];
    const forms: [text: string, delayMs: number][] = [
      ['0', 0],
      ['30', 30_000],
      [' 1.5 ', 1500],
      ['86400', DAY_MS],
      ['Thu, 01 Jan 2026 00:00:45 GMT', 45_000],
      ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
      ['Thu, 01 Jan 2026 02:00:00 +0100', 3_600_000],
      ['6m5s', 365_000],
      ['1h', 3_600_000],
      ['250ms', 250],
      ['1500us', 2],
      ['1500\u00b5s', 2],
      ['1500\u00c2\u00b5s', 2],
      ['2000000ns', 2],
      ['1m0.5s', 60_500],
      // Unix times, which lie far beyond any number of seconds that is waited for: of 2026-01-01T00:00:45 and before.
      ['1767225645', 45_000],
      ['1767225645.5', 45_500],
      ['1767225645250', 45_250],
      ['1767225540', 0],
      ['1767312000', DAY_MS],
    ];
    for (const name of names) {
      for (const [text, delayMs] of forms) {
        it(`${name}: ${text} wins over the message's own delay`, () => {
          expect(delayOf([[name, text]], '7777')).to.equal(delayMs);
          expect(delayOf([[name.toLowerCase(), text]])).to.equal(delayMs);
        });
      }
    }

    it('is ignored above a day', () => {
      const texts = ['86401', '999999999', '24h1ns', 'Fri, 02 Jan 2026 00:00:01 GMT', '1767312001', '1767312000001'];
      for (const text of texts) {
        for (const name of names) {
          expect(delayOf([[name, text]], '7777'), text).to.equal(7777);
          expect(delayOf([[name, text]]), text).to.equal(BACKOFF_MS);
        }
      }
    });

    it('is ignored in any other form', () => {
      for (const text of ['', '-1', 'soon', '5x', '1d', '5m5', 'NaN', '0x10', '1e3', '9'.repeat(100), '2026-01-01']) {
        expect(delayOf([['Retry-After', text]], '7777')).to.equal(7777);
      }
    });

    it('is taken from the first usable header', () => {
      const header: HeaderList = [
        ['X-RateLimit-Reset-Tokens', '4'],
        ['X-RateLimit-Reset', '2'],
        ['Retry-After', 'later'],
        ['X-RateLimit-Reset-Requests', '3'],
      ];
      expect(delayOf(header)).to.equal(2000);
      expect(delayOf([...header, ['Retry-After', '1']])).to.equal(1000);
    });
  });
});

describe('a refusal of further attempts', () => {
  const names = ['Svc-NonRetryable-Error', 'Other-NonRetryable-Error'];

  it('needs the status and the header, in each accepted spelling', () => {
    expect(isFinalRefusal(489, [['svc-nonretryable-error', 'true']], names)).to.equal(true);
    expect(isFinalRefusal(489, [['Other-Nonretryable-Error', ' True']], names)).to.equal(true);
    expect(isFinalRefusal(489, [], names)).to.equal(false);
    expect(isFinalRefusal(489, [['Svc-NonRetryable-Error', 'false']], names)).to.equal(false);
    expect(isFinalRefusal(500, [['Svc-NonRetryable-Error', 'true']], names)).to.equal(false);
    expect(isFinalRefusal(489, [['Foreign-NonRetryable-Error', 'true']], names)).to.equal(false);
  });
});
