/** Fixed bounds of workflows, with reasons. Configurable bounds of an account are `AccountLimits`. */

const MIB = 1024 * 1024;

/**
 * Entries of a run. The endpoint receives and replays all of them with each step, so the bound is far above useful
 * sizes.
 */
export const MAX_RUN_ENTRIES = 5000;
/** Bytes of all entries of a run: an endpoint fetches them in one response. */
export const MAX_RUN_BYTES = 256 * MIB;
/** Nesting of runs that start runs and wait for them; endless nesting is a mistake. */
export const MAX_INVOKE_DEPTH = 100;
/** Events kept for a run that does not wait for them yet. */
export const MAX_STORED_EVENTS = 1000;
export const MAX_STORED_EVENT_BYTES = 8 * MIB;
/**
 * Records, timeout bodies and headers of a run's waiting steps, all kept in the state itself. Above this the run's
 * further waits are refused.
 */
export const MAX_WAITER_BYTES = 8 * MIB;
export const MAX_EVENT_ID_BYTES = 1024;
export const MAX_RUN_ID_BYTES = 256;
export const MAX_STEP_NAME_BYTES = 4096;
/** Bytes of the record that a step sends with a wait or an invoke. */
export const MAX_STEP_TEXT_BYTES = 64 * 1024;
/** Runs of a bulk cancel that names no number. */
export const DEFAULT_CANCEL_COUNT = 100;
export const MAX_CANCEL_RUNS = 1000;
/** Client packages repeat a trigger with a lost answer within five seconds. */
export const ENDED_RUN_WINDOW_MS = 5_000;
/**
 * Bytes of the list of entries in a delivery: common platforms accept this much in one request. A longer list is
 * fetched by the endpoint.
 */
export const DEFAULT_INLINE_BYTES = MIB;
