/** Checks of `millrace doctor` about the machine: versions, clock, open files. */
import { access, constants, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findNatsServer, isPreferred, PREFERRED_VERSION } from '../../adapters/nats/embedded/index.js';
import { connect } from '../../adapters/nats/index.js';
import { natsOptionsOf } from '../../adapters/nats/installation/index.js';
import type { Config } from '../../config/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { type Diagnosis, fail, ok, warn } from './diagnosis.js';

/** The range of package.json: the oldest supported version, and the first unsupported one. */
const NODE_FROM = [20, 19] as const;
const NODE_BELOW = 27;
const RECOMMENDED_NODE = 24;
/** Files other than client connections: data files, threads, connections of the nats-server. */
const OTHER_FILES = 512;

export function nodeCheck(version: string): Diagnosis {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < NODE_FROM[0] || (major === NODE_FROM[0] && minor < NODE_FROM[1]);
  if (isOld || major >= NODE_BELOW) return fail('node', version, `use Node.js ${RECOMMENDED_NODE}`);
  // Odd versions of Node.js are supported for only half a year.
  if (major % 2 === 1) return warn('node', version, `use Node.js ${RECOMMENDED_NODE}: release ${major} is not tested`);
  return ok('node', version);
}

/** Searches this machine without fetching. */
export async function serverCheck(config: Config, log: Log): Promise<Diagnosis> {
  const check = 'nats-server';
  if (!config.isEmbedded) return runningServerCheck(config);
  const { natsServer: path } = config.nats;
  try {
    const found = await findNatsServer({ log, toolsDir: join(process.cwd(), '.tools'), path, mayFetch: false });
    const text = `${found.version}, ${found.path}`;
    if (isPreferred(found.version)) return ok(check, text);
    return warn(
      check,
      text,
      `use ${PREFERRED_VERSION} or newer: this version may lose acknowledged writes in a power failure`,
    );
  } catch (error) {
    if (path !== undefined) return fail(check, describeError(error), 'correct MILLRACE_NATS_SERVER, or leave it empty');
    return warn(check, 'not installed on this machine', `the first start downloads one: ${describeError(error)}`);
  }
}

async function runningServerCheck(config: Config): Promise<Diagnosis> {
  const servers = (config.nats.natsUrl ?? []).join(', ');
  try {
    const connections = await connect(natsOptionsOf(config, 'operator'));
    const versions = connections.serverVersions().join(', ');
    await connections.close();
    return ok('nats', `${servers}, ${versions}`);
  } catch (error) {
    return fail('nats', describeError(error), `start the servers of MILLRACE_NATS_URL, or set others: ${servers}`);
  }
}

/** This program locks a data directory. */
export async function flockCheck(searchPath: string): Promise<Diagnosis> {
  for (const folder of searchPath.split(delimiter)) {
    const isThere = await access(join(folder, 'flock'), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return ok('flock', join(folder, 'flock'));
  }
  return fail('flock', 'not on the PATH', 'install util-linux');
}

/** Checks that the clock is not earlier than recently written files. */
export async function clockCheck(nowMs: number, files: readonly (string | URL)[]): Promise<Diagnosis> {
  const found = new Date(nowMs).toISOString();
  const times = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  const lastMs = Math.max(0, ...times);
  if (nowMs >= lastMs) return ok('clock', found);
  const last = new Date(lastMs).toISOString();
  return fail(
    'clock',
    `${found}, earlier than files of this program or its data (${last})`,
    'set the clock: docs/operations/clocks.md',
  );
}

/** @param limits as in /proc/self/limits. Node raises the soft limit to the hard limit automatically */
export function openFilesCheck(limits: string, { http }: Pick<Config, 'http'>): Diagnosis {
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const wanted = http.httpMaxConnections + OTHER_FILES;
  if (limit >= wanted) return ok('open files', String(limit));
  const advice = `raise the limit to ${wanted} (ulimit -n, LimitNOFILE=), or lower MILLRACE_HTTP_MAX_CONNECTIONS`;
  return warn('open files', `${limit}, fewer than the accepted connections`, advice);
}

export function readLimits(): Promise<string> {
  return readFile('/proc/self/limits', 'utf8').catch(() => '');
}
