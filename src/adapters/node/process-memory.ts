/**
 * The memory of one process for its tenants: well below the heap limit; the rest is for requests, answers, the process
 * itself and uncollected garbage.
 */

import { hostname, networkInterfaces, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { ProcessReadings } from '../../ports/index.js';

/** The address of this machine for clients on others. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '::0']);

/**
 * @param bound the address that an endpoint listens on
 * @returns the same, or for "every address" the machine's first one that others can reach; its name if it has none
 */
export function reachableAddress(bound: string): string {
  if (!WILDCARDS.has(bound)) return bound;
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (outer.find(({ family }) => family === 'IPv4') ?? outer[0])?.address ?? hostname();
}

/** Node's facts about the process. */
export class NodeReadings implements ProcessReadings {
  readonly pid = process.pid;
  readonly platform = `${process.platform} ${process.arch}`;
  readonly executable = process.execPath;

  get machineBytes(): number {
    return totalmem();
  }

  memory(): { readonly heapUsed: number; readonly rss: number } {
    return process.memoryUsage();
  }

  processorTime(): { readonly user: number; readonly system: number } {
    return process.cpuUsage();
  }
}

/** The part of the heap limit for all of it. */
const OF_HEAP = 0.75;
/** The part of that for keys and values by their counted size; in the heap they take 0.75 to 1.6 times as much. */
const FOR_DATA = 0.55;

/**
 * Waiting messages by their counted size, and their bodies in memory. 670,000 small ones of one account at the heap of
 * `make run`.
 */
const FOR_QUEUE = 0.25;
/** Requests in progress with their answers. */
const FOR_REQUESTS = 0.2;
/**
 * Copies of databases for triggers with values or filters, and while a trigger sends a snapshot; most processes have
 * none. Half of it, the part of one account, holds a million keys of 64 bytes at the heap of `make run`.
 */
const FOR_TRIGGERS = 0.4;

export interface ProcessMemory {
  readonly dataBytes: number;
  readonly queueBytes: number;
  readonly requestBytes: number;
  readonly triggerBytes: number;
}

/** @param givenBytes  MILLRACE_MEMORY_BYTES; undefined: by the heap limit */
export function processMemory(
  givenBytes: number | undefined,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
): ProcessMemory {
  const bytes = givenBytes ?? heapLimitBytes * OF_HEAP;
  return {
    dataBytes: Math.floor(bytes * FOR_DATA),
    queueBytes: Math.floor(bytes * FOR_QUEUE),
    requestBytes: Math.floor(bytes * FOR_REQUESTS),
    triggerBytes: Math.floor(bytes * FOR_TRIGGERS),
  };
}
