/** Fixed bounds of the control state, with reasons. */

const MIB = 1024 * 1024;

/** Every process keeps a copy of all databases, about one kilobyte each. */
export const MAX_DATABASES = 100_000;
/** Every process keeps a copy of all accounts, and an owner keeps a queue for each. */
export const MAX_ACCOUNTS = 10_000;
/** A name fits in one column of a table. */
export const MAX_GIVEN_NAME_CHARACTERS = 64;
/** Each partition has its own engine; more do not spread the load, because a cluster has at most 256 shards. */
export const MAX_PARTITIONS = 1024;
/** The names of partitions have five digits (protocol/placement.ts). */
export const MAX_PARTITION_NUMBER = 99_999;

/** A smaller limit would hardly fit a key with its value. */
export const MIN_COMMAND_BYTES = 1024;
/** The largest value of the engine. */
export const MAX_COMMAND_BYTES = 512 * MIB;
export const MAX_REQUESTS_PER_DAY = 1_000_000_000_000;

/** Users of one database: every process keeps and compiles them. */
export const MAX_USERS = 1000;
/** A readable length in a log line. */
export const MAX_USER_NAME_BYTES = 256;
/** Rules of one user: thousands of patterns, each of which may be tried for every key. */
export const MAX_USER_RULES_BYTES = 64 * 1024;
/** Enough for gradual changes of passwords. */
export const MAX_USER_PASSWORDS = 64;

/** The clock of a process may be ahead or behind: it may lease for the day next to the owner's. */
export const QUOTA_DAY_SKEW = 1;
/** Days with remembered leases, today included: with the skew these are the days that can still be leased. */
export const QUOTA_DAYS = 3;
/** Days with remembered use, today included: a month. */
export const USAGE_DAYS = 32;
/** Days for which a process's last record number is remembered: longer than a record can be repeated. */
export const METER_MARK_DAYS = 3;
/** Rows of one fold: each costs microseconds, and a fold is one step of the owner. */
export const MAX_FOLD_ROWS = 5_000;

/** Existing databases of an account on the free plan; the account's plan bounds the total. */
export const MAX_FREE_DATABASES = 1;
/** Each has its documents and a copy of them in the searching process. */
export const MAX_ACCOUNT_SEARCH_INDEXES = 100;
/** Of all accounts together: each is a partition like a database. */
export const MAX_SEARCH_INDEXES = 100_000;
/** Teams that one person may own; memberships are not limited. */
export const MAX_OWNED_TEAMS = 5;
/** Each change of a team journals all its members. */
export const MAX_TEAM_MEMBERS = 100;
/** Keys of one person for all accounts, those of their own accounts included. */
export const MAX_API_KEYS = 37;
/** Signed-out sessions that have not expired: every process keeps all of them, about 100 bytes each. */
export const MAX_SIGNED_OUT = 10_000;
/** People with roles from a provider: every process keeps a copy of about 300 bytes each. */
export const MAX_PROVIDER_PEOPLE = 10_000;
/** Listed sessions of one person; of a provider's sessions the oldest ends. */
export const MAX_PERSON_SESSIONS = 100;
/** Listed sessions of all people: every process keeps a copy, at most about 4 KB each with a provider's tokens. */
export const MAX_SESSIONS = 20_000;
/** Length of a client's address and of its name. */
export const MAX_SESSION_TEXT = 256;
/** Sealed tokens of a provider: three tokens with the claims of a hundred groups. */
export const MAX_SESSION_TOKENS = 32 * 1024;
/** Length of a session's name; names made here have 20 characters. */
export const MAX_SESSION_NAME = 64;
/** Own roles of one account: a person reads all of them on one page. */
export const MAX_ACCOUNT_ROLES = 50;
/** Own roles of all accounts: every process keeps a copy of about 500 bytes each. */
export const MAX_ROLES = 10_000;
/** Assignments of one account, as many as a page lists. */
export const MAX_ACCOUNT_ASSIGNMENTS = 500;
/** Assignments of all accounts: every process keeps a copy of about 300 bytes each. */
export const MAX_ASSIGNMENTS = 20_000;
/** Length of a description, of a group with its provider, and of a resource's id. */
export const MAX_ROLE_TEXT = 256;
/** The longest valid address of a mailbox. */
export const MAX_EMAIL_CHARACTERS = 254;
/** Each backup keeps a full copy of the database in the object store. */
export const MAX_DATABASE_BACKUPS = 32;
/** Each branch keeps the snapshot of its beginning. */
export const MAX_DATABASE_BRANCHES = 10;
export const DEFAULT_BRANCH_MS = 86_400_000;
export const MIN_BRANCH_MS = 60_000;
/** As long as the journal keeps the entries with which a branch is compared, by default. */
export const MAX_BRANCH_MS = 7 * 86_400_000;
/** After this time a backup without a reported end counts as ended. */
export const BACKUP_TIMEOUT_MS = 3_600_000;
/** Length of a manifest's name, and of the reason of a failed backup. */
export const MAX_BACKUP_TEXT = 256;
/** IPv4 addresses and blocks of one database: each new client is compared with all. */
export const MAX_ALLOWED_IPS = 256;
/** More than the number of existing regions. */
export const MAX_READ_REGIONS = 32;
/** Dollars per month: far above any real budget, and exact in cents. */
export const MAX_BUDGET_DOLLARS = 1_000_000_000;
/** About 40 MB of the control shard owner's memory and 12 MB of its snapshots. The journal has the older entries. */
export const MAX_AUDIT_ENTRIES = 100_000;
/** Half a year, as the API states for each entry. */
export const AUDIT_TTL_MS = 182 * 86_400_000;
/** Entries of one answer: about 400 KB. */
export const MAX_AUDIT_PAGE = 1000;
/** Length of each text of an entry. A longer text is cut, because the audit log must not block a change. */
export const MAX_AUDIT_TEXT = 256;
/** Bytes of a database or of a month's traffic: the largest integer that a JavaScript number holds exactly. */
export const MAX_COUNTED_BYTES = Number.MAX_SAFE_INTEGER;
/** More than one process can execute. */
export const MAX_COMMANDS_PER_SECOND = 1_000_000_000;
export const MAX_CONNECTIONS = 1_000_000;
/** Rules of one account; a person reads all of them on one page. */
export const MAX_ACCOUNT_ALERT_RULES = 50;
/** Of all accounts together: each is evaluated at every look, mostly with one question to a read model. */
export const MAX_ALERT_RULES = 1_000;
export const MAX_ALERT_CHANNELS = 5;
/** Open alerts of one rule: more subjects are as clear with these. */
export const MAX_ALERT_SUBJECTS = 20;
/** Ended alerts of one account that are kept, and of all accounts: about 5 MB. */
export const MAX_ACCOUNT_ALERTS = 200;
export const MAX_ALERTS = 10_000;
/** Length of a subject, of a text and of the answer to a notice; longer ones are cut. */
export const MAX_ALERT_TEXT = 256;
/** As long as the longest name of a key, and most URLs. */
export const MAX_ALERT_TARGET = 512;
/** Labels of one database, queue or index: a few words for those who divide costs. */
export const MAX_OBJECT_LABELS = 16;
export const MAX_LABEL_VALUE = 128;
/** Accounts that export their audit log to a URL: each has its own reader of the control journal. */
export const MAX_AUDIT_EXPORTS = 100;
/** Logs are kept for about this time. */
export const MAX_ALERT_WINDOW_SECONDS = 7 * 86_400;
/** Triggers of one database: each has its own reader of the database's journal. */
export const MAX_DATABASE_TRIGGERS = 20;
/** Triggers of all databases: every process keeps a copy of about one kilobyte each. */
export const MAX_TRIGGERS = 1_000;
/** Patterns of one trigger; each key of an effect is compared with all. */
export const MAX_TRIGGER_PATTERNS = 20;
export const MAX_TRIGGER_OPTIONS = 64;
/** Length of a pattern, a filter, and the name or value of an option; as long as a header may be. */
export const MAX_TRIGGER_TEXT = 8_192;
/** Queues of one trigger. */
export const MAX_TRIGGER_LANES = 16;
