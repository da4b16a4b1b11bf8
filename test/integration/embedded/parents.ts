/** Starts `parent-process.js` and ends what a failed test leaves of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./parent-process.js', import.meta.url));

export interface Parent {
  readonly pid: number;
  readonly serverPid: number;
  /** kill -9 of this process alone; resolves when it is gone. */
  kill(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** @throws an Error with what the process printed when it ended before it was ready */
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
  const { pid, serverPid } = JSON.parse(line) as { pid: number; serverPid: number };
  return {
    pid,
    serverPid,
    async kill() {
      child.kill('SIGKILL');
      await gone;
      running.delete(child);
    },
  };
}

export function endAllParents(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}
