/** Answers that several operations share, each once in the document: repeated refusals would be half of it. */
import type { Answered, AnswerReference } from './parts.js';

export class SharedAnswers {
  readonly #byName = new Map<string, Answered>();

  /** @param name used as it is if free; otherwise with a number appended */
  referenceTo(name: string, answer: Answered): AnswerReference {
    const text = JSON.stringify(answer);
    for (let number = 1; ; number += 1) {
      const numbered = number === 1 ? name : `${name}_${number}`;
      const known = this.#byName.get(numbered);
      if (known === undefined) this.#byName.set(numbered, answer);
      else if (JSON.stringify(known) !== text) continue;
      return { $ref: `#/components/responses/${numbered}` };
    }
  }

  all(): Readonly<Record<string, Answered>> {
    return Object.fromEntries(this.#byName);
  }
}
