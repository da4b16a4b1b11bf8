/**
 * Takes nats-server out of the Debian or Ubuntu package of another suite, without installing it and
 * without root: apt works in private directories with one source, and `dpkg-deb` unpacks what it downloaded.
 *
 *  DP1 The machine's apt state is neither read nor written, except that sources and proxy settings are read; its hooks
 *      do not run.
 *  DP2 The package is trusted because apt verified the suite's signature with the distribution's keyring on this
 *      machine and the package's hash with the suite's index. Options of the machine's sources that weaken this are
 *      not read.
 *  DP3 For a suite with a pinned version, that version is requested, and a file with another hash is not opened.
 *  DP4 The mirror is one that carries the running suite itself, not its security or backports archive, because only
 *      that one has the other suites.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { osReleaseField } from './install-hint.js';
import { mustHaveDigest, PINNED_PACKAGES, type PinnedPackage } from './pinned-files.js';
import { runOrThrow } from './run-bounded.js';
import { installServer } from './tools-dir.js';

/** In order of release, to know which suite comes next. */
const RELEASES = {
  debian: ['bullseye', 'bookworm', 'trixie', 'forky', 'duke'],
  ubuntu: ['focal', 'jammy', 'noble', 'resolute'],
};
const ROLLING = { debian: ['testing', 'unstable'], ubuntu: ['devel'] };
/** The component that has nats-server. */
const COMPONENT = { debian: 'main', ubuntu: 'universe' };
/** Other names of a release's archive. */
const ROLLING_NAMES = ['stable', 'oldstable', 'oldoldstable', 'testing', 'sid'];
/** A suite's index has about 10 MB, the package 7. */
const UPDATE_TIMEOUT_MS = 90_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;
const SHORT_TIMEOUT_MS = 30_000;
/** The longest silence of a mirror. */
const SILENCE_TIMEOUT_SECONDS = 15;

/** The distribution and the release of the machine, from `/etc/os-release`. */
export interface Distribution {
  readonly family: 'debian' | 'ubuntu';
  readonly codename: string;
}

export interface DebianOptions {
  readonly osReleasePath?: string;
  readonly aptGet?: string;
  /** In the form of `PINNED_PACKAGES`, which is the default. */
  readonly pinned?: Readonly<Record<string, PinnedPackage>>;
  readonly updateTimeoutMs?: number;
}

/** @returns undefined except for Debian, Ubuntu and distributions that declare to be like them */
export async function readDistribution({ osReleasePath }: DebianOptions = {}): Promise<Distribution | undefined> {
  const value = await osReleaseField(osReleasePath);
  const families = `${value('ID')} ${value('ID_LIKE')}`.split(' ');
  const family = (['ubuntu', 'debian'] as const).find((each) => families.includes(each));
  if (family === undefined) return undefined;
  const codename = value(`${family.toUpperCase()}_CODENAME`) || value('VERSION_CODENAME');
  return codename === '' ? undefined : { family, codename };
}

/** Suites that may have a newer package, in the order to try them; without a distribution one without a name, which fails. */
export function newerSuites(distribution: Distribution | undefined): string[] {
  if (distribution === undefined) return [''];
  const { family, codename } = distribution;
  const position = RELEASES[family].indexOf(codename);
  return [...ROLLING[family], ...(position === -1 ? [] : RELEASES[family].slice(position + 1, position + 2))];
}

/**
 * @returns the path of the installed binary
 * @throws  an Error with a readable text
 */
export async function fetchDebianPackage(
  toolsDir: string,
  suite: string,
  distribution: Distribution | undefined,
  { aptGet = 'apt-get', pinned: allPinned = PINNED_PACKAGES, updateTimeoutMs = UPDATE_TIMEOUT_MS }: DebianOptions = {},
): Promise<string> {
  if (distribution === undefined) throw new Error('this machine is neither Debian nor Ubuntu');
  const mirror = await mirrorOf(distribution, aptGet);
  return installServer(toolsDir, async (incoming) => {
    const config = await privateApt(incoming, sourceOf(mirror, suite, distribution));
    const env = { ...process.env, LC_ALL: 'C', APT_CONFIG: config };
    const apt = (timeoutMs: number, ...words: readonly string[]) =>
      runOrThrow(aptGet, ['-c', config, '-q', ...words], { timeoutMs, cwd: incoming, env });
    const pinned = allPinned[`${suite} ${process.arch}`];
    await apt(updateTimeoutMs, 'update');
    await apt(DOWNLOAD_TIMEOUT_MS, 'download', pinned ? `nats-server=${pinned.version}` : 'nats-server');
    const archive = (await readdir(incoming)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error(`${aptGet} download left no package`);
    const path = join(incoming, archive);
    if (pinned) mustHaveDigest(await readFile(path), pinned.sha256, `the package nats-server ${pinned.version}`);
    await runOrThrow('dpkg-deb', ['-x', path, join(incoming, 'unpacked')], { timeoutMs: SHORT_TIMEOUT_MS });
    return join(incoming, 'unpacked/usr/sbin/nats-server');
  });
}

/** DP4: as apt itself reads the machine's sources, in either format. */
async function mirrorOf({ codename }: Distribution, aptGet: string): Promise<string> {
  // Without release information apt also lists archives whose indexes were never fetched.
  const words = ['indextargets', '--no-release-info', '--format', '$(RELEASE) $(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = await runOrThrow(aptGet, words, { timeoutMs: SHORT_TIMEOUT_MS });
  const rows = stdout.split('\n').map((line) => line.split(' '));
  const carrying = rows.filter(([suite = '']) => suite === codename || ROLLING_NAMES.includes(suite));
  const [mirror] = carrying.flatMap(([, uri = '']) => (/^(cdrom|file|copy):|^$/.test(uri) ? [] : [uri]));
  if (mirror === undefined) throw new Error(`no apt source of this machine carries ${codename}`);
  return mirror;
}

function sourceOf(mirror: string, suite: string, { family }: Distribution): string {
  const keyring = `/usr/share/keyrings/${family}-archive-keyring.gpg`;
  const lines = ['Types: deb', `URIs: ${mirror}`, `Suites: ${suite}`, `Components: ${COMPONENT[family]}`];
  return `${[...lines, `Signed-By: ${keyring}`].join('\n')}\n`;
}

/** Writes apt's private directories and the configuration that names them. */
async function privateApt(dir: string, source: string): Promise<string> {
  if (/["\n]/.test(dir)) throw new Error(`apt cannot be given the directory ${JSON.stringify(dir)}`);
  const path = (name: string): string => join(dir, 'apt', name);
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'sources', 'empty']) {
    await mkdir(path(name), { recursive: true });
  }
  await writeFile(path('status'), '');
  await writeFile(path('sources/other-suite.sources'), source);
  const lines = [
    // The machine's hooks clean or report on the machine's caches, which are not used here.
    '#clear APT::Update;',
    '#clear DPkg;',
    `Dir::Etc::sourcelist "${path('none.list')}";`,
    `Dir::Etc::sourceparts "${path('sources')}";`,
    // A pin of the machine could hide the package of a suite that it does not follow.
    `Dir::Etc::preferences "${path('none')}";`,
    `Dir::Etc::preferencesparts "${path('empty')}";`,
    `Dir::State "${path('state')}";`,
    `Dir::State::lists "${path('state/lists')}";`,
    // An empty status: a package installed on the machine must not be the candidate.
    `Dir::State::status "${path('status')}";`,
    `Dir::Cache "${path('cache')}";`,
    `Dir::Cache::archives "${path('cache/archives')}";`,
    'Acquire::Languages "none";',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";',
    'Acquire::Retries "1";',
    `Acquire::http::Timeout "${SILENCE_TIMEOUT_SECONDS}";`,
    `Acquire::https::Timeout "${SILENCE_TIMEOUT_SECONDS}";`,
    'Acquire::AllowInsecureRepositories "false";',
    'Acquire::AllowWeakRepositories "false";',
    'APT::Get::AllowUnauthenticated "false";',
    // Otherwise "update" succeeds with a warning when every fetch failed.
    'APT::Update::Error-Mode "any";',
    // As root, apt downloads as another user, who has no access to this directory.
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User "root";'] : []),
  ];
  await writeFile(path('apt.conf'), `${lines.join('\n')}\n`);
  return path('apt.conf');
}
