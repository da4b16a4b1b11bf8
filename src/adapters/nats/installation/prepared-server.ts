/** The requirements of an embedded server: the lock of its directory, its data key, a binary, and its binding. */
import { resolve } from 'node:path';
import type { Config } from '../../../config/index.js';
import type { Log } from '../../../ports/index.js';
import { type DataKey, NodeRandom } from '../../node/index.js';
import {
  type Binding,
  chooseBinding,
  type DataLock,
  type FoundServer,
  findNatsServer,
  lockDataDir,
} from '../embedded/index.js';
import { dataKeyOf } from './data-key.js';

/** Where `make run` and earlier starts put a fetched server, relative to the working directory. */
const TOOLS_DIR = resolve('.tools');

export interface PreparedServer {
  /** The caller releases it. */
  readonly lock: DataLock;
  readonly found: FoundServer;
  readonly binding: Binding;
  /** Undefined without encryption. */
  readonly dataKey: DataKey | undefined;
}

/** @throws MillraceError CONFLICT when another process has the directory, NOT_FOUND or BAD_CONFIG when there is no server */
export async function prepareServer(config: Config, log: Log): Promise<PreparedServer> {
  const { storage, nats } = config;
  const locking = lockDataDir(storage.dataDir);
  try {
    // Each of these programs takes milliseconds; they run in parallel.
    const [lock, found, binding, dataKey] = await Promise.all([
      locking,
      findNatsServer({ log, toolsDir: TOOLS_DIR, path: nats.natsServer }),
      chooseBinding(),
      locking.then(() => dataKeyOf(config, new NodeRandom())),
    ]);
    return { lock, found, binding, dataKey };
  } catch (error) {
    await locking.then(
      (lock) => lock.release(),
      () => undefined,
    );
    throw error;
  }
}
