/**
 * Loaded before the tests: with `TEST_TIMES=<file>` each test file adds the line `<ms> <processor ms> <test file>` to
 * that file. CI lists the slowest test files. The processor time includes ended child processes. The time between two
 * tests, such as hooks and loading, counts for the later test.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { RootHookObject } from 'mocha';
import { processorMsWithEndedChildren } from './processor-time.js';

const target = process.env.TEST_TIMES;

export const mochaHooks: RootHookObject = target === undefined || target === '' ? {} : hooksThatWriteTo(target);

function hooksThatWriteTo(path: string): RootHookObject {
  let file: string | undefined;
  let beganMs = performance.now();
  let beganProcessorMs = processorMsWithEndedChildren();
  let endedMs = beganMs;
  let endedProcessorMs = beganProcessorMs;
  /**
   * Writes the line of a test file as soon as the next file starts, so that a killed run loses the line of one file
   * only. In parallel mode `afterAll` runs after each file, otherwise after the last.
   */
  const write = (): void => {
    if (file === undefined) return;
    const times = [endedMs - beganMs, endedProcessorMs - beganProcessorMs].map(Math.round);
    appendFileSync(path, `${times.join(' ')} ${relative('dist/test', file)}\n`);
    file = undefined;
    [beganMs, beganProcessorMs] = [endedMs, endedProcessorMs];
  };
  return {
    afterEach(this: Mocha.Context) {
      const { file: own } = this.currentTest ?? {};
      if (own !== file) write();
      file = own;
      [endedMs, endedProcessorMs] = [performance.now(), processorMsWithEndedChildren()];
    },
    afterAll() {
      write();
    },
  };
}
