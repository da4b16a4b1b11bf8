/** Every bound of the control state, with its reason. */

const MIB = 1024 * 1024;

/** Every process keeps a copy of all of them: about a kilobyte each. */
export const MAX_DATABASES = 100_000;
/** Every process keeps a copy of all of them, and an owner a queue for each. */
export const MAX_ACCOUNTS = 10_000;
/** A name is shown in one column of a table. */
export const MAX_GIVEN_NAME_CHARACTERS = 64;
/** Each is an engine of its own; more spread nothing, since a cluster has at most 256 shards. */
export const MAX_PARTITIONS = 1024;

/** Smaller, and a key with its value would hardly fit. */
export const MIN_COMMAND_BYTES = 1024;
/** What a value of the engine can hold. */
export const MAX_COMMAND_BYTES = 512 * MIB;
export const MAX_REQUESTS_PER_DAY = 1_000_000_000_000;

/** Users of one database: every process keeps and compiles them. */
export const MAX_USERS = 1000;
/** It is as long as a key of a user in a log line may well be. */
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

/** Live databases of an account, so many may be on the plan that costs nothing; its own plan says how many in all. */
export const MAX_FREE_DATABASES = 1;
/** Each holds its documents and a copy of them in the process that searches. */
export const MAX_ACCOUNT_SEARCH_INDEXES = 100;
/** All accounts together have so many: each is a partition, as a database of one partition is. */
export const MAX_SEARCH_INDEXES = 100_000;
/** One person may own so many; being a member of others is not limited. */
export const MAX_OWNED_TEAMS = 5;
/** All of them are journaled with each change of the team. */
export const MAX_TEAM_MEMBERS = 100;
/** One person has so many, for all accounts, the keys that came with own accounts among them. */
export const MAX_API_KEYS = 37;
/** Sessions that were signed out of and are not over: every process keeps all of them, about 100 bytes each. */
export const MAX_SIGNED_OUT = 10_000;
/** The name of such a session may have so many; those that are made here have 20. */
export const MAX_SESSION_NAME = 64;
/** What a mailbox takes at most. */
export const MAX_EMAIL_CHARACTERS = 254;
/** Each pins a whole copy of the database in the object store. */
export const MAX_DATABASE_BACKUPS = 32;
/** What is still under way after it was cut off by a crash. */
export const BACKUP_TIMEOUT_MS = 3_600_000;
/** It bounds a manifest's name, and the text of why a backup failed. */
export const MAX_BACKUP_TEXT = 256;
/** IPv4 addresses and blocks of one database: each is compared with every new client's. */
export const MAX_ALLOWED_IPS = 256;
/** More regions than there are. */
export const MAX_READ_REGIONS = 32;
/** Dollars a month: far more than anybody pays, and exact in cents. */
export const MAX_BUDGET_DOLLARS = 1_000_000_000;
/** About 40 MB of the control shard's owner when all are there, and 12 MB of its snapshots. The journal has the rest. */
export const MAX_AUDIT_ENTRIES = 100_000;
/** Half a year, as the API says of each entry. */
export const AUDIT_TTL_MS = 182 * 86_400_000;
/** One answer has so many: about 400 KB. */
export const MAX_AUDIT_PAGE = 1000;
/** It bounds each text of an entry; what is longer is cut, for a note must not stop what it notes. */
export const MAX_AUDIT_TEXT = 256;
/** Bytes of a database, or of a month's traffic: what a JavaScript number holds exactly. */
export const MAX_COUNTED_BYTES = Number.MAX_SAFE_INTEGER;
/** More than one process can run. */
export const MAX_COMMANDS_PER_SECOND = 1_000_000_000;
export const MAX_CONNECTIONS = 1_000_000;
