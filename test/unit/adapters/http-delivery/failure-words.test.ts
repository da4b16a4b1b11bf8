/** The texts for calls without a response. */
import { expect } from 'chai';
import { CallFailure, failureWords, timeoutWords } from '../../../../src/adapters/http-delivery/failure-words.js';

const withCode = (code: string) => Object.assign(new Error('10.0.0.1:80 secret'), { code });

describe('the text of a failed call', () => {
  it('is the same for the same failure, independent of the library', () => {
    expect(failureWords(withCode('ECONNREFUSED'))).to.equal('connection refused');
    expect(failureWords(withCode('ENOTFOUND'))).to.equal('no such host');
    expect(failureWords(withCode('EHOSTUNREACH'))).to.equal('host unreachable');
    expect(failureWords(withCode('CERT_HAS_EXPIRED'))).to.equal('certificate has expired');
    expect(failureWords(withCode('ERR_SSL_WRONG_VERSION_NUMBER'))).to.equal('TLS handshake failed');
  });

  it('is that of the first address when several failed', () => {
    const several = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    expect(failureWords(several)).to.equal('connection refused');
  });

  it('has the code of an unexpected failure, and none of its message', () => {
    expect(failureWords(withCode('EODD'))).to.equal('connection failed (EODD)');
    expect(failureWords(new Error('secret'))).to.equal('connection failed');
    expect(failureWords(undefined)).to.equal('connection failed');
    expect(failureWords(withCode('constructor'))).to.equal('connection failed (constructor)');
  });

  it('is kept where a failure has its text already', () => {
    expect(failureWords(new CallFailure('as it is'))).to.equal('as it is');
  });

  it('has the time limit in seconds', () => {
    expect(timeoutWords(30_000)).to.equal('timed out after 30s');
    expect(timeoutWords(1500)).to.equal('timed out after 1.5s');
  });
});
