/** Bounds for the work of stream commands, each with its reason. */

/** Entries processed per slice: some tenths of a millisecond. */
export const ENTRIES_A_SLICE = 1000;

/** A command that reads or trims more entries runs in slices; with fewer it takes a few milliseconds. */
export const LONG_STREAM_ENTRIES = 5000;

/** Pending entries of a consumer over REST: the documented service refuses further reads at this number. */
export const MAX_BACKLOG_A_CONSUMER = 1000;

/** Ids in one effect or rebuilding command: about 40 KiB with the longest ids. */
export const IDS_A_COMMAND = 1000;
