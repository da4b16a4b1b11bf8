/** The processors and the memory that this process may use, and the number of workers that fits them. */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

export interface MachineSize {
  readonly processors: number;
  readonly memoryBytes: number;
  /** The limit of a worker's heap, which is that of this process. */
  readonly heapBytes: number;
}

const MIB = 1024 * 1024;
/** For the supervisor and the nats-server. */
const SHARED_BYTES = 512 * MIB;
/** The memory of a worker for its heap, with code, buffers, SQLite and jobs. */
const BYTES_PER_HEAP_BYTE = 1.25;
const PROCESSORS_PER_WORKER = 2;
const MOST_WORKERS = 64;

/** One worker for two processors, and never more than the memory allows. */
export function workersFor({ processors, memoryBytes, heapBytes }: MachineSize): number {
  const byMemory = Math.floor((memoryBytes - SHARED_BYTES) / (heapBytes * BYTES_PER_HEAP_BYTE));
  const byProcessors = Math.floor(processors / PROCESSORS_PER_WORKER);
  return Math.max(1, Math.min(byProcessors, byMemory, MOST_WORKERS));
}

/** @param cgroup the directory with the limits of a container; without one, the machine's own counts */
export function machineSize(cgroup = '/sys/fs/cgroup'): MachineSize {
  const [quota = Number.NaN, period = Number.NaN] = numbersIn(`${cgroup}/cpu.max`);
  const [memory = Number.NaN] = numbersIn(`${cgroup}/memory.max`);
  const processors = Number.isNaN(quota / period) ? Number.POSITIVE_INFINITY : Math.ceil(quota / period);
  return {
    processors: Math.min(availableParallelism(), processors),
    memoryBytes: Math.min(totalmem(), Number.isNaN(memory) ? Number.POSITIVE_INFINITY : memory),
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}

/** `max` means that there is no limit. */
function numbersIn(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').trim().split(' ').map(Number);
  } catch {
    return [];
  }
}
