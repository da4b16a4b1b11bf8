/**
 * `millrace tools`: looks for the nats-server to embed, fetches one when there is none, and prints its path.
 * What `serve` does at its start, done ahead: in an image, in CI, before a machine loses its network.
 */
import { join } from 'node:path';
import { findNatsServer } from '../adapters/nats/embedded/index.js';
import { JsonLog, SystemClock, streamLines } from '../adapters/node/index.js';
import { type Environment, loadConfig } from '../config/index.js';
import { type Asked, shown } from './parser.js';

/** @throws NOT_FOUND when every step failed, BAD_CONFIG */
export async function toolsText(asked: Asked, env: Environment): Promise<string> {
  const { config } = loadConfig(env);
  const log = new JsonLog({
    level: config.process.logLevel,
    clock: new SystemClock(),
    write: streamLines(process.stderr),
  });
  const found = await findNatsServer({ log, toolsDir: join(process.cwd(), '.tools'), path: config.nats.natsServer });
  return shown(asked, found, () => `${found.path}\n`);
}
