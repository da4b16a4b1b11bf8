/** Headers of a response as records hold them: canonical names, values byte for byte as Latin-1, bounded in number. */

/** What is beyond is left out; their bytes are bounded where they are read. */
export const MAX_RESPONSE_HEADERS = 256;
/** Names seen before, so that each is spelled once. */
const MAX_KNOWN_NAMES = 1000;
const MAX_KNOWN_NAME_BYTES = 64;

const known = new Map<string, string>();

export function canonicalName(name: string): string {
  const before = known.get(name);
  if (before !== undefined) return before;
  const canonical = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  // A copy: the name is a view of the text of a whole answer.
  const key = Buffer.from(name, 'latin1').toString('latin1');
  if (known.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_NAME_BYTES) known.set(key, canonical);
  return canonical;
}
