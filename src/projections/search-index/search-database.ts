/** All indexes of one search database. */
import { decodeDocument, type Embedding, SEARCH_LAYOUT } from '../../domain/search/index.js';
import { FoldedDatabase } from './folded-database.js';
import { NamedIndex } from './named-index.js';

export class SearchDatabase extends FoldedDatabase<NamedIndex> {
  constructor(embedding: Embedding) {
    super({
      layout: SEARCH_LAYOUT,
      dimensions: embedding.dimensions,
      create: () => new NamedIndex(embedding),
      put: (index, id, stored) => index.put(id, decodeDocument(stored), stored.length),
    });
  }
}
