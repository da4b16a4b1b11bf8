/** The addresses that deliveries may connect to. Proves ADD1–ADD5. */
import { isIPv6 } from 'node:net';
import { expect } from 'chai';
import { FORBIDDEN_RANGES } from '../../../../src/adapters/http-delivery/address-ranges.js';
import { AddressRules } from '../../../../src/adapters/http-delivery/address-rules.js';
import { ipv4In } from '../../../../src/adapters/http-delivery/ip-address.js';

const STRICT = new AddressRules({ allowPrivate: false, allow: [] });

function bytesOf(address: string): Uint8Array {
  const fours = isIPv6(address) ? [0, 4, 8, 12].map((at) => ipv4In(address, at)) : [address];
  return Uint8Array.from(fours.join('.').split('.'), Number);
}

/**
 * The first and the last address of a range, and their neighbours outside; undefined at the ends of the address space.
 */
function edges(cidr: string): { first: string; last: string; before: string | undefined; after: string | undefined } {
  const [address = '', bits] = cidr.split('/');
  const bytes = bytesOf(address);
  const width = BigInt(bytes.length * 8);
  const size = 1n << (width - BigInt(Number(bits)));
  const first = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const last = first + size - 1n;
  const text = (value: bigint) => textOf(value, bytes.length);
  return {
    first: text(first),
    last: text(last),
    before: first === 0n ? undefined : text(first - 1n),
    after: last === (1n << width) - 1n ? undefined : text(last + 1n),
  };
}

function textOf(value: bigint, bytes: number): string {
  const hex = value.toString(16).padStart(bytes * 2, '0');
  if (bytes === 16) return (hex.match(/.{4}/g) as string[]).join(':');
  return (hex.match(/../g) as string[]).map((pair) => Number.parseInt(pair, 16)).join('.');
}

function asNumbers(address: string): string {
  return bytesOf(address).reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '');
}

describe('address rules', () => {
  for (const { cidr } of FORBIDDEN_RANGES) {
    it(`refuse the first and the last address of ${cidr}`, () => {
      const { first, last } = edges(cidr);
      expect(STRICT.refusalOf(first, 443), first).to.not.equal(undefined);
      expect(STRICT.refusalOf(last, 443), last).to.not.equal(undefined);
    });
  }

  const beside: [string, string][] = [
    ['0.0.0.0/8', '1.0.0.0'],
    ['10.0.0.0/8', '9.255.255.255'],
    ['10.0.0.0/8', '11.0.0.0'],
    ['100.64.0.0/10', '100.63.255.255'],
    ['100.64.0.0/10', '100.128.0.0'],
    ['127.0.0.0/8', '126.255.255.255'],
    ['127.0.0.0/8', '128.0.0.0'],
    ['169.254.0.0/16', '169.253.255.255'],
    ['169.254.0.0/16', '169.255.0.0'],
    ['172.16.0.0/12', '172.15.255.255'],
    ['172.16.0.0/12', '172.32.0.0'],
    ['192.0.0.0/24', '192.0.1.0'],
    ['192.0.2.0/24', '192.0.1.255'],
    ['192.0.2.0/24', '192.0.3.0'],
    ['192.88.99.0/24', '192.88.98.255'],
    ['192.88.99.0/24', '192.88.100.0'],
    ['192.168.0.0/16', '192.167.255.255'],
    ['192.168.0.0/16', '192.169.0.0'],
    ['198.18.0.0/15', '198.17.255.255'],
    ['198.18.0.0/15', '198.20.0.0'],
    ['198.51.100.0/24', '198.51.99.255'],
    ['198.51.100.0/24', '198.51.101.0'],
    ['203.0.113.0/24', '203.0.112.255'],
    ['203.0.113.0/24', '203.0.114.0'],
    ['224.0.0.0/4', '223.255.255.255'],
    ['2001::/23', '2001:200::'],
    ['2001:db8::/32', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::/32', '2001:db9::'],
    ['2002::/16', '2003::'],
    ['3fff::/20', '3fff:1000::'],
  ];
  it('allow the public addresses next to a range', () => {
    for (const [cidr, address] of beside) {
      const { before, after } = edges(cidr);
      expect([before, after].filter((edge) => edge !== undefined).map(asNumbers), cidr).to.include(asNumbers(address));
      expect(STRICT.refusalOf(address, 443), address).to.equal(undefined);
    }
  });

  it('contain every range of the documentation', () => {
    const cidrs = FORBIDDEN_RANGES.map(({ cidr }) => cidr);
    for (const teredoOr of ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', '1fff::', 'fe80::1%eth0']) {
      expect(STRICT.refusalOf(teredoOr, 80), teredoOr).to.not.equal(undefined);
    }
    expect(cidrs).to.include.members(['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '5f00::/16', '100::/64']);
  });

  it('treat an IPv6 address with an embedded IPv4 address as that IPv4 address', () => {
    expect(STRICT.refusalOf('::ffff:127.0.0.1', 80)).to.equal('loopback');
    expect(STRICT.refusalOf('::ffff:7f00:1', 80)).to.equal('loopback');
    expect(STRICT.refusalOf('::127.0.0.1', 80)).to.equal('loopback');
    expect(STRICT.refusalOf('::ffff:0:10.0.0.1', 80)).to.equal('private');
    expect(STRICT.refusalOf('::ffff:8.8.8.8', 80)).to.equal(undefined);
    expect(STRICT.refusalOf('::1', 80)).to.equal('loopback');
    expect(STRICT.refusalOf('::', 80)).to.equal('loopback');
  });

  it('refuse translators and tunnels with the reason of the embedded address', () => {
    expect(STRICT.refusalOf('64:ff9b::10.0.0.1', 80)).to.equal('private');
    expect(STRICT.refusalOf('64:ff9b::8.8.8.8', 80)).to.equal('reserved');
    expect(STRICT.refusalOf('2002:7f00:1::', 80)).to.equal('loopback');
    expect(STRICT.refusalOf('2002:808:808::', 80)).to.equal('reserved');
  });

  it('refuse text that is no address', () => {
    for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5']) {
      expect(STRICT.refusalOf(text, 80), text).to.equal('reserved');
    }
  });

  it('allow the addresses that the operator lists, on the listed port', () => {
    const rules = new AddressRules({
      allowPrivate: false,
      allow: [
        { address: '10.1.0.0', prefixBits: 16, port: 8080 },
        { address: '::1', prefixBits: 128, port: undefined },
        { address: '64:ff9b::', prefixBits: 96, port: undefined },
        { address: '::ffff:172.16.0.0', prefixBits: 108, port: undefined },
      ],
    });
    expect(rules.refusalOf('10.1.255.255', 8080)).to.equal(undefined);
    expect(rules.refusalOf('::ffff:10.1.0.1', 8080)).to.equal(undefined);
    expect(rules.refusalOf('10.1.0.1', 8081)).to.equal('private');
    expect(rules.refusalOf('10.2.0.0', 8080)).to.equal('private');
    expect(rules.refusalOf('::1', 1)).to.equal(undefined);
    expect(rules.refusalOf('172.31.0.1', 80)).to.equal(undefined);
    expect(rules.refusalOf('64:ff9b::8.8.8.8', 80)).to.equal(undefined);
  });

  it('refuse a forbidden address through a listed translator', () => {
    const rules = new AddressRules({
      allowPrivate: false,
      allow: [{ address: '64:ff9b::', prefixBits: 96, port: undefined }],
    });
    expect(rules.refusalOf('64:ff9b::127.0.0.1', 80)).to.equal('loopback');
  });

  it('refuse only link-local addresses where private destinations are allowed', () => {
    const rules = new AddressRules({ allowPrivate: true, allow: [] });
    for (const { cidr, kind } of FORBIDDEN_RANGES) {
      const expected = kind === 'link-local' ? kind : undefined;
      expect(rules.refusalOf(edges(cidr).first, 80), cidr).to.equal(expected);
    }
    for (const metadata of ['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::169.254.169.254', 'fe80::1%eth0']) {
      expect(rules.refusalOf(metadata, 80), metadata).to.equal('link-local');
    }
  });

  it('allow link-local addresses with a listed range inside theirs, and with no wider one', () => {
    for (const allowPrivate of [true, false]) {
      const wide = { address: '128.0.0.0', prefixBits: 1, port: undefined };
      const near = { address: '169.254.169.0', prefixBits: 24, port: 80 };
      expect(new AddressRules({ allowPrivate, allow: [wide] }).refusalOf('169.254.169.254', 80)).to.equal('link-local');
      const rules = new AddressRules({ allowPrivate, allow: [wide, near] });
      expect(rules.refusalOf('169.254.169.254', 80)).to.equal(undefined);
      expect(rules.refusalOf('169.254.169.254', 81)).to.equal('link-local');
      expect(rules.refusalOf('169.254.170.2', 80)).to.equal('link-local');
    }
  });
});
