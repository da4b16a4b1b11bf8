/**
 * Text → the words that are compared: lower case, without accents, in the form that Unicode calls compatible. Scripts
 * that put no spaces between words give pairs of neighbouring characters. No language is assumed: nothing is stemmed,
 * nothing is left out.
 */

const ASCII_WORDS = /[a-z0-9]+/g;
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** Accents of the European scripts; what other scripts write above and below a letter makes another letter. */
const ACCENTS = /[\u0300-\u036f]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII starts at NUL
const ASCII = /^[\x00-\x7f]*$/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;
const IS_UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Characters of a word that count; the rest of a longer one is not looked at. */
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
