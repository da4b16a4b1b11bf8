/**
 * The words of an index. Prefixes and misspellings are found in the library's radix tree; the ranking weighs the
 * results.
 *
 *  VO1 the found words and their order depend on the words alone, not on the order in which they came: a rebuilt
 *      index ranks like the old one
 */
import SearchableMap from 'minisearch/SearchableMap';
import { Postings } from '../../domain/search/index.js';

export interface IndexedTerm {
  readonly text: string;
  readonly postings: Postings;
  /** Existing documents with the word. */
  documents: number;
  /** The index in the list of all words. */
  place: number;
}

export interface Variant {
  readonly term: IndexedTerm;
  /** Added or changed characters. */
  readonly distance: number;
}

export class Vocabulary {
  readonly #byText = new Map<string, IndexedTerm>();
  readonly #tree = new SearchableMap<IndexedTerm>();
  readonly #all: IndexedTerm[] = [];

  get size(): number {
    return this.#all.length;
  }

  get(text: string): IndexedTerm | undefined {
    return this.#byText.get(text);
  }

  at(place: number): IndexedTerm | undefined {
    return this.#all[place];
  }

  fetch(text: string): IndexedTerm {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const term: IndexedTerm = { text, postings: new Postings(), documents: 0, place: this.#all.length };
    this.#byText.set(text, term);
    this.#tree.set(text, term);
    this.#all.push(term);
    return term;
  }

  /** The last word takes its place in the list. */
  delete(term: IndexedTerm): void {
    this.#byText.delete(term.text);
    this.#tree.delete(term.text);
    const last = this.#all.pop() as IndexedTerm;
    if (last === term) return;
    last.place = term.place;
    this.#all[last.place] = last;
  }

  /** Longer words with this prefix, those in most documents first. */
  withPrefix(prefix: string, most: number): Variant[] {
    const found: Variant[] = [];
    for (const [text, term] of this.#tree.atPrefix(prefix)) {
      if (text !== prefix && term.documents > 0) found.push({ term, distance: text.length - prefix.length });
    }
    return found.sort(byDocuments).slice(0, most);
  }

  /** Other words within `maxDistance` changes, nearest first; two swapped neighbours are one change. */
  likeWord(text: string, maxDistance: number, most: number): Variant[] {
    const distances = new Map<IndexedTerm, number>();
    for (const [, [term, distance]] of this.#tree.fuzzyGet(text, maxDistance)) {
      if (distance > 0) distances.set(term, distance);
    }
    for (let at = 0; at + 1 < text.length; at += 1) {
      const swapped = `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`;
      const term = swapped === text ? undefined : this.#byText.get(swapped);
      if (term !== undefined) distances.set(term, 1);
    }
    return [...distances]
      .filter(([{ documents }]) => documents > 0)
      .map(([term, distance]) => ({ term, distance }))
      .sort((a, b) => a.distance - b.distance || byDocuments(a, b))
      .slice(0, most);
  }
}

function byDocuments({ term: a }: Variant, { term: b }: Variant): number {
  return b.documents - a.documents || (a.text < b.text ? -1 : 1);
}
