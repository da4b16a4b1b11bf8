/** Who asks. */
import { expect } from 'chai';
import { basicCredentials } from '../../../../src/edge/http/credentials.js';

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
