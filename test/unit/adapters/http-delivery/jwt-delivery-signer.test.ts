/** The tokens that sign deliveries. */
import { createHash, createHmac } from 'node:crypto';
import { expect } from 'chai';
import { JwtDeliverySigner } from '../../../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';

const ACCOUNT = 'ac-one' as AccountId;
const KEY = 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs';
const NOW_MS = 1_700_000_000_789;

function signer(key: () => string | undefined = () => KEY): JwtDeliverySigner {
  return new JwtDeliverySigner({
    keys: {
      signingKeysOf: () => {
        const current = key();
        return current === undefined ? undefined : { current, next: 'sig_next' };
      },
    },
    random: new NodeRandom(),
  });
}

function parts(token: string | undefined): {
  header: unknown;
  claims: Record<string, unknown>;
  signed: string;
  mac: string;
} {
  const [header = '', claims = '', mac = ''] = (token ?? '').split('.');
  const decoded = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
  return { header: decoded(header), claims: decoded(claims), signed: `${header}.${claims}`, mac };
}

const call = { account: ACCOUNT, url: 'https://a.example/x?y=1', nowMs: NOW_MS, issuer: 'Svc' };

describe('delivery signature', () => {
  it('is an HS256 token with the UTF-8 bytes of the whole key', () => {
    const { header, signed, mac } = parts(signer().sign({ ...call, body: Buffer.from('{}') }));
    expect(header).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(mac).to.equal(createHmac('sha256', KEY).update(signed).digest('base64url'));
  });

  it('names issuer, destination and body, and is valid for five minutes', () => {
    const { claims } = parts(signer().sign({ ...call, body: Buffer.from('hello') }));
    const { jti, ...rest } = claims;
    expect(rest).to.deep.equal({
      iss: 'Svc',
      sub: 'https://a.example/x?y=1',
      iat: 1_700_000_000 - 15,
      nbf: 1_700_000_000 - 15,
      exp: 1_700_000_000 + 300,
      body: createHash('sha256').update('hello').digest('base64').replaceAll('+', '-').replaceAll('/', '_'),
    });
    expect(jti).to.match(/^jwt_[A-Za-z0-9_-]{24}$/);
  });

  it('names the destination as it is called, for any spelling in messages of earlier releases', () => {
    for (const [url, sub] of [
      ['HTTPS://A.example:443', 'https://a.example/'],
      ['http://a.example:8080/x/../y?#', 'http://a.example:8080/y'],
    ] as const) {
      expect(parts(signer().sign({ ...call, url, body: Buffer.from('') })).claims.sub).to.equal(sub);
    }
  });

  it('uses the hash of the body where it is known', () => {
    const body = Buffer.from('hello');
    const bodyHash = createHash('sha256').update(body).digest('base64url');
    const claimOf = (given: { readonly bodyHash?: string }) =>
      parts(signer().sign({ ...call, body, ...given })).claims.body;
    expect(claimOf({ bodyHash })).to.equal(claimOf({}));
    expect(claimOf({ bodyHash: 'other' })).to.equal('other=');
  });

  it('has a padded hash of the body, also of an empty one', () => {
    const { claims } = parts(signer().sign({ ...call, body: new Uint8Array(0) }));
    expect(claims.body).to.equal('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=');
  });

  it('has a different id each time', () => {
    const one = signer();
    const ids = Array.from({ length: 100 }, () => parts(one.sign({ ...call, body: Buffer.from('') })).claims.jti);
    expect(new Set(ids).size).to.equal(100);
  });

  it('has the issuer of the call', () => {
    const aliased = signer().sign({ ...call, issuer: 'Brand', body: Buffer.from('') });
    expect(parts(aliased).claims.iss).to.equal('Brand');
  });

  it('uses the current key for each call', () => {
    let key = KEY;
    const one = signer(() => key);
    one.sign({ ...call, body: Buffer.from('') });
    key = 'sig_another';
    const { signed, mac } = parts(one.sign({ ...call, body: Buffer.from('') }));
    expect(mac).to.equal(createHmac('sha256', 'sig_another').update(signed).digest('base64url'));
  });

  it('is absent while there is no key', () => {
    expect(signer(() => undefined).sign({ ...call, body: Buffer.from('') })).to.equal(undefined);
  });
});
