/** Finds programs of the machine. A test is skipped where one of its programs is missing. */
import { spawnSync } from 'node:child_process';

/** The first of the programs that the machine does not have, after a line that says so. */
export function missingProgram(...programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing !== undefined) console.log(`    there is no ${missing} here: left out`);
  return missing;
}
