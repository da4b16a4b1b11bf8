/** What a server of our own cannot start without. */
import { resolve } from 'node:path';
import type { Config } from '../../../config/index.js';
import type { Log } from '../../../ports/index.js';
import {
  type Binding,
  chooseBinding,
  type DataLock,
  type FoundServer,
  findNatsServer,
  lockDataDir,
} from '../embedded/index.js';

/** Where `make run` and earlier starts put a fetched server, relative to the working directory. */
const TOOLS_DIR = resolve('.tools');

export interface PreparedServer {
  /** Whoever asked for it releases it. */
  readonly lock: DataLock;
  readonly found: FoundServer;
  readonly binding: Binding;
}

/** @throws MillraceError CONFLICT when another process has the directory, NOT_FOUND or BAD_CONFIG when there is no server */
export async function prepareServer({ storage, nats }: Config, log: Log): Promise<PreparedServer> {
  const locking = lockDataDir(storage.dataDir);
  try {
    // Programs that answer in milliseconds, each: asked together.
    const [lock, found, binding] = await Promise.all([
      locking,
      findNatsServer({ log, toolsDir: TOOLS_DIR, path: nats.natsServer }),
      chooseBinding(),
    ]);
    return { lock, found, binding };
  } catch (error) {
    await locking.then(
      (lock) => lock.release(),
      () => undefined,
    );
    throw error;
  }
}
