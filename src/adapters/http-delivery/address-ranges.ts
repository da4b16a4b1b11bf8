/**
 * Addresses outside the public Internet: deliveries do not go there unless an operator allows it. Sources: the IANA
 * registries of special-purpose IPv4 and IPv6 addresses. The last three rows cover the rest of IPv6, of which only
 * 2000::/3 is assigned for public use.
 */

export interface ForbiddenRange {
  /** First address, a slash, the number of leading bits. */
  readonly cidr: string;
  /** Shown to users: "endpoint resolves to a … address". */
  readonly kind: 'loopback' | 'private' | 'link-local' | 'reserved';
}

export const FORBIDDEN_RANGES: readonly ForbiddenRange[] = [
  { cidr: '127.0.0.0/8', kind: 'loopback' },
  // "This host": connecting to it reaches the machine itself.
  { cidr: '0.0.0.0/8', kind: 'loopback' },
  { cidr: '10.0.0.0/8', kind: 'private' },
  { cidr: '172.16.0.0/12', kind: 'private' },
  { cidr: '192.168.0.0/16', kind: 'private' },
  // Carriers' address translation.
  { cidr: '100.64.0.0/10', kind: 'private' },
  // Contains the metadata services of cloud providers.
  { cidr: '169.254.0.0/16', kind: 'link-local' },
  { cidr: '192.0.0.0/24', kind: 'reserved' },
  { cidr: '192.0.2.0/24', kind: 'reserved' },
  { cidr: '192.88.99.0/24', kind: 'reserved' },
  { cidr: '198.18.0.0/15', kind: 'reserved' },
  { cidr: '198.51.100.0/24', kind: 'reserved' },
  { cidr: '203.0.113.0/24', kind: 'reserved' },
  // Multicast, unassigned, broadcast.
  { cidr: '224.0.0.0/4', kind: 'reserved' },
  { cidr: '240.0.0.0/4', kind: 'reserved' },

  { cidr: '::/128', kind: 'loopback' },
  { cidr: '::1/128', kind: 'loopback' },
  { cidr: 'fe80::/10', kind: 'link-local' },
  { cidr: 'fec0::/10', kind: 'private' },
  { cidr: 'fc00::/7', kind: 'private' },
  { cidr: 'ff00::/8', kind: 'reserved' },
  // Discard only.
  { cidr: '100::/64', kind: 'reserved' },
  // Protocol assignments, including tunnels with an IPv4 address inside.
  { cidr: '2001::/23', kind: 'reserved' },
  { cidr: '2001:db8::/32', kind: 'reserved' },
  { cidr: '3fff::/20', kind: 'reserved' },
  // 6to4 and NAT64, which lead to an IPv4 address inside.
  { cidr: '2002::/16', kind: 'reserved' },
  { cidr: '64:ff9b::/96', kind: 'reserved' },
  { cidr: '64:ff9b:1::/48', kind: 'reserved' },
  // Segment routing.
  { cidr: '5f00::/16', kind: 'reserved' },
  { cidr: '::/3', kind: 'reserved' },
  { cidr: '4000::/2', kind: 'reserved' },
  { cidr: '8000::/1', kind: 'reserved' },
];
