/** The bytes of the files below a directory, by part. No file stays open, and a file removed during the count has 0 bytes. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param partOf  the part of a file, by its path below the directory
 * @returns bytes by part; empty without such a directory
 */
export async function folderSizes(
  directory: string,
  partOf: (path: string) => string,
  sizes = new Map<string, number>(),
  below = '',
): Promise<Map<string, number>> {
  for (const entry of await unlessGone(readdir(join(directory, below), { withFileTypes: true }), [])) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      await folderSizes(directory, partOf, sizes, path);
    } else if (entry.isFile()) {
      const size = (await unlessGone(stat(join(directory, path)), undefined))?.size ?? 0;
      const part = partOf(path);
      sizes.set(part, (sizes.get(part) ?? 0) + size);
    }
  }
  return sizes;
}

async function unlessGone<T, U>(question: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await question;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return otherwise;
    throw error;
  }
}
