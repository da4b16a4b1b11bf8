/** The start data of threads and job processes: plain data, which can be cloned. */
import type { NatsOptions } from '../adapters/nats/index.js';
import type { CompactionLimits } from '../journal/index.js';
import type { ReadModelWorkerOptions, SearchIndexesOptions } from '../projections/index.js';

export interface ThreadTask {
  readonly nats: NatsOptions;
  /** Prefix of the installation's names on the server. */
  readonly prefix: string;
}

/** The start data of the compactor, in addition to each job. */
export interface CompactorTask extends ThreadTask {
  readonly limits: CompactionLimits;
}

export interface ReadModelsTask extends ThreadTask {
  readonly file: string;
  /** The file of the statistics. */
  readonly statsFile: string;
  /** Encrypts both files. */
  readonly key?: Uint8Array | undefined;
  readonly options: ReadModelWorkerOptions;
}

export interface SearchTask extends ThreadTask {
  readonly options: Omit<SearchIndexesOptions, 'embedding'>;
  /** The files of the graphs of vectors; undefined: they are not stored. The key encrypts them. */
  readonly graphs?: { readonly directory: string; readonly key?: Uint8Array | undefined };
}
