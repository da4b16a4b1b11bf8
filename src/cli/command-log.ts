/** The log of commands, besides their output. */
import { JsonLog, SystemClock, streamLines } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { Log } from '../ports/index.js';

/** For a person: only warnings and errors, or everything at level debug. */
export function commandLog(config: Config): Log {
  const level = config.process.logLevel === 'debug' ? 'debug' : 'warn';
  return new JsonLog({ level, clock: new SystemClock(), write: streamLines(process.stderr) });
}
