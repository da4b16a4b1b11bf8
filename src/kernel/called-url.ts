/**
 * Normalises a destination URL to the form that is called: scheme and host in lower case, an IPv4 address in dotted
 * decimal, no default port, a path without dot segments, other than ASCII characters encoded.
 */

import { BoundedCache } from './bounded-cache.js';
import { readUrl } from './read-url.js';

/** Most messages go to known destinations. Longer texts are not cached, to bound the cache's memory. */
const MAX_KNOWN = 2000;
const MAX_KNOWN_CHARACTERS = 512;
const known = new BoundedCache<string, string>(MAX_KNOWN);

/** @returns the unchanged text if it is not a URL or contains credentials: those are never called */
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
