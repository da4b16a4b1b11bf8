/** How much a stream command may do, each with its reason. */

/** Entries handled between two looks at the clock of others: some tenths of a millisecond. */
export const ENTRIES_A_SLICE = 1000;

/** Above so many entries to be read or trimmed a command runs in slices; below it ends within a few milliseconds. */
export const LONG_STREAM_ENTRIES = 5000;

/** Pending entries of one consumer, over REST: the documented service stops reading there. */
export const MAX_BACKLOG_A_CONSUMER = 1000;

/** Ids in one effect or rebuilding command: some 40 KiB with the longest ids. */
export const IDS_A_COMMAND = 1000;
