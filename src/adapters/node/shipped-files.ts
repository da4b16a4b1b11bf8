/** Static files of the program. */
import { readFile } from 'node:fs/promises';

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
