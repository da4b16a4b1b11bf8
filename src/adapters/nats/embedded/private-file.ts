/** Writes a file that only our user may read, whole or not at all. */
import { rename, rm, writeFile } from 'node:fs/promises';

/** @param isLasting  false for what is of no use once the machine has lost its power: whoever reads it bears with half of it */
export async function writePrivateFile(path: string, text: string, isLasting: boolean): Promise<void> {
  const incoming = `${path}.new`;
  // One that a crash left may have another mode, which writing would keep.
  await rm(incoming, { force: true });
  await writeFile(incoming, text, { mode: 0o600, flush: isLasting });
  await rename(incoming, path);
}
