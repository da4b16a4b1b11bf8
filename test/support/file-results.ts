/**
 * Results of test files for CI, loaded before the tests.
 *
 * With `TEST_TIMES=<path>` each test file adds the line `<ms> <processor ms> <test file>` to the file at that path. CI
 * lists the slowest test files. The processor time includes ended child processes. The time between two tests, such as
 * hooks and loading, counts for the later test.
 *
 * With `TEST_FAILURES=<path>` each test file with a test that failed, or did not run because a hook failed, adds its path.
 * CI runs these files again.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { RootHookObject } from 'mocha';
import { processorMsWithEndedChildren } from './processor-time.js';

const { TEST_TIMES = '', TEST_FAILURES = '' } = process.env;
const writers = [
  ...(TEST_TIMES === '' ? [] : [writerOfTimes(TEST_TIMES)]),
  ...(TEST_FAILURES === '' ? [] : [writerOfFailures(TEST_FAILURES)]),
];

export const mochaHooks: RootHookObject = {
  afterEach: writers.flatMap(({ afterEach }) => afterEach ?? []),
  afterAll: writers.flatMap(({ afterAll }) => afterAll ?? []),
};

function writerOfTimes(path: string): RootHookObject {
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

function writerOfFailures(path: string): RootHookObject {
  return {
    afterAll(this: Mocha.Context) {
      const files = new Set<string>();
      this.test?.parent?.eachTest((test) => {
        const isRun = test.state === 'passed' || test.isPending();
        if (!isRun && test.file !== undefined) files.add(relative('.', test.file));
      });
      for (const file of files) appendFileSync(path, `${file}\n`);
    },
  };
}
