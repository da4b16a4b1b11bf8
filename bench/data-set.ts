/** The keys and values that the large benches load: 16 bytes to a key, 64 to a value. */
import type { Millrace } from './millrace.js';
import { sized } from './sizes.js';

const VALUE_BYTES = 64;
const COMMANDS_PER_PIPELINE = 1000;
const PIPELINES_AT_ONCE = 8;
const PROGRESS_EVERY = 250_000;

export const KEYS = sized(1_000_000, 50_000);

export function keyAt(index: number): string {
  return `key:${String(index).padStart(12, '0')}`;
}

/** Differs from key to key, so that values cannot be shared. */
export function valueAt(index: number, round = 0): string {
  return `${index}-${round}-`.padEnd(VALUE_BYTES, 'abcdefghij');
}

/** Loads keys 0 to `count` through pipelines. @returns milliseconds */
export async function load(millrace: Millrace, count: number, progress: (line: string) => void): Promise<number> {
  const startedAtMs = performance.now();
  let next = 0;
  let loaded = 0;
  const worker = async () => {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + COMMANDS_PER_PIPELINE);
      const commands: string[][] = [];
      for (let i = from; i < next; i += 1) commands.push(['SET', keyAt(i), valueAt(i)]);
      await millrace.post('/pipeline', commands);
      loaded += commands.length;
      if (loaded % PROGRESS_EVERY === 0) progress(`loaded ${loaded} keys`);
    }
  };
  await Promise.all(Array.from({ length: PIPELINES_AT_ONCE }, worker));
  return performance.now() - startedAtMs;
}
