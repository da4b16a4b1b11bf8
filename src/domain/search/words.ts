/**
 * Splits a text into comparable words: lower case, without accents, in Unicode's compatibility form. Scripts without
 * spaces between words give pairs of neighbouring characters. No language is assumed: words are neither stemmed nor
 * left out.
 */

const ASCII_WORDS = /[a-z0-9]+/g;
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** Accents of European scripts only: marks of other scripts make a different letter. */
const ACCENTS = /[\u0300-\u036f]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII starts at NUL
const ASCII = /^[\x00-\x7f]*$/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;
const IS_UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Compared characters of a word; the rest of a longer one is ignored. */
export const MAX_WORD_CHARACTERS = 64;

export function wordsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const isAscii = ASCII.test(lower);
  const words = isAscii ? lower.match(ASCII_WORDS) : folded(lower).match(WORDS);
  if (words === null) return [];
  const spaced = isAscii ? words : words.flatMap(unspacedPairs);
  return spaced.map((word) => (word.length > MAX_WORD_CHARACTERS ? word.slice(0, MAX_WORD_CHARACTERS) : word));
}

function folded(lower: string): string {
  return lower.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase();
}

function unspacedPairs(word: string): string[] {
  const runs = word.match(UNSPACED) ?? [];
  return runs.flatMap((run) => {
    if (!IS_UNSPACED.test(run)) return [run];
    const characters = [...run];
    if (characters.length === 1) return [run];
    return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
  });
}
