/** Takes away the keys of databases and search indexes that nobody can open any more. */
import type { DatabaseId } from '../kernel/index.js';

export interface DataRemoval {
  /**
   * At once where the owner answers, else as soon as it does; goes on beside the caller. What a process that ends leaves
   * behind is found by the owner of the control shard (actors/control/deleted-data.ts).
   */
  remove(database: DatabaseId, partitions: number): void;
}
