import { expect } from 'chai';
import {
  badRequest,
  isPassing,
  queueBodyTooLarge,
  queueRefusalOf,
  refusalToRun,
  rejectionRefusal,
} from '../../../src/edge/error-map.js';
import { refusalOf } from '../../../src/edge/index.js';
import { ERROR_CODES, type ErrorCode, MillraceError } from '../../../src/kernel/index.js';

function refusalOfCode(code: ErrorCode) {
  return refusalOf(new MillraceError(code, 'secret detail'));
}

describe('edge: error map', () => {
  it('gives every code a status and a text that starts with its class and has no details', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { status, text } = refusalOfCode(code);
      expect(status, code).to.be.within(400, 503);
      expect(text, code)
        .to.match(/^[A-Z]+ /)
        .and.not.include('secret');
    }
  });

  it('sets Retry-After only for errors where no command was executed', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { retryAfterSeconds } = refusalOfCode(code);
      expect(retryAfterSeconds !== undefined, code).to.equal(ERROR_CODES[code].retryable);
    }
  });

  it('distinguishes an unknown outcome from a known one', () => {
    expect(refusalOfCode('OUTCOME_UNKNOWN').text).to.include('outcome=unknown');
    expect(refusalOfCode('OUTCOME_UNKNOWN')).to.not.have.property('retryAfterSeconds');
    expect(refusalOfCode('NOT_APPLIED').text).to.include('outcome=not-applied');
    expect(refusalOfCode('NOT_APPLIED').status).to.equal(503);
  });

  it('mentions when an unknown outcome waits for storage, which may still accept it', () => {
    const failure = new MillraceError('OUTCOME_UNKNOWN', 'no answer', { isBeingStored: true });
    for (const { status, text } of [refusalOf(failure), queueRefusalOf(failure)]) {
      expect(status).to.equal(503);
      expect(text).to.include('outcome=unknown').and.include('storage does not answer');
    }
    expect(refusalOfCode('OUTCOME_UNKNOWN').text).to.not.include('storage');
  });

  it('treats only errors that end without a change of the request or an operator as temporary', () => {
    const passing = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => isPassing(new MillraceError(code, '')));
    expect(passing).to.include.members(['SHARD_UNAVAILABLE', 'CONTROL_STALE', 'OUTCOME_UNKNOWN', 'SHUTTING_DOWN']);
    for (const code of ['STORAGE_FULL', 'JOURNAL_DAMAGED', 'RATE_LIMITED', 'INVALID', 'DEFECT'] as const) {
      expect(passing).to.not.include(code);
    }
  });

  it('uses 400 for a run only to report that the run is over', () => {
    const over = rejectionRefusal('RUN_OVER', 'can not append');
    expect(over.status).to.equal(400);
    expect(refusalToRun(over)).to.equal(over);
    expect(refusalToRun(rejectionRefusal('INVALID', 'wrong'))).to.include({ status: 412, text: 'wrong' });
    expect(refusalToRun(badRequest('wrong'))).to.deep.equal({ status: 412, text: 'wrong' });
    expect(refusalToRun(queueBodyTooLarge(7)).status).to.equal(412);
    for (const reason of ['NOT_FOUND', 'TOO_MANY', 'SUSPENDED', 'DAILY_LIMIT', 'BUDGET'] as const) {
      const refusal = rejectionRefusal(reason, 'text');
      expect(refusalToRun(refusal), reason).to.equal(refusal);
    }
  });

  it('answers 500 to any other error', () => {
    expect(refusalOf(new Error('boom'))).to.deep.equal({ status: 500, text: 'ERR internal error' });
    expect(refusalOf(undefined).status).to.equal(500);
  });
});
