/** Writes a file that only the user of this process may read, completely or not at all. */
import { rename, rm, writeFile } from 'node:fs/promises';

/** @param isLasting  false for content without use after a power failure; its readers accept a truncated file */
export async function writePrivateFile(path: string, text: string, isLasting: boolean): Promise<void> {
  const incoming = `${path}.new`;
  // A file left by a crash may have another mode, which writing would keep.
  await rm(incoming, { force: true });
  await writeFile(incoming, text, { mode: 0o600, flush: isLasting });
  await rename(incoming, path);
}
