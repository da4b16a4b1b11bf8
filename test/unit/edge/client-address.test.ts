import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { ClientAddresses } from '../../../src/edge/http/index.js';

const PROXIES = [
  { address: '10.0.0.0', prefixBits: 8 },
  { address: 'fd00::', prefixBits: 8 },
];

function addressOf(remoteAddress: string | undefined, forwarded?: string, proxies = PROXIES): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return new ClientAddresses(proxies).of({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

describe('edge: client address', () => {
  it('is that of the peer, with IPv4 in its own form', () => {
    expect(addressOf('192.0.2.1')).to.equal('192.0.2.1');
    expect(addressOf('::ffff:192.0.2.1')).to.equal('192.0.2.1');
    expect(addressOf('2001:db8::1')).to.equal('2001:db8::1');
    expect(addressOf(undefined)).to.equal('');
  });

  it('ignores X-Forwarded-For of an unknown peer', () => {
    expect(addressOf('192.0.2.1', '203.0.113.9')).to.equal('192.0.2.1');
    expect(addressOf('10.0.0.1', '203.0.113.9', [])).to.equal('10.0.0.1');
  });

  it('is the one that a known proxy reports, through further known proxies', () => {
    expect(addressOf('10.0.0.1', '203.0.113.9')).to.equal('203.0.113.9');
    expect(addressOf('::ffff:10.0.0.1', '1.1.1.1, 203.0.113.9, 10.9.9.9')).to.equal('203.0.113.9');
    expect(addressOf('fd00::1', '2001:db8::7')).to.equal('2001:db8::7');
  });

  it('is read without the port that some proxies add', () => {
    expect(addressOf('10.0.0.1', '203.0.113.9:4711')).to.equal('203.0.113.9');
    expect(addressOf('10.0.0.1', '[2001:db8::7]:4711')).to.equal('2001:db8::7');
  });

  it('is found through at most sixteen proxies', () => {
    const behind = (proxies: number) =>
      addressOf('10.0.0.1', ['203.0.113.9', ...Array(proxies - 1).fill('10.0.0.2')].join());
    expect(behind(16)).to.equal('203.0.113.9');
    expect(behind(17)).to.equal('10.0.0.2');
  });

  it('is the last valid address', () => {
    expect(addressOf('10.0.0.1', 'unknown')).to.equal('10.0.0.1');
    expect(addressOf('10.0.0.1', '')).to.equal('10.0.0.1');
    expect(addressOf('10.0.0.1', 'x, 10.0.0.2')).to.equal('10.0.0.2');
  });

  it('comes with the information whether a known proxy passes the request on', () => {
    const isHandedOn = (remoteAddress: string | undefined, proxies = PROXIES) =>
      new ClientAddresses(proxies).isHandedOn({ socket: { remoteAddress }, headers: {} } as unknown as IncomingMessage);
    expect(isHandedOn('::ffff:10.0.0.1')).to.equal(true);
    expect(isHandedOn('192.0.2.1')).to.equal(false);
    expect(isHandedOn(undefined)).to.equal(false);
    expect(isHandedOn('10.0.0.1', [])).to.equal(false);
  });
});
