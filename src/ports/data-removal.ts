/** Removes the keys of deleted databases and search indexes. */
import type { DatabaseId } from '../kernel/index.js';

export interface DataRemoval {
  /**
   * Starts immediately, retries until the owner answers, and does not block the caller. Removals that an ended process
   * did not complete are found by the owner of the control shard (actors/control/deleted-data.ts).
   */
  remove(database: DatabaseId, partitions: number): void;
}
