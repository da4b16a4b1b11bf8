/** What of a document's content can be searched: every scalar value, and the names of the fields. */
import type { JsonObject } from './documents.js';
import { wordsOf } from './words.js';

export interface SearchableText {
  /** In the order of the document: names and values. */
  readonly words: readonly string[];
  /** Values alone, as they would be read. */
  readonly valueText: string;
  /**
   * What a query has to say to mean exactly this document, each as words with one space between: one value, all
   * values, names and values.
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
