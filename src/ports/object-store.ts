/**
 * Named immutable objects: snapshot segments and their manifests. A name is written once; an object is visible
 * completely or not at all.
 */
export interface ObjectInfo {
  readonly name: string;
  readonly bytes: number;
}

export interface ObjectStore {
  /** @throws JOURNAL_UNAVAILABLE; the object is then either not visible or complete. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined when there is none. @throws JOURNAL_DAMAGED when its digest does not match. */
  get(name: string): Promise<Uint8Array | undefined>;
  list(prefix: string): Promise<ObjectInfo[]>;
  delete(name: string): Promise<void>;
}
