/**
 * Reads the machine's own apt sources, in both formats, and writes a source for another suite of the
 * same archive. Pure: text in, text out.
 *
 *  AP1 Options that weaken verification (`trusted`, `allow-insecure` …) are dropped: the new
 *      source is verified by the machine's keyring, or not used.
 *  AP2 The mirror is one that carries the running suite itself, not its security or backports archive,
 *      because only that one has the other suites.
 */

export interface AptSource {
  readonly uris: readonly string[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** A keyring's path, or a key itself with its continuation lines as they stand in the file. */
  readonly signedBy?: string;
}

/** The distribution and the release of the machine, from `/etc/os-release`. */
export interface Distribution {
  readonly family: 'debian' | 'ubuntu';
  readonly codename: string;
}

/** In order of release, to know which suite comes next. */
const DEBIAN_RELEASES = ['bullseye', 'bookworm', 'trixie', 'forky', 'duke'];
const UBUNTU_RELEASES = ['focal', 'jammy', 'noble', 'resolute'];
/** Other names of a stable release's archive. */
const ROLLING_NAMES = ['stable', 'oldstable', 'oldoldstable', 'testing'];
const UNSUPPORTED_URI = /^(cdrom|file|copy):/;

/** @returns `undefined` except for Debian, Ubuntu and distributions that declare to be like them */
export function parseDistribution(osRelease: string): Distribution | undefined {
  const value = (name: string): string =>
    new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(osRelease)?.[1]?.toLowerCase() ?? '';
  const families = `${value('ID')} ${value('ID_LIKE')}`.split(' ');
  const isUbuntu = families.includes('ubuntu');
  if (!isUbuntu && !families.includes('debian')) return undefined;
  const codename = value(isUbuntu ? 'UBUNTU_CODENAME' : 'DEBIAN_CODENAME') || value('VERSION_CODENAME');
  return codename === '' ? undefined : { family: isUbuntu ? 'ubuntu' : 'debian', codename };
}

/** Suites that may have a newer package, in the order to try them. */
export function newerSuites({ family, codename }: Distribution): string[] {
  const releases = family === 'debian' ? DEBIAN_RELEASES : UBUNTU_RELEASES;
  const position = releases.indexOf(codename);
  const next = position === -1 ? [] : releases.slice(position + 1, position + 2);
  return [...(family === 'debian' ? ['testing', 'unstable'] : ['devel']), ...next];
}

/** The sources whose archive carries the running suite. */
export function archiveSources(sources: readonly AptSource[], codename: string): AptSource[] {
  return sources.filter((source) =>
    source.suites.some((suite) => suite === codename || ROLLING_NAMES.includes(suite) || suite === 'sid'),
  );
}

/** A one-stanza `.sources` file for `suite` on the mirror of `source`. */
export function renderSource(source: AptSource, suite: string, { family }: Distribution): string {
  const components = new Set([...source.components, family === 'ubuntu' ? 'universe' : 'main']);
  const lines = [
    'Types: deb',
    `URIs: ${source.uris.join(' ')}`,
    `Suites: ${suite}`,
    `Components: ${[...components].join(' ')}`,
  ];
  if (source.signedBy !== undefined) lines.push(`Signed-By: ${source.signedBy}`);
  return `${lines.join('\n')}\n`;
}

/** `deb [options] uri suite component…`, one a line. */
export function parseListFile(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#\s][^#]*)/.exec(line);
    if (match === null) return [];
    const [, options = '', uri = '', suite = '', components = ''] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1];
    return usable({ uris: [uri], suites: [suite], components: words(components) }, signedBy);
  });
}

/** Stanzas of `Field: value`, separated by empty lines, with continuation lines that begin with a space. */
export function parseSourcesFile(text: string): AptSource[] {
  const withoutComments = text.split('\n').filter((line) => !line.startsWith('#'));
  return withoutComments
    .join('\n')
    .split(/\n[ \t]*\n/)
    .flatMap((stanza) => {
      const fields = fieldsOf(stanza);
      const enabled = !/^(no|false|0|off|without|disable)$/i.test(fields.get('enabled')?.trim() ?? '');
      if (!enabled || !words(fields.get('types')).includes('deb')) return [];
      const signedBy = fields.get('signed-by')?.trim();
      return usable(
        {
          uris: words(fields.get('uris')),
          suites: words(fields.get('suites')),
          components: words(fields.get('components')),
        },
        signedBy,
      );
    });
}

function usable(source: AptSource, signedBy: string | undefined): AptSource[] {
  const uris = source.uris.filter((uri) => !UNSUPPORTED_URI.test(uri));
  if (uris.length === 0 || source.suites.length === 0) return [];
  return [signedBy === undefined || signedBy === '' ? { ...source, uris } : { ...source, uris, signedBy }];
}

function fieldsOf(stanza: string): Map<string, string> {
  const fields = new Map<string, string>();
  let name = '';
  for (const line of stanza.split('\n')) {
    const field = /^([A-Za-z0-9-]+):(.*)$/.exec(line);
    if (field !== null) {
      name = (field[1] ?? '').toLowerCase();
      fields.set(name, (field[2] ?? '').trim());
    } else if (name !== '' && /^[ \t]/.test(line)) {
      fields.set(name, `${fields.get(name)}\n${line}`);
    }
  }
  return fields;
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
