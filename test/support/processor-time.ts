import { readFileSync } from 'node:fs';

/** CPU time of processes. Tests measure work by it, because it is the same on a busy and on a quiet machine. */

/** CPU time in microseconds since the start of the process, of all its threads. */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** CPU time of a piece of work, in milliseconds. */
export function processorMsOf(work: () => void): number {
  const before = processorMicros();
  work();
  return (processorMicros() - before) / 1000;
}

/** Linux counts the CPU time of a process in steps of 10 ms. */
const TICK_MS = 10;

/**
 * CPU time in milliseconds since the start of another process, of all its threads. @param pid a process on this
 * machine
 */
export function processorMsOfProcess(pid: number): number {
  return sum(processorTimes(pid).slice(0, 2));
}

/** CPU time in milliseconds of this process and of its ended child processes. */
export function processorMsWithEndedChildren(): number {
  return sum(processorTimes('self'));
}

/** User and system time, of the process and of its ended children. */
function processorTimes(pid: number | 'self'): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_MS);
}

function sum(all: readonly number[]): number {
  return all.reduce((total, one) => total + one, 0);
}
