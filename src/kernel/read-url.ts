/**
 * Parses a URL. `URL.canParse` is not used: once V8 has optimised its caller, Node 20 treats characters from U+0080 to
 * U+00FF as invalid UTF-8 there, and rejects `https://bücher.example`.
 */
import { BoundedCache } from './maps.js';

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

/** @returns undefined if the text is not an absolute URL */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
