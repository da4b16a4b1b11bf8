/**
 * Small files that must be complete or absent, and private where they hold secrets.
 *
 *  FL1 a reader sees the old content or the new, never a part, also after a power loss
 *  FL2 the new content never has a wider mode than requested, not even for a moment
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** At the same depth below the root as the bundle that contains this module. */
const SHIPPED = new URL('../../', import.meta.url);

type ReadShipped = (path: string) => Promise<Buffer | undefined>;

/** The console's built pages. */
export const readConsoleFile: ReadShipped = (path) => shipped(`console/${path}`);
/** The page of the portal of applications. */
export const readPortalFile: ReadShipped = (path) => shipped(`portal/${path}`);
/** The documentation's site. */
export const readDocsFile: ReadShipped = (path) => shipped(`site/${path}`);

/** @param path  below the program's folder. @returns undefined when it is missing */
async function shipped(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(new URL(path, SHIPPED));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Readable by the owner alone: credentials, keys. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/** @throws the error of the file system; the old content then stays */
export async function writeFileAtomic(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const directory = dirname(path);
  const draft = join(directory, `.${basename(path)}.${randomUUID()}`);
  try {
    await writeAndSync(draft, content, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  // Without this a power loss may undo the rename although the content is stored.
  await syncDirectory(directory);
}

async function writeAndSync(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    // The umask may have narrowed the requested mode.
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes created, renamed and removed names in the directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Undefined when there is no such file; other failures are thrown. */
export async function readFileIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes a file that does not exist, by linking a complete draft into place. If another process was faster, its file stays.
 * @returns the content of the file. @throws the error of the file system
 */
export async function makeFileOnce(path: string, content: string, mode: number): Promise<Buffer> {
  await ensureDirectory(dirname(path));
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.draft`);
  await writeFileAtomic(draft, content, mode);
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(dirname(path));
  return readFile(path);
}

/** Makes the directory and its parents; keeps the mode of an existing one. */
export async function ensureDirectory(path: string, mode: number = PRIVATE_DIRECTORY): Promise<void> {
  await mkdir(path, { recursive: true, mode });
}
