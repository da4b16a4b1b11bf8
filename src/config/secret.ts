/**
 * A secret setting: it prints as asterisks if it is printed by accident (string templates, JSON, `console.log`, an
 * assertion's message); only `reveal` returns its text.
 */
import { inspect } from 'node:util';

/** The same length for every secret, so that it shows no property of the text. */
export const MASK = '********';

export class Secret {
  readonly #text: string;

  /** @param isReference  the text names the place of the secret (secret-reference.ts) */
  constructor(
    text: string,
    readonly isReference = false,
  ) {
    this.#text = text;
  }

  /** The secret text. Callers keep it out of logs, errors and metrics. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
