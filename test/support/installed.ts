/** Finds installed programs. A test is skipped if one of its programs is missing. */
import { spawnSync } from 'node:child_process';

/** Returns the first program that is not installed, and prints a line about it. */
export function missingProgram(...programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing !== undefined) console.log(`    there is no ${missing} here: left out`);
  return missing;
}
