/** Splits the texts of a field into its terms, and finds these terms in a text again to mark them. */
import { wordsOf } from '../search/index.js';
import type { IndexField } from './definition.js';
import { SLICE_CHARACTERS } from './limits.js';
import { stemmerOf } from './stemmers.js';

export interface Analysis {
  /** The words of a text in parts that take less than a millisecond. */
  wordsByPart(text: string): Iterable<string[]>;
  /** The terms of a text in their order. */
  terms(text: string): string[];
  /** As `terms`, without stems: for prefixes, which have none. */
  words(text: string): string[];
  /** The term of a word. */
  termOf(word: string): string;
  /** In slices: the text with `before` and `after` around each wanted term. */
  marked(text: string, isWanted: (term: string) => boolean, before: string, after: string): Generator<void, string>;
}

export function analysisOf(field: IndexField, language: string): Analysis {
  if (field.isWhole) return WHOLE;
  const stem = field.keepsForms ? undefined : stemmerOf(language);
  const termsOf = (text: string) => (stem === undefined ? wordsOf(text) : wordsOf(text).map(stem));
  return {
    terms: termsOf,
    words: wordsOf,
    wordsByPart: (text) => (text.length <= SLICE_CHARACTERS ? [wordsOf(text)] : wordsByPart(text)),
    termOf: stem ?? itself,
    *marked(text, isWanted, before, after) {
      const marked: string[] = [];
      for (const part of partsOf(text)) {
        marked.push(part.replace(RUNS, (run) => (termsOf(run).some(isWanted) ? `${before}${run}${after}` : run)));
        yield;
      }
      return marked.join('');
    },
  };
}

function* wordsByPart(text: string): Iterable<string[]> {
  for (const part of partsOf(text)) yield wordsOf(part);
}

function itself(word: string): string {
  return word;
}

const RUNS = /[\p{L}\p{M}\p{N}]+/gu;

const SEPARATOR = /[^\p{L}\p{M}\p{N}]/gu;
/** A run of letters as long as that is cut: of its words, 64 characters count anyway. */
const LONGEST_RUN = SLICE_CHARACTERS / 2;

/** The text in parts that end between two words. */
function* partsOf(text: string): Iterable<string> {
  let from = 0;
  while (text.length - from > SLICE_CHARACTERS) {
    const middle = from + SLICE_CHARACTERS - LONGEST_RUN;
    SEPARATOR.lastIndex = 0;
    const after = SEPARATOR.exec(text.slice(middle, middle + LONGEST_RUN))?.index ?? LONGEST_RUN;
    yield text.slice(from, middle + after);
    from = middle + after;
  }
  yield text.slice(from);
}

const WHOLE: Analysis = {
  terms: (text) => [text],
  words: (text) => [text],
  wordsByPart: (text) => [[text]],
  termOf: itself,
  *marked(text, isWanted, before, after) {
    yield;
    return isWanted(text) ? `${before}${text}${after}` : text;
  },
};
