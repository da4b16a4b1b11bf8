/** The searchable text of a document's content: every scalar value, and the names of the fields. */
import type { JsonObject } from './documents.js';
import { wordsOf } from './words.js';

export interface SearchableText {
  /** Names and values in the order of the document. */
  readonly words: readonly string[];
  /** Values only, as readable text. */
  readonly valueText: string;
  /**
   * Texts of a query that match this document exactly, as words with one space between: one value, all values, names
   * and values.
   */
  readonly exactTexts: ReadonlySet<string>;
}

export function searchableText(content: JsonObject): SearchableText {
  const words: string[] = [];
  const valueWords: string[] = [];
  const values: string[] = [];
  const exactTexts = new Set<string>();
  const visit = (value: unknown) => {
    if (Array.isArray(value)) {
      for (const element of value) visit(element);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value)) {
        words.push(...wordsOf(name));
        visit(part);
      }
    } else if (value !== null && value !== undefined) {
      const text = String(value);
      const own = wordsOf(text);
      values.push(text);
      words.push(...own);
      valueWords.push(...own);
      exactTexts.add(own.join(' '));
    }
  };
  visit(content);
  exactTexts.add(valueWords.join(' '));
  exactTexts.add(words.join(' '));
  exactTexts.delete('');
  return { words, valueText: values.join(' '), exactTexts };
}
