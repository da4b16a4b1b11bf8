/** Whether there is room to write. Asked before anything that may grow is executed. */
export interface StorageGauge {
  /** True while free space is below the reserve that claims, deletes and snapshots need. Costs nothing. */
  isFull(): boolean;
}

/** It serves where nobody watches, or there is nothing to watch. */
export const ROOMY: StorageGauge = { isFull: () => false };
