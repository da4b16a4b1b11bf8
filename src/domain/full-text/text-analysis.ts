/** Splits the texts of a field into its terms, and finds these terms in a text again to mark them. */
import { wordsOf } from '../search/index.js';
import type { IndexField } from './definition.js';
import { stemmerOf } from './stemmers.js';

export interface Analysis {
  /** The terms of a text in their order. */
  terms(text: string): string[];
  /** As `terms`, without stems: for prefixes, which have none. */
  words(text: string): string[];
  /** The term of a word. */
  termOf(word: string): string;
  /** The text with `before` and `after` around each part whose term is wanted. */
  marked(text: string, isWanted: (term: string) => boolean, before: string, after: string): string;
}

export function analysisOf(field: IndexField, language: string): Analysis {
  if (field.isWhole) return WHOLE;
  const stem = field.keepsForms ? undefined : stemmerOf(language);
  const termsOf = (text: string) => (stem === undefined ? wordsOf(text) : wordsOf(text).map(stem));
  return {
    terms: termsOf,
    words: wordsOf,
    termOf: stem ?? itself,
    marked: (text, isWanted, before, after) =>
      text.replace(RUNS, (run) => (termsOf(run).some(isWanted) ? `${before}${run}${after}` : run)),
  };
}

function itself(word: string): string {
  return word;
}

const RUNS = /[\p{L}\p{M}\p{N}]+/gu;

const WHOLE: Analysis = {
  terms: (text) => [text],
  words: (text) => [text],
  termOf: itself,
  marked: (text, isWanted, before, after) => (isWanted(text) ? `${before}${text}${after}` : text),
};
