/** Bounds of evaluating alert rules and sending their notices. */

/** A notice follows its alert within this time. */
export const NOTICE_LOOK_MS = 1_000;
/** Failed attempts of a destination rule that are grouped by host. */
export const MAX_GROUPED_ATTEMPTS = 500;
/** Tries of a notice, the waits between them doubling from the first: about five minutes in all. */
export const MAX_NOTICE_TRIES = 6;
export const FIRST_NOTICE_WAIT_MS = 10_000;
