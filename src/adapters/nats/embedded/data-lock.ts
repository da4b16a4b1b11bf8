/**
 * The data directory's lock: at most one process of this machine works in it, and the operating system
 * gives the lock back when that process dies, however it dies.
 *
 *  DL1 The lock belongs to the open file, which this process alone keeps open. `flock(1)` takes it through
 *      an inherited descriptor and exits; the lock stays, because our descriptor refers to the same open
 *      file.
 *  DL2 Our descriptor is closed in every program we start (Node opens with O_CLOEXEC), so a child that
 *      outlives us cannot keep the lock.
 *  DL3 The file is never removed: two processes could otherwise hold locks on two files of one name.
 */
import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../../../kernel/index.js';
import { lastWords, type RunResult, runBounded } from './run-bounded.js';

/** Taking a free lock needs milliseconds, and a held one is not waited for. */
const FLOCK_TIMEOUT_MS = 5000;
/** What `flock --nonblock` exits with when somebody else has the lock. */
const HELD = 1;

export interface DataLock {
  readonly path: string;
  release(): void;
}

/**
 * Makes `dir` when it is missing and locks it.
 * @throws MillraceError CONFLICT when another process has it, BAD_CONFIG when it cannot be locked at all
 */
export async function lockDataDir(dir: string, flock = 'flock'): Promise<DataLock> {
  const path = join(dir, 'lock');
  const descriptor = openLockFile(dir, path);
  try {
    const result = await take(flock, descriptor, dir);
    if (result.exitCode === HELD && result.stderr.trim() === '') {
      const holder = readFileSync(path, 'utf8').trim();
      throw new MillraceError('CONFLICT', `the data directory ${dir} is in use by ${describeHolder(holder)}`, { dir });
    }
    if (result.timedOut || result.exitCode !== 0) {
      throw new MillraceError('BAD_CONFIG', `the data directory ${dir} cannot be locked: ${lastWords(result)}`, {
        dir,
      });
    }
    ftruncateSync(descriptor);
    writeSync(descriptor, `${process.pid}\n`, 0);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  let held = true;
  return {
    path,
    release() {
      if (held) closeSync(descriptor);
      held = false;
    },
  };
}

function openLockFile(dir: string, path: string): number {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `MILLRACE_DATA_DIR: ${dir} cannot be used`, { dir }, cause);
  }
}

async function take(flock: string, descriptor: number, dir: string): Promise<RunResult> {
  try {
    return await runBounded(flock, ['-n', '3'], { timeoutMs: FLOCK_TIMEOUT_MS, descriptor3: descriptor });
  } catch (cause) {
    throw new MillraceError(
      'BAD_CONFIG',
      `the data directory ${dir} cannot be locked: the program flock (package util-linux) is needed`,
      { dir },
      cause,
    );
  }
}

function describeHolder(written: string): string {
  return /^\d+$/.test(written) ? `process ${written}` : 'another process';
}
