/** Files that come with the program and are served as they are. */
import { readFile } from 'node:fs/promises';

/** As deep below the root as the bundle, which this is part of. */
const CONSOLE = new URL('../../console/', import.meta.url);

/** @param path below the folder of the console's built pages. @returns undefined where there is none */
export async function readConsoleFile(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(new URL(path, CONSOLE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
