/**
 * Takes nats-server out of the Debian or Ubuntu package of another suite, without installing it and
 * without root: apt works in private directories with one source, derived from the machine's own, and
 * `dpkg-deb` unpacks what it downloaded.
 *
 *  DP1 The machine's apt state is neither read nor written, except that sources, keyrings and proxy
 *      settings are read; its hooks do not run.
 *  DP2 The package is trusted because apt verified the suite's signature with the machine's keyring and
 *      the package's hash with the suite's index. This code cannot switch that off.
 *  DP3 For a suite with a pinned version, that version is requested, and a file with another hash is not opened.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AptSource,
  archiveSources,
  type Distribution,
  parseDistribution,
  parseListFile,
  parseSourcesFile,
  renderSource,
} from './apt-sources.js';
import { PINNED_PACKAGES, type PinnedPackage } from './pinned-packages.js';
import { runOrThrow } from './run-bounded.js';
import { readServerVersion } from './server-version.js';
import { installServer, withIncoming } from './tools-dir.js';

/** A suite's index has about 10 MB, the package 7. */
const UPDATE_TIMEOUT_MS = 90_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;
const UNPACK_TIMEOUT_MS = 30_000;
/** The longest silence of a mirror. */
const SILENCE_TIMEOUT_SECONDS = 15;

export interface DebianOptions {
  readonly aptDir?: string;
  readonly osReleasePath?: string;
  readonly aptGet?: string;
  /** In the form of `PINNED_PACKAGES`, which is the default. */
  readonly pinned?: Readonly<Record<string, PinnedPackage>>;
  readonly updateTimeoutMs?: number;
  readonly downloadTimeoutMs?: number;
}

/** @throws an Error with a readable text when this machine is neither Debian nor Ubuntu */
export async function readDistribution({ osReleasePath }: DebianOptions = {}): Promise<Distribution> {
  const text = await readFile(osReleasePath ?? '/etc/os-release', 'utf8').catch(() => '');
  const distribution = parseDistribution(text);
  if (distribution === undefined) throw new Error('this machine is neither Debian nor Ubuntu');
  return distribution;
}

/**
 * @returns the path of the installed binary
 * @throws  an Error with a readable text
 */
export async function fetchDebianPackage(
  toolsDir: string,
  suite: string,
  distribution: Distribution,
  options: DebianOptions = {},
): Promise<string> {
  const [source] = archiveSources(await machineSources(options.aptDir ?? '/etc/apt'), distribution.codename);
  if (source === undefined) throw new Error(`no apt source of this machine carries ${distribution.codename}`);
  return withIncoming(toolsDir, async (incoming) => {
    const env = {
      ...process.env,
      LC_ALL: 'C',
      APT_CONFIG: await privateApt(incoming, renderSource(source, suite, distribution)),
    };
    const pinned = (options.pinned ?? PINNED_PACKAGES)[`${suite} ${process.arch}`];
    const aptGet = options.aptGet ?? 'apt-get';
    const config = ['-c', env.APT_CONFIG, '-q'];
    await runOrThrow(aptGet, [...config, 'update'], {
      timeoutMs: options.updateTimeoutMs ?? UPDATE_TIMEOUT_MS,
      cwd: incoming,
      env,
    });
    const wanted = pinned === undefined ? 'nats-server' : `nats-server=${pinned.version}`;
    await runOrThrow(aptGet, [...config, 'download', wanted], {
      timeoutMs: options.downloadTimeoutMs ?? DOWNLOAD_TIMEOUT_MS,
      cwd: incoming,
      env,
    });
    const archive = (await readdir(incoming)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error(`${aptGet} download left no package`);
    if (pinned !== undefined) await mustBe(pinned, join(incoming, archive));
    const unpacked = join(incoming, 'unpacked');
    await runOrThrow('dpkg-deb', ['-x', join(incoming, archive), unpacked], { timeoutMs: UNPACK_TIMEOUT_MS });
    const binary = join(unpacked, 'usr/sbin/nats-server');
    return installServer(toolsDir, incoming, binary, await readServerVersion(binary));
  });
}

/** DP3. @throws an Error with a readable text */
async function mustBe({ version, sha256 }: PinnedPackage, path: string): Promise<void> {
  const actual = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (actual === sha256) return;
  throw new Error(`the package nats-server ${version} has SHA-256 ${actual}, not the pinned ${sha256}`);
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
  const config = path('apt.conf');
  await writeFile(config, `${lines.join('\n')}\n`);
  return config;
}

async function machineSources(aptDir: string): Promise<AptSource[]> {
  const parts = join(aptDir, 'sources.list.d');
  const names = (await readdir(parts).catch(() => [] as string[])).sort();
  const files = [join(aptDir, 'sources.list'), ...names.map((name) => join(parts, name))];
  const sources: AptSource[] = [];
  for (const file of files) {
    const parse = file.endsWith('.list') ? parseListFile : file.endsWith('.sources') ? parseSourcesFile : undefined;
    if (parse === undefined) continue;
    sources.push(...parse(await readFile(file, 'utf8').catch(() => '')));
  }
  return sources;
}
