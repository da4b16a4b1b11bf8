/** Tests the simulation itself: with a deliberately broken promise, at least one seed fails. */
import { expect } from 'chai';
import type { TakeOff } from '../support/patched.js';
import type { Violation } from './violation.js';

/** Breaks the promise of its name by decorators of the parts of simulated processes. */
export type DeliberateBug = () => TakeOff[];

export function failsWithBugs(
  bugs: Record<string, DeliberateBug>,
  maxSeeds: number,
  run: (seed: number) => Promise<{ readonly violation: Violation | undefined }>,
): void {
  for (const [name, putIn] of Object.entries(bugs)) {
    it(`fails with the bug ${name}`, async function () {
      this.timeout(0);
      const decorators = putIn();
      try {
        for (let seed = 1; seed <= maxSeeds; seed += 1) {
          const { violation } = await run(seed);
          if (violation === undefined) continue;
          console.log(`      seed ${seed}: ${violation.message.split('\n')[0]}`);
          return;
        }
      } finally {
        for (const takeOff of decorators) takeOff();
      }
      expect.fail(`${maxSeeds} seeds did not notice`);
    });
  }
}
