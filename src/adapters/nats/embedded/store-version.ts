/**
 * Records the version that wrote a store, and warns when an older one is about to open it. Servers read
 * stores of older versions; the reverse is not promised. If streams are missing afterwards, the
 * check of the streams at start stops the process: no stream is created in their place.
 */
import { readFile } from 'node:fs/promises';
import type { Log } from '../../../ports/index.js';
import { writePrivateFile } from './private-file.js';
import { compareVersions } from './server-version.js';

export async function noteStoreVersion(path: string, version: string, log: Log): Promise<void> {
  const earlier = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (earlier === version) return;
  if (earlier !== '' && compareVersions(earlier, version) > 0) {
    log.warn('nats-server.downgrade', { earlier, version, message: 'the store was last written by a newer server' });
  }
  await writePrivateFile(path, `${version}\n`, true);
}
