/** Every bound of the operators' API, with its reason. */

/** Entries, keys or changes of one answer where the call does not say how many. */
export const DEFAULT_ADMIN_PAGE = 100;
/** At most so many: a page of them is some megabytes. */
export const MAX_ADMIN_PAGE = 1000;
/** Changes between two moments: they are read in one go, since a later page would read the journal again. */
export const MAX_DIFF_CHANGES = 10_000;
/** Bytes of one answer; what comes behind it is left out and said to be. */
export const MAX_ADMIN_ANSWER_BYTES = 16 * 1024 * 1024;
/** Streams of one process that are open at once: each asks a read model once a second. */
export const ADMIN_STREAMS = { ofAll: 200, ofAccount: 100 } as const;
/** Backups that are fetched at once: each holds a segment of 4 MiB, and takes all that the network takes. */
export const ADMIN_DOWNLOADS = { ofAll: 4, ofAccount: 2 } as const;
/** One who fetches a backup and has taken nothing for so long has gone, for all that anybody knows. */
export const DOWNLOAD_STALL_MS = 60_000;
/** Walks of one account at once, other than of the operators': the process has two for everybody. */
export const ADMIN_WALKS = { ofAll: Number.POSITIVE_INFINITY, ofAccount: 1 } as const;
/** Between two looks for what is new, and for whether a stream may go on. */
export const FEED_EVERY_MS = 1_000;
/** Without a word for so long, a stream says that it is still there. */
export const KEEPALIVE_EVERY_MS = 15_000;
/** Events that are read at once; there are as many reads as it takes. */
export const FEED_EVENTS = 200;
/** How long one look at keys goes on: a page that wants more asks again with its cursor. */
export const LOOK_MS = 200;
/** Keys that one step of it meets: some 3 ms of their owner. */
export const MAX_LOOK_STEP_KEYS = 5_000;
/** Folders of one answer: more than anybody unfolds. */
export const MAX_KEY_FOLDERS = 1_000;
/** Looks at keys that are under way at once: each takes its owner's time, a step after the other. */
export const ADMIN_LOOKS = { ofAll: 8, ofAccount: 4 } as const;
/** Of what memory may hold; beyond it growth is about to be refused. */
export const NEARLY_FULL_SHARE = 0.9;
/** What is that far behind is so for more than a moment. */
export const LATE_SECONDS = 60;
/** Messages that failed within that time are news. */
export const NEW_DEAD_LETTERS_MS = 3_600_000;
/** A journal that nobody has looked through for a week should be. */
export const VERIFY_DUE_MS = 7 * 86_400_000;
/** Commands that a stream of them shows at once, each `FEED_EVERY_MS`: more than anybody reads; the others are counted. */
export const MAX_MONITOR_COMMANDS = 200;
/** Bytes of one command that are shown. */
export const MAX_MONITOR_BYTES = 2 * 1024;
/** Connections of one answer. */
export const MAX_SHOWN_CLIENTS = 1_000;
