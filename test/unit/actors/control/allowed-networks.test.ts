import { expect } from 'chai';
import fc from 'fast-check';
import { AllowedNetworks, allowedNetworks } from '../../../../src/actors/control/allowed-networks.js';

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
const entry = fc.oneof(
  address,
  fc.tuple(address, fc.integer({ min: 0, max: 32 })).map(([base, bits]) => `${base}/${bits}`),
);

/** The comparison bit by bit. */
function isIn(tested: string, listed: string): boolean {
  const [base = '', bits = '32'] = listed.split('/');
  const bitsOf = (text: string) =>
    text
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(bits));
  return bitsOf(tested) === bitsOf(base);
}

describe('the allowed networks of a database', () => {
  it('allow every address when the list is empty or unset', () => {
    expect(allowedNetworks([])).to.equal(undefined);
    expect(allowedNetworks(undefined)).to.equal(undefined);
  });

  it('allow the addresses and blocks of the list', () => {
    const networks = new AllowedNetworks(['10.1.2.3', '192.168.0.0/16', '0.0.0.0/32', '255.255.255.255']);
    for (const inside of ['10.1.2.3', '192.168.0.0', '192.168.255.255', '0.0.0.0', '255.255.255.255']) {
      expect(networks.has(inside), inside).to.equal(true);
    }
    for (const outside of ['10.1.2.4', '10.1.2.2', '192.169.0.0', '192.167.255.255', '0.0.0.1', '']) {
      expect(networks.has(outside), outside).to.equal(false);
    }
  });

  it('match the IPv4 peer of an IPv6 socket, and no other IPv6 address', () => {
    const networks = new AllowedNetworks(['127.0.0.0/8']);
    expect(networks.has('::ffff:127.0.0.1')).to.equal(true);
    expect(networks.has('::FFFF:127.0.0.1')).to.equal(true);
    expect(networks.has('::ffff:128.0.0.1')).to.equal(false);
    expect(networks.has('::1')).to.equal(false);
    expect(networks.has('::127.0.0.1')).to.equal(false);
    expect(new AllowedNetworks(['0.0.0.0/0']).has('::1')).to.equal(false);
  });

  it('refuse every address when the list cannot be read', () => {
    for (const wrong of [
      '',
      'localhost',
      '10.0.0',
      '10.0.0.256',
      '10.0.0.1/33',
      '10.0.0.1/',
      '010.0.0.1',
      '1.2.3.4/-1',
      '::1',
    ]) {
      const networks = allowedNetworks([wrong]);
      expect(networks?.has('10.0.0.1'), wrong).to.equal(false);
    }
  });

  it('are compiled once per list', () => {
    const list = ['10.0.0.1'];
    expect(allowedNetworks(list)).to.equal(allowedNetworks(list));
  });

  it('agree with a comparison bit by bit', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), address, (list, tested) => {
        const networks = new AllowedNetworks(list);
        expect(networks.has(tested)).to.equal(list.some((listed) => isIn(tested, listed)));
        for (const listed of list) expect(networks.has(listed.split('/')[0] as string)).to.equal(true);
      }),
    );
  });
});
