/** The target of a call, read from the text of its URL. */
import { expect } from 'chai';
import { AddressRules } from '../../../../src/adapters/http-delivery/address-rules.js';
import { readTarget } from '../../../../src/adapters/http-delivery/call-target.js';
import { calledUrl } from '../../../../src/kernel/index.js';

const RULES = new AddressRules({ allowPrivate: false, allow: [] });

/** Four times the number that Node 20 needed. */
const TIMES_UNTIL_COMPILED = 20_000;

function reasonFor(url: string): string | undefined {
  const read = readTarget(url, RULES);
  return read.isOk ? undefined : read.reason;
}

describe('call target', () => {
  it('is the origin, and the path with its query', () => {
    expect(readTarget('https://a.example:8443/x/y?a=b&c#part', RULES)).to.deep.equal({
      isOk: true,
      target: { origin: 'https://a.example:8443', host: 'a.example:8443', path: '/x/y?a=b&c' },
    });
    expect(readTarget('http://a.example', RULES)).to.deep.equal({
      isOk: true,
      target: { origin: 'http://a.example', host: 'a.example', path: '/' },
    });
  });

  for (const [given, called] of [
    ['https://a.example', 'https://a.example/'],
    ['https://a.example/b', 'https://a.example/b'],
    ['https://a.example:443/b', 'https://a.example/b'],
    ['http://a.example:80?x=1', 'http://a.example/?x=1'],
    ['HTTP://A.example:81//b/../c?x=%20&y=http://z\\', 'http://a.example:81//c?x=%20&y=http://z\\'],
    ['http://a.example/?foo=bar#part', 'http://a.example/?foo=bar'],
    ['http://a.example/?', 'http://a.example/'],
    ['http://[2001:DB8::0:1]/', 'http://[2001:db8::1]/'],
    ['http://0x5db8d822/', 'http://93.184.216.34/'],
    ['https://b\u00fccher.example/\u00fc?\u00fc', 'https://xn--bcher-kva.example/%C3%BC?%C3%BC'],
  ] as const) {
    it(`is recorded for ${given} as ${called}`, () => {
      const read = readTarget(given, new AddressRules({ allowPrivate: true, allow: [] }));
      expect(read.isOk && read.target.origin + read.target.path).to.equal(called);
      expect(calledUrl(given)).to.equal(called);
      expect(calledUrl(called)).to.equal(called);
    });
  }

  it('of a name with Latin-1 letters is the same after many reads', () => {
    // Enough reads for V8 to compile the reader.
    for (let time = 0; time < TIMES_UNTIL_COMPILED; time += 1)
      expect(reasonFor('https://b\u00fccher.example/')).to.equal(undefined);
  });

  it('keeps the spelling of a URL that is not called', () => {
    for (const url of ['https://User:p@A.example', 'A.example', 'data:X', '']) expect(calledUrl(url)).to.equal(url);
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
    it(`detects the loopback address in ${host}`, () => {
      expect(reasonFor(`http://${host}/`)).to.equal('endpoint resolves to a loopback address: 127.0.0.1');
      expect(reasonFor(`http://${host}:8080/`)).to.match(/loopback/);
    });
  }

  it('detects forbidden addresses in every form of IPv6', () => {
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

  it('detects the metadata service of cloud providers', () => {
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

  it('refuses a text that is not an absolute http URL', () => {
    for (const url of ['', 'a.example/x', '//a.example', 'http://', 'http://[fe80::1%25eth0]/', 'http://1.2.3.256/']) {
      expect(reasonFor(url), url).to.equal('endpoint is not a valid URL');
    }
    for (const url of ['ftp://a.example/', 'file:///etc/passwd', 'javascript:1', 'unix:/run/x']) {
      expect(reasonFor(url), url).to.equal('endpoint has invalid scheme, add http:// or https://');
    }
  });

  it('knows the default port of a scheme', () => {
    const rules = new AddressRules({
      allowPrivate: false,
      allow: [{ address: '10.0.0.1', prefixBits: 32, port: 443 }],
    });
    expect(readTarget('https://10.0.0.1/', rules).isOk).to.equal(true);
    expect(readTarget('http://10.0.0.1:443/', rules).isOk).to.equal(true);
    expect(readTarget('http://10.0.0.1/', rules).isOk).to.equal(false);
  });
});
