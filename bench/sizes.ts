/** The sizes of a run: the documented ones, or small ones (`QUICK=1`). */

/** Small sizes answer in a minute whether everything works; its figures say little. */
export function sized(full: number, quick: number): number {
  return process.env.QUICK === undefined ? full : quick;
}
