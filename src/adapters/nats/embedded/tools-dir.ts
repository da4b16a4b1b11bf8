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
import { compareVersions, readServerVersion } from './server-version.js';

const FOLDER = /^nats-server-(\d+\.\d+\.\d+.*)$/;
const INCOMING = '.incoming-';
/** Longer than the time limits of all steps of a fetch, so an older folder has no owner. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

export interface ServerRecord {
  readonly path: string;
  readonly version: string;
  /** Which step of the search found it. */
  readonly source: string;
}

/** Paths of the fetched binaries, newest version first. */
export async function fetchedServers(toolsDir: string): Promise<string[]> {
  const names = await readdir(toolsDir).catch(() => [] as string[]);
  return names
    .flatMap((name) => FOLDER.exec(name)?.[1] ?? [])
    .sort((a, b) => compareVersions(b, a))
    .map((version) => join(toolsDir, `nats-server-${version}`, 'nats-server'));
}

export async function readRecord(toolsDir: string): Promise<ServerRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(recordPath(toolsDir), 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRecord(toolsDir: string, record: ServerRecord): Promise<void> {
  await mkdir(toolsDir, { recursive: true });
  const incoming = `${recordPath(toolsDir)}.${process.pid}`;
  await writeFile(incoming, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(incoming, recordPath(toolsDir));
}

/** Lends a private folder inside `toolsDir`, from where files can be renamed on the same file system. */
export async function withIncoming<T>(toolsDir: string, use: (dir: string) => Promise<T>): Promise<T> {
  await mkdir(toolsDir, { recursive: true });
  await removeAbandoned(toolsDir);
  const dir = await mkdtemp(join(toolsDir, INCOMING));
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Puts a binary in its version's place.
 * @param incoming  the folder lent by `withIncoming`
 * @returns         the path to run, which another process may have filled with the same binary
 */
export async function installServer(
  toolsDir: string,
  incoming: string,
  binary: string,
  version: string,
): Promise<string> {
  const folder = join(toolsDir, `nats-server-${version}`);
  const filled = join(incoming, 'install');
  await mkdir(filled);
  await copyFile(binary, join(filled, 'nats-server'));
  await chmod(join(filled, 'nats-server'), 0o755);
  const installed = join(folder, 'nats-server');
  if (!(await renamed(filled, folder)) && !(await runs(installed))) {
    // The existing folder of that name is unusable; the new binary was just run.
    await rename(folder, join(incoming, 'replaced')).catch(() => undefined);
    await renamed(filled, folder);
  }
  return installed;
}

async function runs(binary: string): Promise<boolean> {
  return readServerVersion(binary).then(
    () => true,
    () => false,
  );
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
    if (info !== undefined && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

function recordPath(toolsDir: string): string {
  return join(toolsDir, 'nats-server.json');
}

function isRecord(value: unknown): value is ServerRecord {
  const record = value as Partial<ServerRecord> | null;
  return typeof record?.path === 'string' && typeof record.version === 'string' && typeof record.source === 'string';
}
