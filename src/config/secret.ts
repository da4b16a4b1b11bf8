/**
 * A setting that must not be shown: it prints as asterisks wherever something prints it by accident
 * (string templates, JSON, `console.log`, an assertion's message) and has one road to its text.
 */
import { inspect } from 'node:util';

/** It has the same length for every secret, and so says nothing about what it hides. */
export const MASK = '********';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Whoever calls this keeps it out of logs, errors and metrics. */
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
