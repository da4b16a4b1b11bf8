/** Headers of a response as records hold them: canonical names, values byte for byte as Latin-1, bounded in number. */
import type { OutgoingCall } from '../../ports/index.js';

type HeaderList = OutgoingCall['headers'];

/** What is beyond is left out; their bytes are bounded where they are read. */
const MAX_RESPONSE_HEADERS = 256;
/** Names seen before, so that each is spelled once. */
const MAX_KNOWN_NAMES = 1000;
const MAX_KNOWN_NAME_BYTES = 64;

const known = new Map<string, string>();

/** @param raw names and values by turns */
export function responseHeaders(raw: readonly Buffer[]): HeaderList {
  const headers: (readonly [string, string])[] = [];
  const end = Math.min(raw.length - 1, 2 * MAX_RESPONSE_HEADERS);
  for (let at = 0; at < end; at += 2) {
    headers.push([canonicalName((raw[at] as Buffer).toString('latin1')), (raw[at + 1] as Buffer).toString('latin1')]);
  }
  return headers;
}

function canonicalName(name: string): string {
  const before = known.get(name);
  if (before !== undefined) return before;
  const canonical = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  if (known.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_NAME_BYTES) known.set(name, canonical);
  return canonical;
}
