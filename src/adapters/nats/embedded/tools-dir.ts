/**
 * `.tools/`: nats-server binaries that were fetched for this checkout, one folder per version, and a
 * record of the one in use.
 *
 *   .tools/nats-server-<version>/nats-server
 *   .tools/nats-server.json            {path, version, source}
 *
 *  TD1 A version's folder appears whole or not at all: it is filled under another name and renamed, so
 *      that two processes may fetch at the same time.
 *  TD2 A later fetch removes the files of a killed one.
 */
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compareVersions } from '../versions.js';
import { readServerVersion } from './server-version.js';

const FOLDER = /^nats-server-(\d+\.\d+\.\d+.*)$/;
const RECORD = 'nats-server.json';
const INCOMING = '.incoming-';
/** Longer than the time limits of all steps of a fetch, so an older folder has no owner. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

export interface ServerRecord {
  readonly path: string;
  readonly version: string;
  /** Which step of the search found it. */
  readonly source: string;
}

/** Paths of fetched binaries, newest version first, then that of the record. @throws an Error if there are none */
export async function earlierServers(toolsDir: string): Promise<string[]> {
  const names = await readdir(toolsDir).catch(() => [] as string[]);
  const versions = names.flatMap((name) => FOLDER.exec(name)?.[1] ?? []).sort((a, b) => compareVersions(b, a));
  const record = await readFile(join(toolsDir, RECORD), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  // A server of a setting that was removed since is not used again.
  const recorded = typeof record?.path === 'string' && record.source !== 'setting' ? [record.path as string] : [];
  const paths = [...versions.map((version) => join(toolsDir, `nats-server-${version}`, 'nats-server')), ...recorded];
  if (paths.length === 0) throw new Error(`no nats-server in ${toolsDir}`);
  return paths;
}

export async function writeRecord(toolsDir: string, record: ServerRecord): Promise<void> {
  await mkdir(toolsDir, { recursive: true });
  const incoming = join(toolsDir, `${RECORD}.${process.pid}`);
  await writeFile(incoming, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(incoming, join(toolsDir, RECORD));
}

/**
 * Puts a binary in its version's place.
 * @param fetch  puts the binary into a private folder, from where it can be renamed on the same file system
 * @returns      the path to run, which another process may have filled with the same binary
 */
export async function installServer(toolsDir: string, fetch: (incoming: string) => Promise<string>): Promise<string> {
  await mkdir(toolsDir, { recursive: true });
  await removeAbandoned(toolsDir);
  const incoming = await mkdtemp(join(toolsDir, INCOMING));
  try {
    const binary = await fetch(incoming);
    const folder = join(toolsDir, `nats-server-${await readServerVersion(binary)}`);
    const filled = join(incoming, 'install');
    await mkdir(filled);
    await copyFile(binary, join(filled, 'nats-server'));
    await chmod(join(filled, 'nats-server'), 0o755);
    const installed = join(folder, 'nats-server');
    if (!(await renamed(filled, folder)) && !(await readServerVersion(installed).catch(() => false))) {
      // The existing folder of that name is unusable; the new binary was just run.
      await rename(folder, join(incoming, 'replaced')).catch(() => undefined);
      await renamed(filled, folder);
    }
    return installed;
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

async function removeAbandoned(toolsDir: string): Promise<void> {
  for (const name of await readdir(toolsDir)) {
    if (!name.startsWith(INCOMING)) continue;
    const path = join(toolsDir, name);
    const info = await stat(path).catch(() => undefined);
    const isOld = info !== undefined && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS;
    if (isOld) await rm(path, { recursive: true, force: true });
  }
}
