/** Every bound of the control state, with its reason. */

const MIB = 1024 * 1024;

/** Every process keeps a copy of all of them: about a kilobyte each. */
export const MAX_DATABASES = 100_000;
/** Every process keeps a copy of all of them, and an owner a queue for each. */
export const MAX_ACCOUNTS = 10_000;
/** A name is shown in one column of a table. */
export const MAX_NAME_CHARACTERS = 64;
/** Each is an engine of its own; more spread nothing, since a cluster has at most 256 shards. */
export const MAX_PARTITIONS = 1024;

/** Smaller, and a key with its value would hardly fit. */
export const MIN_COMMAND_BYTES = 1024;
/** What a value of the engine can hold. */
export const MAX_COMMAND_BYTES = 512 * MIB;
export const MAX_REQUESTS_PER_DAY = 1_000_000_000_000;

/** Users of one database: every process keeps and compiles them. */
export const MAX_USERS = 1000;
/** As long as a key of a user in a log line may well be. */
export const MAX_USER_NAME_BYTES = 256;
/** Rules of one user: thousands of patterns, each of which may be tried for every key. */
export const MAX_USER_RULES_BYTES = 64 * 1024;
/** Enough to change passwords without haste. */
export const MAX_USER_PASSWORDS = 64;

/** A process whose clock is ahead or behind may lease for the day next to the owner's. */
export const QUOTA_DAY_SKEW = 1;
/** Days whose leases are remembered, today included: with the skew, what may still be asked for. */
export const QUOTA_DAYS = 3;
/** Days whose use is remembered, today included: a month. */
export const USAGE_DAYS = 32;
/** Days for which a process's last record number is remembered: longer than a record can be sent again. */
export const METER_MARK_DAYS = 3;
/** Rows of one fold: each costs microseconds, and a fold is one step of the owner. */
export const MAX_FOLD_ROWS = 5_000;
