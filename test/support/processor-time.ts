import { readFileSync } from 'node:fs';

/** Processor time of the process: a test judges work by it, because it is the same on a busy machine and on a quiet one. */

/** Microseconds since the process began, of all its threads. */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Milliseconds that some work takes. */
export function processorMsOf(work: () => void): number {
  const before = processorMicros();
  work();
  return (processorMicros() - before) / 1000;
}

/** Linux counts the processor time of a process in steps of 10 ms. */
const TICK_MS = 10;

/** Milliseconds since another process began, of all its threads. @param pid a process on this machine */
export function processorMsOfProcess(pid: number): number {
  return sum(processorTimes(pid).slice(0, 2));
}

/** Milliseconds of this process and of all programs that it started and that have ended. */
export function processorMsWithEndedChildren(): number {
  return sum(processorTimes('self'));
}

/** User, system, and both of ended children. */
function processorTimes(pid: number | 'self'): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_MS);
}

function sum(all: readonly number[]): number {
  return all.reduce((total, one) => total + one, 0);
}
