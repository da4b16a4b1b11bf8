/**
 * Loaded before the tests: with `TEST_TIMES=<file>` a line is added to that file for each test file, `<ms> <processor ms> <test file>`.
 * CI lists the slowest of them. The processor time includes that of the programs that the file started, once they have ended. A test has all that came before it since the last one, so hooks and loading are counted.
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
  /** A run that is killed has lost one file at most. In parallel mode `afterAll` comes after each file, else after the last. */
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
