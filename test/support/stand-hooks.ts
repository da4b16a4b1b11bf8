/** Stands that mocha starts before its tests and stops after them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server, a process or a group of parts that tests use. */
type Stoppable = { stop(): unknown } | { end(): unknown } | { close(): unknown };

/** Starts a stand for each test. @returns an object that refers to the stand of the running test */
export function standOfEachTest<T extends Stoppable>(start: () => Promise<T>): T {
  return hooked(start, beforeEach, afterEach);
}

/** Starts one stand for all tests of the block. @returns an object that refers to it from the first test on */
export function standOfAllTests<T extends Stoppable>(start: () => Promise<T>): T {
  return hooked(start, before, after);
}

type Hook = (run: () => Promise<void>) => void;

function hooked<T extends Stoppable>(start: () => Promise<T>, begin: Hook, finish: Hook): T {
  let stand: T | undefined;
  begin(async () => {
    stand = await start();
  });
  finish(async () => {
    const started = stand;
    stand = undefined;
    if (started === undefined) return;
    if ('stop' in started) await started.stop();
    else if ('end' in started) await started.end();
    else await started.close();
  });
  const present = (): T => {
    if (stand === undefined) throw new Error('the stand is used outside of its tests');
    return stand;
  };
  return new Proxy({} as T, {
    // Members see the stand itself, because private fields are not reachable through a proxy.
    get: (_, name) => {
      const member: unknown = Reflect.get(present(), name);
      return typeof member === 'function' ? member.bind(present()) : member;
    },
    set: (_, name, value) => Reflect.set(present(), name, value),
    has: (_, name) => Reflect.has(present(), name),
  });
}

/** Creates an empty directory for each test, or one for all tests of the block. @returns an object with its path */
export function directoryOf(tests: 'each test' | 'all tests'): { readonly path: string } {
  const start = async () => {
    const path = await mkdtemp(join(tmpdir(), 'millrace-test-'));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  };
  return tests === 'each test' ? standOfEachTest(start) : standOfAllTests(start);
}
