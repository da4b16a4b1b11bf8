/** The credentials of a request. */
import { expect } from 'chai';
import { basicCredentials } from '../../../../src/edge/http/credentials.js';

const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('basic credentials', () => {
  it('are split at the first colon, with the e-mail in lower case', () => {
    expect(basicCredentials(encoded('Ada@Example.com:mrk_a:b'))).to.deep.equal({
      email: 'ada@example.com',
      key: 'mrk_a:b',
    });
  });

  it('accept the scheme in any case, and several blanks', () => {
    expect(basicCredentials(encoded('a@b:c').replace('Basic ', 'BASIC   '))).to.deep.equal({ email: 'a@b', key: 'c' });
  });

  for (const [value, header] of [
    ['nothing', undefined],
    ['another scheme', 'Bearer abc'],
    ['no colon', encoded('a@b')],
    ['no e-mail', encoded(':key')],
    ['no key', encoded('a@b:')],
    ['no base64', 'Basic a b c'],
    ['a text longer than any key', encoded(`a@b:${'x'.repeat(2048)}`)],
  ] as const) {
    it(`are absent in ${value}`, () => expect(basicCredentials(header)).to.equal(undefined));
  }
});
