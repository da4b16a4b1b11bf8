import module from 'node:module';

/**
 * Writes compiled code to the cache that `cli/main.ts` enables, so it is there even if the process is killed. Node.js before
 * 22.10 has no such call and writes at its end, Node.js 20 never.
 */
export function flushCompileCache(): void {
  (module as typeof module & { flushCompileCache?(): void }).flushCompileCache?.();
}
