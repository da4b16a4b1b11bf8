/** A refusal on its way to whoever answers: thrown where the call turns out to be wrong. */
import { badRequest, type Refusal } from '../error-map.js';

export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    /** Names and values that go with it. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(refusal.text);
    this.name = 'Refused';
  }
}

/** A 400 whose text says what is wrong with which part of the call. */
export function invalid(text: string): Refused {
  return new Refused(badRequest(text));
}
