/** Proves CWO1, CWO2. */
import { expect } from 'chai';
import fc from 'fast-check';
import { HeaderAliases } from '../../../../src/edge/index.js';
import { rawSettingsOf, readWords } from '../../../../src/edge/queue/call-words.js';

const spellings = new HeaderAliases([{ headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store' }]);
const read = (headers: readonly string[], query = '') => readWords(spellings, headers, query, () => false);

describe('edge/queue: the parts of a call', () => {
  it('include the token from the query, or else from the bearer header with the scheme in any case', () => {
    expect(read(['Authorization', 'bEARER  abc ']).token).to.equal('abc');
    expect(read(['Authorization', 'Bearer abc'], 'msgq_token=d%2Fe').token).to.equal('d/e');
    expect(read(['Authorization', 'Basic abc']).token).to.equal(undefined);
    expect(read([]).token).to.equal(undefined);
  });

  it('separate options from other headers, and omit Authorization from both', () => {
    const headers = [
      'Svc-Retries',
      '1',
      'X-A',
      '2',
      'Content-Type',
      'text/plain',
      'authorization',
      'Basic x',
      'X-A',
      '3',
    ];
    const words = read(headers);
    expect(words.configuration).to.deep.equal([
      ['svc-retries', '1'],
      ['content-type', 'text/plain'],
    ]);
    expect(words.others).to.deep.equal([
      ['x-a', '2'],
      ['x-a', '3'],
    ]);
  });

  it('include other headers only where they may be forwarded', () => {
    const plain = read(['X-A', '1']);
    expect(rawSettingsOf(plain, false).headers).to.deep.equal([]);
    expect(rawSettingsOf(plain, true).headers).to.deep.equal([['x-a', '1']]);
    expect(rawSettingsOf(read(['X-A', '1', 'Svc-Header-Forward', 'true']), false).headers).to.deep.include([
      'x-a',
      '1',
    ]);
    expect(rawSettingsOf(read(['X-A', '1'], 'svc-header-forward=true'), false).headers).to.deep.include(['x-a', '1']);
  });

  it('include options from the query with plus signs as blanks, and malformed values unchanged', () => {
    const { query, rest } = read([], 'svc-label=a+b%2Cc&svc-delay=%zz&x=%zz&svc-retries');
    expect(query).to.deep.equal([
      ['svc-label', 'a b,c'],
      ['svc-delay', '%zz'],
      ['svc-retries', ''],
    ]);
    expect(rest).to.equal('x=%zz');
  });

  it('leave the rest of the query unchanged, byte for byte', () => {
    const pair = fc.string({ unit: fc.constantFrom('a', '=', '%', '2', '+', '/', '?'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), fc.nat(6), (pairs, at) => {
        const own = [...pairs.slice(0, at), 'svc-retries=1', ...pairs.slice(at)].join('&');
        expect(read([], own).rest).to.equal(pairs.join('&'));
        expect(read([], pairs.join('&')).rest).to.equal(pairs.join('&'));
      }),
    );
  });

  it('include options of callbacks and forwarded headers, in either spelling, and no others', () => {
    const keys = ['svc-callback-retries', 'acme-failure-callback-forward-x', 'svc-forward-x', 'acme-telemetry-sdk'];
    expect(read([], keys.map((key) => `${key}=1`).join('&')).rest).to.equal('');
    const others = 'svc-forward-=1&svc-callbacks=1&SVC-RETRIES=1&svc-workflow-init=1';
    expect(read([], others).rest).to.equal(others);
  });
});
