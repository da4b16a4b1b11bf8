/**
 * Parses a URL. `URL.canParse` is not used: once V8 has optimised its caller, Node 20 treats characters from U+0080 to
 * U+00FF as invalid UTF-8 there, and rejects `https://bücher.example`.
 */

/** @returns undefined if the text is not an absolute URL */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
