/**
 * What one process may hold in memory for its tenants. It is well below the heap at which the runtime ends the process;
 * the rest is for requests and answers, the process itself, and what the collector has not taken back yet.
 */
import { getHeapStatistics } from 'node:v8';

/** The part of the heap limit that everything may hold together. */
const OF_HEAP = 0.75;
/** The part of that for keys and values as they count themselves: in the heap they are 0.75 to 1.6 times as much. */
const FOR_DATA = 0.55;

/**
 * Messages that wait, as they count themselves, and their bodies as far as those are in memory. 670,000 small ones of one
 * account at the heap of `make run`.
 */
const FOR_QUEUE = 0.25;
/** What requests on their way hold, with their answers. */
const FOR_REQUESTS = 0.2;

export interface ProcessMemory {
  readonly dataBytes: number;
  readonly queueBytes: number;
  readonly requestBytes: number;
}

/** @param givenBytes MILLRACE_MEMORY_BYTES; undefined: by the heap limit */
export function processMemory(
  givenBytes: number | undefined,
  heapLimitBytes = getHeapStatistics().heap_size_limit,
): ProcessMemory {
  const bytes = givenBytes ?? heapLimitBytes * OF_HEAP;
  return {
    dataBytes: Math.floor(bytes * FOR_DATA),
    queueBytes: Math.floor(bytes * FOR_QUEUE),
    requestBytes: Math.floor(bytes * FOR_REQUESTS),
  };
}
