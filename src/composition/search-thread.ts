/**
 * The thread of the search indexes, seen from the process that lives from its main one. What is too much for one
 * thread is too much for the next: the pause between them grows (answering-thread.ts, AN1).
 *
 *  ST1 every thread is told all indexes when it begins, and again whenever one comes or goes
 */

import { AnsweringThread, type AnsweringThreadOptions } from '../adapters/node/index.js';
import type { DatabaseId } from '../kernel/index.js';
import type { SearchStatus } from '../projections/index.js';
import type { SearchTask, SearchWord } from './search-worker.js';

export interface SearchThreadOptions extends AnsweringThreadOptions<SearchTask> {
  /** As they are at this moment. */
  readonly indexes: () => Iterable<DatabaseId>;
}

/** Vectors are beside it: see docs/adr/0037 for what a document takes. Some two million short documents. */
const DEFAULT_MAX_HEAP_MB = 2048;
const MAX_RESTART_MS = 60_000;
/** Of all databases; the indexes bound those of each. */
const MAX_QUESTIONS = 512;

export class SearchThread extends AnsweringThread<SearchTask, SearchWord, SearchStatus> {
  readonly #indexes: () => Iterable<DatabaseId>;

  constructor(options: SearchThreadOptions) {
    super(options, {
      name: 'search indexes',
      events: 'search',
      limits: { maxOldGenerationSizeMb: options.maxHeapMb ?? DEFAULT_MAX_HEAP_MB },
      maxQuestions: MAX_QUESTIONS,
      maxRestartMs: MAX_RESTART_MS,
      isCaughtUp: (status) => status.isCaughtUp,
    });
    this.#indexes = options.indexes;
  }

  get status(): SearchStatus | undefined {
    return this.lastStatus;
  }

  /** ST1. */
  indexesChanged(): void {
    this.tell({ kind: 'indexes', indexes: [...this.#indexes()] });
  }

  /** Makes every index anew, beside the one that answers. */
  rebuild(): void {
    this.tell({ kind: 'rebuild' });
  }

  protected begun(): void {
    this.indexesChanged();
  }
}
