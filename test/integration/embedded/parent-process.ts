/**
 * A process with an embedded server, to be killed by tests:
 *   node parent-process.js lock <dir>
 *   node parent-process.js serve <dir> <binary> <version> <binding>
 * Prints one line of JSON once it has the lock or the server, and then runs idle until it is killed.
 */
import { lockDataDir, startEmbeddedServer } from '../../../src/adapters/nats/embedded/index.js';
import { RecordingLog } from '../../support/recording-log.js';

const [mode, dataDir = '', binary = '', version = '', binding] = process.argv.slice(2);

setInterval(() => undefined, 60_000);
await lockDataDir(dataDir);
let serverPid: number | undefined;
if (mode === 'serve') {
  const server = await startEmbeddedServer({
    binary,
    version,
    dataDir,
    log: new RecordingLog(),
    onGiveUp: () => process.exit(1),
    binding: binding === 'pipe' ? 'pipe' : 'setpriv',
  });
  serverPid = server.pid;
}
process.stdout.write(`${JSON.stringify({ pid: process.pid, serverPid })}\n`);
