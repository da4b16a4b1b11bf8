/** Measures the memory of a new value, after a garbage collection of everything else. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The bytes of heap and buffers that the made value holds. */
export function bytesHeldBy(make: () => unknown): number {
  const before = usedBytes();
  const made = [make()];
  const held = usedBytes() - before;
  made.pop();
  return held;
}

/**
 * The bytes that a piece of work allocates. They must be less than the size of the young generation, which is empty
 * at the start.
 */
export function bytesAllocatedBy(work: () => void): number {
  const before = usedBytes();
  work();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external - before;
}

function usedBytes(): number {
  // Collects twice, because memory that finalizers release is freed by the next collection.
  for (let i = 0; i < 2; i += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
