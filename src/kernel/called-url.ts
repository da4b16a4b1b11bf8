/**
 * A destination as a request names it. There are many spellings of one URL, and a call has but one: scheme and host in
 * lower case, an address in figures, no port that is the scheme's own, a path without dots, what is no ASCII encoded.
 */
import { readUrl } from './read-url.js';
import { Remembered } from './remembered.js';

/** Most messages go where others went before; longer texts are read each time, so that the memory of them stays small. */
const MAX_KNOWN = 2000;
const MAX_KNOWN_CHARACTERS = 512;
const known = new Remembered<string, string>(MAX_KNOWN);

/** @returns the text as it is where it is no URL, or holds a user: no call is made of those */
export function calledUrl(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const called = readCalled(text);
  if (text.length <= MAX_KNOWN_CHARACTERS) known.set(text, called);
  return called;
}

function readCalled(text: string): string {
  const url = readUrl(text);
  if (url === undefined) return text;
  const { origin, pathname, search, username, password } = url;
  return origin === 'null' || username !== '' || password !== '' ? text : origin + pathname + search;
}
