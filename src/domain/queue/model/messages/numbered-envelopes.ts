/** Numbers for envelopes, so that byte records can refer to them. A number lives while a record uses it. */
import type { SharedEnvelope } from './envelopes.js';

interface Named {
  readonly number: number;
  count: number;
}

export class NumberedEnvelopes {
  readonly #named = new Map<SharedEnvelope, Named>();
  readonly #byNumber: (SharedEnvelope | undefined)[] = [];
  readonly #free: number[] = [];

  /**
   * Adds a reference.
   * @returns the number
   */
  hold(shared: SharedEnvelope): number {
    const known = this.#named.get(shared);
    if (known !== undefined) {
      known.count += 1;
      return known.number;
    }
    const number = this.#free.pop() ?? this.#byNumber.length;
    this.#byNumber[number] = shared;
    this.#named.set(shared, { number, count: 1 });
    return number;
  }

  at(number: number): SharedEnvelope {
    return this.#byNumber[number] as SharedEnvelope;
  }

  release(shared: SharedEnvelope): void {
    const named = this.#named.get(shared) as Named;
    named.count -= 1;
    if (named.count > 0) return;
    this.#named.delete(shared);
    this.#byNumber[named.number] = undefined;
    this.#free.push(named.number);
  }
}
