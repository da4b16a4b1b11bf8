/**
 * Finds the nats-server binary to embed, or fetches one.
 *
 *  FI1 A configured server is used, or the search fails: no other server replaces it. Otherwise the order is fixed: the
 *      server of an earlier start, the PATH, the official release, the package of a newer suite, and last any version
 *      that is installed or can be unpacked. The search never installs a package.
 *  FI2 Every step has a time limit. One line of the log has the result, with the reasons of all failed steps.
 *  FI3 The returned binary has been run: a binary that does not start on this machine is a failed step.
 *  FI4 An old server of an earlier start is used again without a request to the network at every start;
 *      only a newer one on the PATH comes before it. Removing `.tools/` restarts the search.
 */
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { type DebianOptions, fetchDebianPackage, newerSuites, readDistribution } from './fetch-debian-package.js';
import { fetchRelease, type ReleaseOptions } from './fetch-release.js';
import { installHint } from './install-hint.js';
import { isPreferred, PREFERRED_VERSION, readServerVersion } from './server-version.js';
import { earlierServers, type ServerRecord, writeRecord } from './tools-dir.js';

/** Folders of packaged servers that an ordinary user's PATH does not contain. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

export interface FindServerOptions {
  readonly log: Log;
  /** The folder of fetched servers. Created when it is missing. */
  readonly toolsDir: string;
  /** The binary that the operator has configured, if any. */
  readonly path?: string | undefined;
  /** Folders to look in, as in PATH, which is the default. The system folders are always looked in too. */
  readonly searchPath?: string;
  /** False: only servers of any version on this machine. Default: true. */
  readonly mayFetch?: boolean;
  readonly release?: ReleaseOptions;
  readonly debian?: DebianOptions;
}

export type FoundServer = ServerRecord;

interface Searched extends FoundServer {
  /** The steps before it, each with its reason. */
  readonly failed?: readonly string[];
}

interface Step {
  readonly name: string;
  readonly fetches?: boolean;
  /** Refuses versions before PREFERRED_VERSION. */
  readonly isNew?: boolean;
  /** The source in the record; default: the name. */
  readonly source?: string;
  /** Binaries to try, in order. */
  paths(): Promise<readonly string[]>;
}

/** @throws MillraceError NOT_FOUND when every step failed, BAD_CONFIG when the configured server cannot be used */
export async function findNatsServer(options: FindServerOptions): Promise<FoundServer> {
  const { log, toolsDir, path, mayFetch } = options;
  const { failed = [], ...found }: Searched = path === undefined ? await search(options) : await configuredServer(path);
  if (mayFetch === false) return found;
  await writeRecord(toolsDir, found).catch((error: unknown) =>
    log.debug('nats-server.not-recorded', { reason: describeError(error) }),
  );
  const isOld = !isPreferred(found.version);
  log[isOld ? 'warn' : 'info']('nats-server.found', {
    ...found,
    ...(isOld && { message: `older than ${PREFERRED_VERSION}; remove ${toolsDir} to look for a newer one` }),
    ...(failed.length > 0 && { reasons: failed.join('; ') }),
  });
  return found;
}

/** A configured server is never replaced by another (FI1). @throws BAD_CONFIG */
async function configuredServer(path: string): Promise<FoundServer> {
  try {
    return { path, version: await readServerVersion(path), source: 'setting' };
  } catch (cause) {
    const text = 'MILLRACE_NATS_SERVER is not the path of a usable nats-server';
    throw new MillraceError('BAD_CONFIG', text, { path }, cause);
  }
}

async function stepsOf({ toolsDir, searchPath, release, debian }: FindServerOptions): Promise<readonly Step[]> {
  const distribution = await readDistribution(debian);
  const inTools = () => earlierServers(toolsDir);
  const onPath = () => executablesOn(searchPath);
  const ofSuite = (suite: string) => async () => [await fetchDebianPackage(toolsDir, suite, distribution, debian)];
  const suites = newerSuites(distribution).map((suite) => ({ name: `package ${suite}`.trim(), suite }));
  const own = distribution?.codename ?? '';
  return [
    { name: 'tools', isNew: true, paths: inTools },
    { name: 'path', isNew: true, paths: onPath },
    { name: 'tools', paths: inTools },
    { name: 'release', fetches: true, paths: async () => [await fetchRelease(toolsDir, release)] },
    ...suites.map(({ name, suite }) => ({ name, source: suite, isNew: true, fetches: true, paths: ofSuite(suite) })),
    { name: 'installed', source: 'path', paths: onPath },
    // The package of the machine's suite is old, but it needs neither root nor a service that starts itself.
    { name: 'own-suite', source: own, fetches: true, paths: ofSuite(own) },
  ];
}

async function search(options: FindServerOptions): Promise<Searched> {
  const { log, toolsDir, mayFetch = true, debian } = options;
  const reasons = new Set<string>();
  for (const { name, isNew = false, fetches = false, source = name, paths } of await stepsOf(options)) {
    if (fetches && !mayFetch) continue;
    try {
      const found = await firstUsable(await paths(), isNew);
      return { ...found, source, failed: [...reasons] };
    } catch (error) {
      reasons.add(`${name}: ${describeError(error).replaceAll('\n', ' ')}`);
    }
  }
  log.warn('nats-server.step-failed', { reasons: [...reasons].join('; ') });
  const hint = await installHint(debian?.osReleasePath);
  const text = `no nats-server could be found or fetched; install one (${hint}), or name it with MILLRACE_NATS_SERVER`;
  throw new MillraceError('NOT_FOUND', text, { toolsDir });
}

/** @throws the reason of the last path, when none is usable */
async function firstUsable(paths: readonly string[], isNew: boolean): Promise<Omit<FoundServer, 'source'>> {
  let failure = new Error('no nats-server on the PATH');
  for (const path of paths) {
    try {
      const version = await readServerVersion(path);
      if (!isNew || isPreferred(version)) return { path, version };
      failure = new Error(`${path} is ${version}, older than ${PREFERRED_VERSION}`);
    } catch (error) {
      failure = error as Error;
    }
  }
  throw failure;
}

async function executablesOn(searchPath: string | undefined): Promise<readonly string[]> {
  const folders = (searchPath ?? process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const places = new Set([...folders, ...(searchPath === undefined ? SYSTEM_FOLDERS : [])]);
  const paths = Array.from(places, (folder) => join(folder, 'nats-server'));
  const isExecutable = await Promise.all(paths.map((path) => access(path, constants.X_OK).then(yes, no)));
  return paths.filter((_, at) => isExecutable[at]);
}

const yes = () => true;
const no = () => false;
