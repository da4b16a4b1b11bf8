/**
 * The server of an earlier run that is still alive. Two servers on one store would both start and
 * damage it, so the earlier one is ended before a new one starts.
 *
 *  OP1 A process is ended only if pid, start time, boot and configuration path are all the recorded ones.
 *  OP2 No server starts here before this function has returned: the caller holds the data directory's lock,
 *      so no other process starts one either.
 */
import { readFile, rm } from 'node:fs/promises';
import { MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { writePrivateFile } from './private-file.js';
import { commandOf, identifyProcess, isSameProcess, type ProcessIdentity } from './process-identity.js';

/** A healthy server closes its store within milliseconds; after this time it is killed. */
const GRACE_MS = 2000;
const KILL_MS = 5000;
const LOOK_EVERY_MS = 20;

export interface RunningServer extends ProcessIdentity {
  readonly configPath: string;
  readonly binary: string;
  readonly version: string;
  readonly port: number;
}

/** Records a server that was just started. Without /proc it is not recorded. */
export async function recordServer(path: string, server: Omit<RunningServer, 'startTicks' | 'bootId'>): Promise<void> {
  const identity = await identifyProcess(server.pid);
  if (identity !== undefined) await writePrivateFile(path, `${JSON.stringify({ ...server, ...identity })}\n`, false);
}

/**
 * Ends the recorded server if it still runs, and forgets the record.
 * @throws MillraceError CONFLICT when it runs and cannot be ended
 */
export async function endOrphan(recordPath: string, log: Log): Promise<void> {
  const server = await readServer(recordPath);
  if (server !== undefined && (await isOurs(server))) {
    log.warn('nats-server.orphan', {
      pid: server.pid,
      message: 'a server of an earlier run is still alive; ending it',
    });
    if (!(await end(server))) {
      const message = `nats-server ${server.pid} of an earlier run does not end`;
      throw new MillraceError('CONFLICT', message, { pid: server.pid });
    }
  }
  await rm(recordPath, { force: true });
}

async function isOurs(server: RunningServer): Promise<boolean> {
  return (await isSameProcess(server)) && (await commandOf(server.pid)).includes(server.configPath);
}

async function end(server: RunningServer): Promise<boolean> {
  return (await signalAndWait(server, 'SIGTERM', GRACE_MS)) || (await signalAndWait(server, 'SIGKILL', KILL_MS));
}

async function signalAndWait(server: RunningServer, signal: NodeJS.Signals, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  try {
    process.kill(server.pid, signal);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ESRCH') return true;
    throw new MillraceError('CONFLICT', `nats-server ${server.pid} of an earlier run cannot be ended`, {}, cause);
  }
  while (await isSameProcess(server)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}

async function readServer(path: string): Promise<RunningServer | undefined> {
  try {
    const server = JSON.parse(await readFile(path, 'utf8')) as RunningServer;
    return Number.isSafeInteger(server.pid) && server.pid > 1 ? server : undefined;
  } catch {
    // None yet, or cut off by a power failure, which ended the server too.
    return undefined;
  }
}
