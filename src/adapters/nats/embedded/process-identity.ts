/**
 * The identity of a process: boot, start time and command together. The id alone is not enough, because the system
 * gives it to another process after the first one has ended.
 *
 * Read from Linux's /proc. Without it, no process is identified, and none is ended.
 */
import { readFile } from 'node:fs/promises';

/** Counted from 1 in proc(5), "/proc/pid/stat"; those before it that end the command's name are cut off. */
const STATE_FIELD = 3;
const START_TIME_FIELD = 22;

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot at which the process started. */
  readonly startTicks: string;
  /** Ticks of two boots cannot be compared. */
  readonly bootId: string;
}

/** @returns `undefined` when no such process runs, or it has ended and only waits to be collected */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  // The name is in brackets and may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE_FIELD - STATE_FIELD];
  const startTicks = fields[START_TIME_FIELD - STATE_FIELD];
  if (startTicks === undefined || state === 'Z' || state === 'X' || bootId === '') return undefined;
  return { pid, startTicks, bootId: bootId.trim() };
}

export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid);
  return now !== undefined && now.startTicks === identity.startTicks && now.bootId === identity.bootId;
}

/** Program and arguments; empty when the process has ended. */
export async function commandOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').filter((part) => part !== '');
}
