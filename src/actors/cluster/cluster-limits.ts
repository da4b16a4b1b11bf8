/** Bounds of reading the cluster's status and of steering it. */

/** Each restart of a drained process leaves a record. More than this is no ordinary maintenance. */
export const MAX_DRAINED = 64;
/** Tries of a change to the wishes when other changes are stored at the same moment. */
export const MAX_WISH_TRIES = 10;
/** A healthy process answers in milliseconds; one that takes longer is shown as silent. */
export const PROCESS_ANSWER_MS = 1_000;
/** All readers of the status in one process share one inquiry for this time. */
export const LOOK_FRESH_MS = 500;
