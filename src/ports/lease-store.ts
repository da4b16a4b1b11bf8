/**
 * Small records with compare-and-set: sessions, shard leases, the layout. A lease says which process *should* write;
 * the journal alone decides which can.
 */
export interface LeaseRecord {
  readonly value: Uint8Array;
  /** Grows with every change of this key. */
  readonly revision: number;
  /** When it was stored, in milliseconds since the Unix epoch, by the clock of the store. */
  readonly storedAtMs: number;
}

export type LeaseOutcome =
  | { readonly kind: 'stored'; readonly revision: number }
  /** The record has another revision (or exists already, for `create`). */
  | { readonly kind: 'conflict' }
  /** It may have been stored: read it before any decision. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

export interface LeaseStore {
  /** @throws JOURNAL_UNAVAILABLE */
  get(key: string): Promise<LeaseRecord | undefined>;
  /** @throws JOURNAL_UNAVAILABLE */
  keys(prefix: string): Promise<string[]>;
  create(key: string, value: Uint8Array): Promise<LeaseOutcome>;
  update(key: string, value: Uint8Array, revision: number): Promise<LeaseOutcome>;
  /** Best effort; for keys of sessions that ended. */
  delete(key: string): Promise<void>;
}
