/** A document index, and queries of it that run to their end. */
import { encodeDocument, HashedNgrams, type StoredDocument } from '../../src/domain/search/index.js';
import type { SearchHit, SearchQuery } from '../../src/ports/index.js';
import { NamedIndex, rank } from '../../src/projections/index.js';

export const PLAIN_QUERY: SearchQuery = {
  text: '',
  topK: 10,
  filter: '',
  semanticWeight: 0.75,
  reranking: false,
  includeData: false,
  includeMetadata: false,
};

export class SearchStand {
  readonly index = new NamedIndex(new HashedNgrams());

  put(id: string, document: StoredDocument): void {
    this.index.put(id, document, encodeDocument(document).length);
  }

  /** Writes documents with one field. */
  putTexts(texts: Readonly<Record<string, string>>): void {
    for (const [id, text] of Object.entries(texts)) this.put(id, { content: { text } });
  }

  /** @param betweenSlices called at each pause of the search */
  search(text: string, changes: Partial<SearchQuery> = {}, betweenSlices: () => void = () => {}): SearchHit[] {
    const search = rank(this.index, { ...PLAIN_QUERY, ...changes, text });
    for (;;) {
      const step = search.next();
      if (step.done === true) return step.value;
      betweenSlices();
    }
  }

  ids(text: string, changes: Partial<SearchQuery> = {}): string[] {
    return this.search(text, changes).map(({ id }) => id);
  }

  sweep(): void {
    for (const _ of this.index.sweep());
  }
}
