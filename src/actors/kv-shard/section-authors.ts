/**
 * The authors of the effects that the open turn has of a partition, in order. The journal keeps them with the section,
 * so that a person can find and undo the writes of one user or address.
 *
 *  SAU1 an effect without a client (a removal of an expired key, an eviction) has the author ''
 *  SAU2 a section with effects that were not counted has no authors, because a shifted count would name wrong ones
 */
import type { SectionAuthors } from '../../protocol/index.js';

export class OpenAuthors {
  /** Of the effects that are noted next (SAU1). */
  current = '';
  readonly #names: string[] = [];
  readonly #runs: number[] = [];
  #last: string | undefined;
  #total = 0;
  #isUncertain = false;

  note(effects: number): void {
    if (effects === 0) return;
    const author = this.current;
    this.#total += effects;
    if (author === this.#last) {
      (this.#runs[this.#runs.length - 1] as number) += effects;
      return;
    }
    this.#last = author;
    const known = this.#names.indexOf(author);
    this.#runs.push(known === -1 ? this.#names.push(author) - 1 : known, effects);
  }

  /** The number of effects is not known. */
  spoil(): void {
    this.#isUncertain = true;
  }

  /** @param effects of the section. Undefined: no author is known */
  take(effects: number): SectionAuthors | undefined {
    const isKnown = !this.#isUncertain && this.#total === effects && this.#names.some((name) => name !== '');
    const taken = isKnown ? ([[...this.#names], [...this.#runs]] as const) : undefined;
    this.#names.length = 0;
    this.#runs.length = 0;
    this.#last = undefined;
    this.#total = 0;
    this.#isUncertain = false;
    return taken;
  }
}
