/** The address of this machine for clients on others. */
import { hostname, networkInterfaces } from 'node:os';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '::0']);

/**
 * @param bound the address that an endpoint listens on
 * @returns the same, or for "every address" the machine's first one that others can reach; its name if it has none
 */
export function reachableAddress(bound: string): string {
  if (!WILDCARDS.has(bound)) return bound;
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (outer.find(({ family }) => family === 'IPv4') ?? outer[0])?.address ?? hostname();
}
