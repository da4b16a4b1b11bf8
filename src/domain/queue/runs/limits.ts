/** Every bound of workflows, with its reason. Bounds of an account are `AccountLimits`. */

const MIB = 1024 * 1024;

/** Entries of a run. Its endpoint is sent all of them with every step, and replays them: far beyond what that is good for. */
export const MAX_RUN_ENTRIES = 5000;
/** Bodies of all of a run's entries: what an endpoint fetches at once. */
export const MAX_RUN_BYTES = 256 * MIB;
/** Runs that start runs, and wait for them: one that never ends is a mistake. */
export const MAX_INVOKE_DEPTH = 100;
/** Events kept for a run that does not wait for them yet. */
export const MAX_STORED_EVENTS = 1000;
export const MAX_STORED_EVENT_BYTES = 8 * MIB;
/**
 * What a run's waiting steps have with them: records, bodies of timeouts, headers. All of it is in the
 * state itself. A run that has reached it waits for nothing more.
 */
export const MAX_WAITER_BYTES = 8 * MIB;
export const MAX_EVENT_ID_BYTES = 1024;
export const MAX_RUN_ID_BYTES = 256;
export const MAX_STEP_NAME_BYTES = 4096;
/** A step may have so many as it comes with a wait or an invoke. */
export const MAX_STEP_TEXT_BYTES = 64 * 1024;
/** Runs of a bulk cancel that names no number. */
export const DEFAULT_CANCEL_COUNT = 100;
export const MAX_CANCEL_RUNS = 1000;
/** A trigger that a client package sends again because its answer was lost comes within five seconds. */
export const ENDED_RUN_WINDOW_MS = 5_000;
/** A delivery's list has so many: what common platforms take in one request. A longer one is fetched. */
export const DEFAULT_INLINE_BYTES = MIB;
