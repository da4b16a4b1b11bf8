#!/usr/bin/env node
/**
 * Where the program begins. `make build` makes one file of the two thousand that it consists of (infra/bundle.mjs),
 * which starts in a third of the processor time. Files that were compiled since are newer than it, and run instead.
 */
import { statSync } from 'node:fs';

const BUNDLED = new URL('./bundle/program.js', import.meta.url);
/** Written by every compilation; an installation has none. */
const COMPILED = new URL('../../.tsbuildinfo', import.meta.url);

await import((isCurrent() ? BUNDLED : new URL('./program.js', import.meta.url)).href);

function isCurrent(): boolean {
  const [bundled, compiled] = [BUNDLED, COMPILED].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return bundled !== undefined && bundled >= (compiled ?? 0);
}
