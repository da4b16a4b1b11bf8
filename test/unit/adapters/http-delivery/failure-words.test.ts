/** The words for a call that got no response. */
import { expect } from 'chai';
import { CallFailure, failureWords, timeoutWords } from '../../../../src/adapters/http-delivery/failure-words.js';

const withCode = (code: string) => Object.assign(new Error('10.0.0.1:80 secret'), { code });

describe('failure words', () => {
  it('are the same for the same failure, whatever the library says', () => {
    expect(failureWords(withCode('ECONNREFUSED'))).to.equal('connection refused');
    expect(failureWords(withCode('ENOTFOUND'))).to.equal('no such host');
    expect(failureWords(withCode('EHOSTUNREACH'))).to.equal('host unreachable');
    expect(failureWords(withCode('CERT_HAS_EXPIRED'))).to.equal('certificate has expired');
    expect(failureWords(withCode('ERR_SSL_WRONG_VERSION_NUMBER'))).to.equal('TLS handshake failed');
  });

  it('are those of the first address when several failed', () => {
    const several = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    expect(failureWords(several)).to.equal('connection refused');
  });

  it('name the code of a failure that is not foreseen, and nothing of its text', () => {
    expect(failureWords(withCode('EODD'))).to.equal('connection failed (EODD)');
    expect(failureWords(new Error('secret'))).to.equal('connection failed');
    expect(failureWords(undefined)).to.equal('connection failed');
    expect(failureWords(withCode('constructor'))).to.equal('connection failed (constructor)');
  });

  it('are kept where a failure was put into words before', () => {
    expect(failureWords(new CallFailure('as it is'))).to.equal('as it is');
  });

  it('tell the time limit in seconds', () => {
    expect(timeoutWords(30_000)).to.equal('timed out after 30s');
    expect(timeoutWords(1500)).to.equal('timed out after 1.5s');
  });
});
