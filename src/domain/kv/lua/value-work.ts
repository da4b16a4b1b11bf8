/**
 * What reads or writes a value for a script. It begins in its call, where most of it ends; what is longer goes on in steps.
 * What it has come to is its state, and no call within a call, so that it can stop after each value.
 */
import type { Steps } from '../steps.js';
import type { State } from './lua-api.js';
import type { LuaMachine } from './machine.js';
import { RAISED } from './run-slices.js';

export abstract class ValueWork {
  #aside: Steps<void> | undefined;

  constructor(
    protected readonly machine: LuaMachine,
    protected readonly state: State,
  ) {}

  /** What the function returns that does it. @throws Stopped, as `inSteps` */
  run(): number {
    const results = this.goOn();
    if (results === undefined) return this.machine.slices.inSteps(this.state, this.#steps());
    return results === RAISED ? this.machine.raise(this.state) : results;
  }

  /** Does some more of it, about a tenth of a millisecond. @returns how many results lie on the stack, or `RAISED`, when it is over */
  protected abstract goOn(): number | undefined;

  /** Begins with what may be long by itself. If that is not done at once it will be before `goOn` is called again. */
  protected isDone(aside: Steps<void>): boolean {
    if (aside.next().done === true) return true;
    this.#aside = aside;
    return false;
  }

  *#steps(): Steps<number> {
    for (;;) {
      yield;
      if (this.#aside !== undefined) yield* this.#aside;
      this.#aside = undefined;
      const results = this.goOn();
      if (results !== undefined) return results;
    }
  }
}
