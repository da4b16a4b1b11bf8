/** Whether there is room to write. Checked before commands that may grow the data. */
export interface StorageGauge {
  /** True while free space is below the reserve that claims, deletes and snapshots need. Free of cost. */
  isFull(): boolean;
}

/** For processes without a storage limit. */
export const ROOMY: StorageGauge = { isFull: () => false };
