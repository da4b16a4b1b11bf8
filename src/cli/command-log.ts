/** What commands say of themselves beside what they were asked for. */
import { JsonLog, SystemClock, streamLines } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { Log } from '../ports/index.js';

/** A person reads it: troubles, and all of it where that was asked for. */
export function commandLog(config: Config): Log {
  const level = config.process.logLevel === 'debug' ? 'debug' : 'warn';
  return new JsonLog({ level, clock: new SystemClock(), write: streamLines(process.stderr) });
}
