import { expect } from 'chai';
import { refusalOf } from '../../../src/edge/index.js';
import { ERROR_CODES, type ErrorCode, MillraceError } from '../../../src/kernel/index.js';

function refusalOfCode(code: ErrorCode) {
  return refusalOf(new MillraceError(code, 'secret detail'));
}

describe('edge: error map', () => {
  it('gives every code a status and a text that begins with its class and tells no detail', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { status, text } = refusalOfCode(code);
      expect(status, code).to.be.within(400, 503);
      expect(text, code)
        .to.match(/^[A-Z]+ /)
        .and.not.include('secret');
    }
  });

  it('asks to try again only where nothing was executed', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { retryAfterSeconds } = refusalOfCode(code);
      expect(retryAfterSeconds !== undefined, code).to.equal(ERROR_CODES[code].retryable);
    }
  });

  it('tells an unknown outcome from one that is known', () => {
    expect(refusalOfCode('OUTCOME_UNKNOWN').text).to.include('outcome=unknown');
    expect(refusalOfCode('OUTCOME_UNKNOWN')).to.not.have.property('retryAfterSeconds');
    expect(refusalOfCode('NOT_APPLIED').text).to.include('outcome=not-applied');
    expect(refusalOfCode('NOT_APPLIED').status).to.equal(503);
  });

  it('answers 500 to anything it does not know', () => {
    expect(refusalOf(new Error('boom'))).to.deep.equal({ status: 500, text: 'ERR internal error' });
    expect(refusalOf(undefined).status).to.equal(500);
  });
});
