/**
 * `millrace tools`: finds the nats-server to embed, fetches one if there is none, and prints its path. `serve` does
 * the same at its start; this command does it in advance, for an image, for CI, or before a machine loses its
 * network.
 */
import { join } from 'node:path';
import { findNatsServer } from '../adapters/nats/embedded/index.js';
import { JsonLog, SystemClock, streamLines } from '../adapters/node/index.js';
import { type Environment, loadConfig } from '../config/index.js';
import { type ParsedArguments, shown } from './parser.js';

/** @throws NOT_FOUND if every step failed, BAD_CONFIG */
export async function toolsText(asked: ParsedArguments, env: Environment): Promise<string> {
  const { config } = loadConfig(env);
  const log = new JsonLog({
    level: config.process.logLevel,
    clock: new SystemClock(),
    write: streamLines(process.stderr),
  });
  const found = await findNatsServer({ log, toolsDir: join(process.cwd(), '.tools'), path: config.nats.natsServer });
  return shown(asked, found, () => `${found.path}\n`);
}
