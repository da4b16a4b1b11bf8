/**
 * Small files that must be whole or not there, and private where they hold secrets.
 *
 * Invariants
 *  FL1 a reader sees the old content or the new, never a part, also after power loss
 *  FL2 the new content never has a wider mode than asked for, not even for a moment
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Readable by the owner alone: credentials, keys. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/** @throws the error of the file system, with the old content in place */
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
  // Without this a power loss may undo the rename although the content is safe.
  await syncDirectory(directory);
}

async function writeAndSync(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    // The umask may have narrowed the mode that was asked for.
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What was made, renamed or removed in it stays so. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Undefined when there is no such file; every other failure is thrown. */
export async function readFileIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the directory and those above it; leaves the mode of one that is there. */
export async function ensureDirectory(path: string, mode: number = PRIVATE_DIRECTORY): Promise<void> {
  await mkdir(path, { recursive: true, mode });
}
