/**
 * A destination as a request names it. There are many spellings of one URL, and a call has but one: scheme and host in
 * lower case, an address in figures, no port that is the scheme's own, a path without dots, what is no ASCII encoded.
 */
import { readUrl } from './read-url.js';

/** @returns the text as it is where it is no URL, or holds a user: no call is made of those */
export function calledUrl(text: string): string {
  const url = readUrl(text);
  if (url === undefined) return text;
  const { origin, pathname, search, username, password } = url;
  return origin === 'null' || username !== '' || password !== '' ? text : origin + pathname + search;
}
