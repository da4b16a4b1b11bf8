/**
 * A URL, where a text is one. `URL.canParse` is not used: once the engine has compiled its caller, Node 20 takes
 * characters from U+0080 to U+00FF for broken UTF-8 there, and says that `https://bücher.example` is no URL.
 */

/** @returns undefined for what is no absolute URL */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
