/** The distribution of this machine, and how to install a nats-server on it, as one line of the error that none was found. */
import { readFile } from 'node:fs/promises';

const RELEASES = 'https://github.com/nats-io/nats-server/releases';

/** By `ID` and `ID_LIKE` of os-release(5), in the order in which they are looked for. */
const HINTS: readonly (readonly [id: string, hint: string])[] = [
  ['ubuntu', 'on Ubuntu: apt-get install nats-server'],
  ['debian', 'on Debian: apt-get install nats-server'],
  ['fedora', `on Fedora: dnf install the .rpm of ${RELEASES}`],
  ['rhel', `on RHEL and its like: dnf install the .rpm of ${RELEASES}`],
  ['suse', `on SUSE: zypper install the .rpm of ${RELEASES}`],
  ['opensuse', `on openSUSE: zypper install the .rpm of ${RELEASES}`],
  ['alpine', 'on Alpine: apk add nats-server'],
  ['arch', 'on Arch: pacman -S nats-server'],
  ['nixos', 'on NixOS: nix-env -iA nixos.nats-server'],
];
const ANYWHERE = `from ${RELEASES}`;

/** @param path the file that describes the distribution of a Linux. @returns its fields, in lower case; absent ones are empty */
export async function osReleaseField(path = '/etc/os-release'): Promise<(name: string) => string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return (name) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(text)?.[1]?.toLowerCase() ?? '';
}

export async function installHint(osReleasePath?: string, platform = process.platform): Promise<string> {
  if (platform === 'darwin') return 'on macOS: brew install nats-server';
  const value = await osReleaseField(osReleasePath);
  const ids = `${value('ID')} ${value('ID_LIKE')}`.split(' ');
  const found = ids.flatMap((id) => HINTS.filter(([known]) => id === known || id.startsWith(`${known}-`)));
  return found[0]?.[1] ?? ANYWHERE;
}
