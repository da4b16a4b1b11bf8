/** How large a run is: as it is documented, or quick (`QUICK=1`). */

/** Small sizes answer in a minute whether everything works; its figures say little. */
export function sized(full: number, quick: number): number {
  return process.env.QUICK === undefined ? full : quick;
}
