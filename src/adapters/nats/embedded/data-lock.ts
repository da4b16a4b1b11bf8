/**
 * The lock of a directory: at most one process of this machine uses the directory, and the operating
 * system releases the lock when that process ends.
 *
 *  DL1 The lock belongs to the open file, which only this process keeps open. `flock(1)` takes it through
 *      an inherited descriptor and exits; the lock stays, because the descriptor of this process refers to the
 *      same open file.
 *  DL2 The descriptor is closed in every started program (Node opens with O_CLOEXEC), so a child that
 *      outlives this process cannot keep the lock.
 *  DL3 The file is never removed: two processes could otherwise hold locks on two files of one name.
 */
import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../../../kernel/index.js';
import { lastWords, type RunResult, runBounded } from './run-bounded.js';

/** Taking a free lock needs milliseconds; a held one is refused immediately. */
const FLOCK_TIMEOUT_MS = 5000;
/** The exit code of `flock --nonblock` when another process has the lock. */
const HELD = 1;

export interface DataLock {
  readonly path: string;
  release(): void;
}

interface LockedAs {
  /** In errors. */
  readonly name: string;
  readonly setting: string;
}

const DATA: LockedAs = { name: 'the data directory', setting: 'MILLRACE_DATA_DIR' };
const AUDIT: LockedAs = { name: 'the directory of the audit log', setting: 'MILLRACE_AUDIT_DIR' };

/**
 * Makes `dir` when it is missing and locks it.
 * @throws MillraceError CONFLICT when another process has it, BAD_CONFIG when it cannot be locked at all
 */
async function lockDirectory(dir: string, as: LockedAs, flock = 'flock'): Promise<DataLock> {
  const path = join(dir, 'lock');
  const descriptor = openLockFile(dir, path, as.setting);
  try {
    const result = await take(flock, descriptor, `${as.name} ${dir}`);
    if (result.exitCode === HELD && result.stderr.trim() === '') {
      const holder = readFileSync(path, 'utf8').trim();
      throw new MillraceError('CONFLICT', `${as.name} ${dir} is in use by ${describeHolder(holder)}`, { dir });
    }
    if (result.timedOut || result.exitCode !== 0) {
      throw new MillraceError('BAD_CONFIG', `${as.name} ${dir} cannot be locked: ${lastWords(result)}`, {
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

export function lockDataDir(dir: string, flock?: string): Promise<DataLock> {
  return lockDirectory(dir, DATA, flock);
}

/** Of the files of the audit log. */
export function lockAuditDir(dir: string): Promise<DataLock> {
  return lockDirectory(dir, AUDIT);
}

function openLockFile(dir: string, path: string, setting: string): number {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `${setting}: ${dir} cannot be used`, { dir }, cause);
  }
}

async function take(flock: string, descriptor: number, what: string): Promise<RunResult> {
  try {
    return await runBounded(flock, ['-n', '3'], { timeoutMs: FLOCK_TIMEOUT_MS, descriptor3: descriptor });
  } catch (cause) {
    throw new MillraceError(
      'BAD_CONFIG',
      `${what} cannot be locked: the program flock (package util-linux) is needed`,
      {},
      cause,
    );
  }
}

function describeHolder(written: string): string {
  return /^\d+$/.test(written) ? `process ${written}` : 'another process';
}
