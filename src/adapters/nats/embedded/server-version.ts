/**
 * The version of a nats-server binary, and the abilities of each version. The version of the client never
 * decides.
 */
import { access, constants, stat } from 'node:fs/promises';
import { isAtLeast, SYNC_ALWAYS } from '../versions.js';
import { runBounded } from './run-bounded.js';

/** This program creates streams and consumers by the API of this version; Debian 12 has 2.9.10. */
const OLDEST_VERSION = '2.9.0';

/** An older server on the machine is used only if no newer one is available (Debian 13 ships this version). */
export const PREFERRED_VERSION = '2.10.27';
/** The longest time in which a usable binary prints its version. */
const VERSION_TIMEOUT_MS = 5000;

/**
 * Runs `<binary> --version`.
 * @returns `major.minor.patch`, with a pre-release suffix when there is one
 * @throws  an Error with a readable text when the file is missing, does not run here, is another program or too old
 */
export async function readServerVersion(binary: string): Promise<string> {
  // The system looks for a name without a slash on the PATH.
  if (binary.includes('/')) await mustBeProgram(binary);
  const { stdout, stderr, timedOut } = await runBounded(binary, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS });
  if (timedOut) throw new Error(`${binary} did not print its version within ${VERSION_TIMEOUT_MS} ms`);
  const version = /nats-server: v?(\d+\.\d+\.\d+[^\s]*)/.exec(stdout + stderr)?.[1];
  if (version === undefined) throw new Error(`${binary} does not answer as a nats-server that runs on this machine`);
  if (!isAtLeast(version, OLDEST_VERSION)) {
    throw new Error(`${binary} is ${version}, and this program needs ${OLDEST_VERSION} or newer`);
  }
  return version;
}

async function mustBeProgram(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? `${path} was not found` : error.message);
  });
  if (found.isDirectory()) throw new Error(`${path} is a directory: name the program in it`);
  await access(path, constants.X_OK).catch(() => {
    throw new Error(`${path} may not be executed by this user`);
  });
}

export function isPreferred(version: string): boolean {
  return isAtLeast(version, PREFERRED_VERSION);
}

/** Whether the server can make every write durable before it acknowledges it. */
export function knowsSyncAlways(version: string): boolean {
  return isAtLeast(version, SYNC_ALWAYS);
}

/** Whether the server itself limits how many rotated log files it keeps; known from 2.10.27 on. */
export function knowsLogFileCount(version: string): boolean {
  return isPreferred(version);
}
