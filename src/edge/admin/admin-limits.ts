/** The limits of the operators' API, with their reasons. */

/** Default number of entries, keys or changes in an answer. */
export const DEFAULT_ADMIN_PAGE = 100;
/** Largest page: some megabytes. */
export const MAX_ADMIN_PAGE = 1000;
/** Changes between two moments, read in one pass because another page would read the journal again. */
export const MAX_DIFF_CHANGES = 10_000;
/** Bytes of one answer; further items are omitted, and the answer says so. */
export const MAX_ADMIN_ANSWER_BYTES = 16 * 1024 * 1024;
/** Open streams of one process: each asks a read model once per second. */
export const ADMIN_STREAMS = { ofAll: 200, ofAccount: 100 } as const;
/** Concurrent downloads of backups: each holds a segment of 4 MiB and uses the whole network. */
export const ADMIN_DOWNLOADS = { ofAll: 4, ofAccount: 2 } as const;
/** A download ends after this time without progress. */
export const DOWNLOAD_STALL_MS = 60_000;
/** Concurrent journal walks of one account other than the operators'; the process has two for all accounts. */
export const ADMIN_WALKS = { ofAll: Number.POSITIVE_INFINITY, ofAccount: 1 } as const;
/** Interval of checks for new data. */
export const FEED_EVERY_MS = 1_000;
/** Events per read; reads repeat until there are no more. */
export const FEED_EVENTS = 200;
/** Duration of one key listing; the page continues with its cursor. */
export const LOOK_MS = 200;
/** Keys visited in one step: about 3 ms of the owner's time. */
export const MAX_LOOK_STEP_KEYS = 5_000;
/** Folders of one answer; more could not be displayed. */
export const MAX_KEY_FOLDERS = 1_000;
/** Concurrent key listings: each uses its owner's time step by step. */
export const ADMIN_LOOKS = { ofAll: 8, ofAccount: 4 } as const;
/** Share of the memory limit above which growth will soon be refused. */
export const NEARLY_FULL_SHARE = 0.9;
/** Seconds after which a lag is reported. */
export const LATE_SECONDS = 60;
/** Failed messages are reported for this time. */
export const NEW_DEAD_LETTERS_MS = 3_600_000;
/** Time after which a journal should be verified again. */
export const VERIFY_DUE_MS = 7 * 86_400_000;
/** Commands shown per `FEED_EVERY_MS`; further ones are counted, because they could not be read anyway. */
export const MAX_MONITOR_COMMANDS = 200;
/** Bytes shown of one command. */
export const MAX_MONITOR_BYTES = 2 * 1024;
/** Connections of one answer. */
export const MAX_SHOWN_CLIENTS = 1_000;
