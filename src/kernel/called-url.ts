/**
 * A destination as a request names it. There are many spellings of one URL, and a call has but one: scheme and host in
 * lower case, an address in figures, no port that is the scheme's own, a path without dots, what is no ASCII encoded.
 */
import { readUrl } from './read-url.js';
import { Remembered } from './remembered.js';

/** Messages by the thousand go to the same few, and reading one takes some microseconds. */
const remembered = new Remembered<string, string>(1000);
/** Longer ones are not remembered. */
const REMEMBERED_CHARACTERS = 512;

/** @returns the text as it is where it is no URL, or holds a user: no call is made of those */
export function calledUrl(text: string): string {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const called = readCalledUrl(text);
  if (text.length <= REMEMBERED_CHARACTERS) remembered.set(text, called);
  return called;
}

function readCalledUrl(text: string): string {
  const url = readUrl(text);
  if (url === undefined) return text;
  const { origin, pathname, search, username, password } = url;
  return origin === 'null' || username !== '' || password !== '' ? text : origin + pathname + search;
}
