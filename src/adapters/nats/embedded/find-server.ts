/**
 * Finds the nats-server binary to embed, or fetches one.
 *
 *  FI1 A configured server is used, or the search fails: no other server replaces it. Otherwise the order is fixed: the
 *      server of an earlier start, the PATH, the official release, the package of a newer suite, and last any version
 *      that is installed or can be unpacked. The search never installs a package.
 *  FI2 Every step has a time limit, and a failed step gives its reason in exactly one line.
 *  FI3 The returned binary has been run: a binary that does not start on this machine is a failed step.
 *  FI4 An old server of an earlier start is used again without a request to the network at every start;
 *      only a newer one on the PATH comes before it. Removing `.tools/` restarts the search.
 */
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { newerSuites } from './apt-sources.js';
import { type DebianOptions, fetchDebianPackage, readDistribution } from './fetch-debian-package.js';
import { fetchRelease, type ReleaseOptions } from './fetch-release.js';
import { installHint } from './install-hint.js';
import { isPreferred, PREFERRED_VERSION, readServerVersion } from './server-version.js';
import { fetchedServers, readRecord, type ServerRecord, writeRecord } from './tools-dir.js';

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

/** @throws MillraceError NOT_FOUND when every step failed, BAD_CONFIG when the configured server cannot be used */
export async function findNatsServer(options: FindServerOptions): Promise<FoundServer> {
  const found = await search(options);
  if (options.mayFetch === false) return found;
  await writeRecord(options.toolsDir, found).catch((error: unknown) =>
    options.log.debug('nats-server.not-recorded', { reason: describeError(error) }),
  );
  options.log.info('nats-server.found', { ...found });
  if (!isPreferred(found.version)) {
    options.log.warn('nats-server.old', {
      version: found.version,
      message: `older than ${PREFERRED_VERSION}; remove ${options.toolsDir} to look for a newer one`,
    });
  }
  return found;
}

async function search(options: FindServerOptions): Promise<FoundServer> {
  const { log, toolsDir } = options;
  const attempt = async (step: string, run: () => Promise<FoundServer>): Promise<FoundServer | undefined> => {
    try {
      return await run();
    } catch (error) {
      log.warn('nats-server.step-failed', { step, reason: describeError(error).replaceAll('\n', ' ') });
      return undefined;
    }
  };

  if (options.path !== undefined) return namedServer(options.path);
  const earlier = await attempt('tools', () => fromTools(toolsDir));
  if (earlier !== undefined && isPreferred(earlier.version)) return earlier;
  const onPath = await attempt('path', () => fromPath(options, isPreferred));
  if (onPath !== undefined) return onPath;
  if (earlier !== undefined) return earlier;
  if (options.mayFetch === false) return fromPath(options, () => true);

  const released = await attempt('release', async () =>
    tried(await fetchRelease(toolsDir, options.release), 'release'),
  );
  if (released !== undefined) return released;
  const packaged = await fromNewerSuite(options, attempt);
  if (packaged !== undefined) return packaged;

  const lastResorts: readonly [string, () => Promise<FoundServer>][] = [
    ['installed', () => fromPath(options, () => true)],
    ['own-suite', () => fromOwnSuite(options)],
  ];
  for (const [step, run] of lastResorts) {
    const found = await attempt(step, run);
    if (found !== undefined) return found;
  }
  const hint = await installHint(options.debian?.osReleasePath);
  const text = `no nats-server could be found or fetched; install one (${hint}), or name it with MILLRACE_NATS_SERVER`;
  throw new MillraceError('NOT_FOUND', text, { toolsDir });
}

/** A configured server is never replaced by another (FI1). @throws BAD_CONFIG */
async function namedServer(path: string): Promise<FoundServer> {
  try {
    return await tried(path, 'setting');
  } catch (cause) {
    const text = 'MILLRACE_NATS_SERVER is not the path of a usable nats-server';
    throw new MillraceError('BAD_CONFIG', text, { path }, cause);
  }
}

type Attempt = (step: string, run: () => Promise<FoundServer>) => Promise<FoundServer | undefined>;

async function fromTools(toolsDir: string): Promise<FoundServer> {
  const record = await readRecord(toolsDir);
  const fetched = await fetchedServers(toolsDir);
  // A server of a setting that was removed since is not used again.
  const candidates = [...fetched, ...(record === undefined || record.source === 'setting' ? [] : [record.path])];
  let failure = new Error(`no nats-server in ${toolsDir}`);
  for (const path of candidates) {
    try {
      return await tried(path, 'tools');
    } catch (error) {
      failure = error as Error;
    }
  }
  throw failure;
}

async function fromPath(options: FindServerOptions, accepts: (version: string) => boolean): Promise<FoundServer> {
  const folders = (options.searchPath ?? process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const places = [...new Set([...folders, ...(options.searchPath === undefined ? SYSTEM_FOLDERS : [])])];
  let failure = new Error('no nats-server on the PATH');
  for (const folder of places) {
    const path = join(folder, 'nats-server');
    if (!(await isExecutable(path))) continue;
    try {
      const found = await tried(path, 'path');
      if (accepts(found.version)) return found;
      failure = new Error(`${path} is ${found.version}, older than ${PREFERRED_VERSION}`);
    } catch (error) {
      failure = error as Error;
    }
  }
  throw failure;
}

async function fromNewerSuite(options: FindServerOptions, attempt: Attempt): Promise<FoundServer | undefined> {
  let suites: string[] = [];
  const distribution = await readDistribution(options.debian).catch((error: unknown) => error as Error);
  if (!(distribution instanceof Error)) suites = newerSuites(distribution);
  if (distribution instanceof Error || suites.length === 0) {
    return attempt('package', async () => {
      throw distribution instanceof Error ? distribution : new Error('no newer release of this distribution is known');
    });
  }
  for (const suite of suites) {
    const found = await attempt(`package ${suite}`, async () => {
      const server = await tried(
        await fetchDebianPackage(options.toolsDir, suite, distribution, options.debian),
        suite,
      );
      if (!isPreferred(server.version)) throw new Error(`it has only ${server.version}`);
      return server;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The version of the machine's own suite: old, but it needs neither root nor a service that starts itself. */
async function fromOwnSuite(options: FindServerOptions): Promise<FoundServer> {
  const distribution = await readDistribution(options.debian);
  const suite = distribution.codename;
  return tried(await fetchDebianPackage(options.toolsDir, suite, distribution, options.debian), suite);
}

async function tried(path: string, source: string): Promise<FoundServer> {
  return { path, version: await readServerVersion(path), source };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
