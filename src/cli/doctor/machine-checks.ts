/** What `millrace doctor` looks at of the machine: the versions, the clock, open files. */
import { access, constants, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findNatsServer, isPreferred, PREFERRED_VERSION } from '../../adapters/nats/embedded/index.js';
import { connect } from '../../adapters/nats/index.js';
import { natsOptionsOf } from '../../adapters/nats/installation/index.js';
import type { Config } from '../../config/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { type Diagnosis, fail, ok, warn } from './diagnosis.js';

/** The oldest and the first that is too new, as package.json has them. */
const NODE_FROM = [20, 19] as const;
const NODE_BELOW = 27;
/** Beside connections of clients: files, threads, the nats-server's own connections. */
const OTHER_FILES = 512;

export function nodeCheck(version: string): Diagnosis {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < NODE_FROM[0] || (major === NODE_FROM[0] && minor < NODE_FROM[1]);
  if (!isOld && major < NODE_BELOW) return ok('node', version);
  return fail('node', version, `use Node.js ${NODE_FROM.join('.')} to ${NODE_BELOW - 1}`);
}

/** Looks on this machine, and fetches nothing. */
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
      `use ${PREFERRED_VERSION} or newer: this one may lose what was acknowledged with the power`,
    );
  } catch (error) {
    if (path !== undefined) return fail(check, describeError(error), 'name another, or none: MILLRACE_NATS_SERVER');
    return warn(check, 'none on this machine', `a start fetches one: ${describeError(error)}`);
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
    return fail('nats', describeError(error), `start the servers of MILLRACE_NATS_URL, or name others: ${servers}`);
  }
}

/** The lock of a data directory is taken by this program. */
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

/** Time has not gone back behind what was written here last. */
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
    `${found}, behind files of this program or its data (${last})`,
    'set the clock: docs/operations/clocks.md',
  );
}

/** @param limits as in /proc/self/limits. Node raises the soft limit to the hard one by itself */
export function openFilesCheck(limits: string, { http }: Pick<Config, 'http'>): Diagnosis {
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const wanted = http.httpMaxConnections + OTHER_FILES;
  if (limit >= wanted) return ok('open files', String(limit));
  const advice = `raise it to ${wanted} (ulimit -n, LimitNOFILE=), or lower MILLRACE_HTTP_MAX_CONNECTIONS`;
  return warn('open files', `${limit}, fewer than connections are accepted`, advice);
}

export function readLimits(): Promise<string> {
  return readFile('/proc/self/limits', 'utf8').catch(() => '');
}
