/** What a thing that was just made keeps in memory, counted after everything else has been collected. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of heap and of buffers. What is made is held until they are counted. */
export function bytesHeldBy(make: () => unknown): number {
  const before = usedBytes();
  const made = [make()];
  const held = usedBytes() - before;
  made.pop();
  return held;
}

/** Bytes that some work allocates, kept or not. Let it be less than a nursery, which is empty when it begins. */
export function bytesAllocatedBy(work: () => void): number {
  const before = usedBytes();
  work();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external - before;
}

function usedBytes(): number {
  // A second time, because what is freed by a finalizer goes with the next.
  for (let i = 0; i < 2; i += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
