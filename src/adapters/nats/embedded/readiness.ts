/** Waits until a started server is usable: it accepts the credentials, and JetStream answers. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from 'nats';
import { describeError } from '../../../kernel/index.js';
import type { Credentials } from './server-config.js';

const LOOK_EVERY_MS = 5;
/** The time limit of one try. A server that is still reading its store accepts no connections. */
const TRY_TIMEOUT_MS = 2000;

/**
 * Tries until it works.
 * @param hasEnded  called before each try; true ends the tries
 * @throws          an Error with a readable text after `timeoutMs`, or when the server has ended
 */
export async function waitUntilReady(
  url: string,
  credentials: Credentials,
  hasEnded: () => boolean,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (hasEnded()) throw new Error('it ended before it was ready');
    try {
      await tryOnce(url, credentials);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`not ready within ${timeoutMs} ms: ${describeError(error)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }
}

async function tryOnce(url: string, { user, password }: Credentials): Promise<void> {
  const connection = await connect({ servers: url, user, pass: password, reconnect: false, timeout: TRY_TIMEOUT_MS });
  try {
    const manager = await jetstreamManager(connection, { timeout: TRY_TIMEOUT_MS, checkAPI: false });
    await manager.getAccountInfo();
  } finally {
    await connection.close();
  }
}
