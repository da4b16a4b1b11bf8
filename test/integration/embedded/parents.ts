/** Starts `parent-process.js`, and ends the processes that a failed test left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  identifyProcess,
  isSameProcess,
  type ProcessIdentity,
} from '../../../src/adapters/nats/embedded/process-identity.js';

const SCRIPT = fileURLToPath(new URL('./parent-process.js', import.meta.url));

export interface Parent {
  readonly pid: number;
  readonly serverPid: number;
  /** kill -9 of this process alone; resolves when it is gone. */
  kill(): Promise<void>;
}

const running = new Set<ChildProcess>();
/** The servers of all parents so far. None should be alive after its parent, but a failing test must not leave one. */
const servers: ProcessIdentity[] = [];

/** @throws an Error with the output of a process that ended before it was ready */
export async function startParent(...args: string[]): Promise<Parent> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('close', (code) => reject(new Error(`the parent ended with ${code}: ${errors}`)));
  });
  const { pid, serverPid } = JSON.parse(line) as { pid: number; serverPid?: number };
  const server = serverPid === undefined ? undefined : await identifyProcess(serverPid);
  if (server !== undefined) servers.push(server);
  return {
    pid,
    serverPid: serverPid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await gone;
      running.delete(child);
    },
  };
}

export async function endAllParents(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  for (const server of servers.splice(0)) {
    if (await isSameProcess(server)) process.kill(server.pid, 'SIGKILL');
  }
}
