/** What the text of a URL tells of where a call goes. */
import { expect } from 'chai';
import { AddressRules } from '../../../../src/adapters/http-delivery/address-rules.js';
import { readTarget } from '../../../../src/adapters/http-delivery/call-target.js';

const RULES = new AddressRules({ allowPrivate: false, allow: [] });

function reasonFor(url: string): string | undefined {
  const read = readTarget(url, RULES);
  return read.isOk ? undefined : read.reason;
}

describe('call target', () => {
  it('is an origin and a path with its query', () => {
    expect(readTarget('https://a.example:8443/x/y?a=b&c#part', RULES)).to.deep.equal({
      isOk: true,
      target: { origin: 'https://a.example:8443', path: '/x/y?a=b&c' },
    });
    expect(readTarget('http://a.example', RULES)).to.deep.equal({
      isOk: true,
      target: { origin: 'http://a.example', path: '/' },
    });
  });

  for (const host of [
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
  ]) {
    it(`sees the loopback address in ${host}`, () => {
      expect(reasonFor(`http://${host}/`)).to.equal('endpoint resolves to a loopback address: 127.0.0.1');
      expect(reasonFor(`http://${host}:8080/`)).to.match(/loopback/);
    });
  }

  it('sees forbidden addresses in every form of IPv6', () => {
    for (const host of [
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:7f00:1]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[fe80::1]',
      '[fd00::1]',
    ]) {
      expect(reasonFor(`http://${host}/`), host).to.match(/^endpoint resolves to a (loopback|private|link-local)/);
    }
  });

  it('sees the metadata service of cloud providers', () => {
    expect(reasonFor('http://169.254.169.254/latest')).to.equal(
      'endpoint resolves to a link-local address: 169.254.169.254',
    );
  });

  it('leaves names to the lookup', () => {
    for (const host of ['localhost', 'localhost.', 'a.example', 'metadata.google.internal']) {
      expect(reasonFor(`http://${host}/`), host).to.equal(undefined);
    }
  });

  it('refuses users and passwords', () => {
    for (const url of ['https://good.example@evil.example/', 'https://u:p@a.example/', 'https://:p@a.example/']) {
      expect(reasonFor(url), url).to.equal('endpoint must not hold a user or a password');
    }
  });

  it('refuses what is not an absolute http URL', () => {
    for (const url of ['', 'a.example/x', '//a.example', 'http://', 'http://[fe80::1%25eth0]/', 'http://1.2.3.256/']) {
      expect(reasonFor(url), url).to.equal('endpoint is not a valid URL');
    }
    for (const url of ['ftp://a.example/', 'file:///etc/passwd', 'javascript:1', 'unix:/run/x']) {
      expect(reasonFor(url), url).to.equal('endpoint has invalid scheme, add http:// or https://');
    }
  });

  it('knows the port of a scheme', () => {
    const rules = new AddressRules({
      allowPrivate: false,
      allow: [{ address: '10.0.0.1', prefixBits: 32, port: 443 }],
    });
    expect(readTarget('https://10.0.0.1/', rules).isOk).to.equal(true);
    expect(readTarget('http://10.0.0.1:443/', rules).isOk).to.equal(true);
    expect(readTarget('http://10.0.0.1/', rules).isOk).to.equal(false);
  });
});
