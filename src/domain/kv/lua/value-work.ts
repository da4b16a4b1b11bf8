/**
 * Base of functions that read or write a value for a script. The work starts within the call, where most of it ends;
 * longer work continues in slices. Its progress is kept in fields instead of recursive calls, so that it can stop after
 * each value.
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

  /** Does the work; the host function must return the result. @throws Stopped, as `inSteps` */
  run(): number {
    const results = this.goOn();
    if (results === undefined) return this.machine.slices.inSteps(this.state, this.#steps());
    return results === RAISED ? this.machine.raise(this.state) : results;
  }

  /** Continues for about 0.1 ms. @returns the number of results on the stack, or `RAISED`, when done */
  protected abstract goOn(): number | undefined;

  /** Starts a long subtask; if it is not done immediately it is finished before `goOn` is called again. */
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
