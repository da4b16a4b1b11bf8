/** Tables of the statistics. Instants are milliseconds since the Unix epoch. */

/** Changes with the tables, the places of a bucket and the counts; a file of another version is rebuilt. */
export const STATISTICS_VERSION = 2;

export const STATISTICS_SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- How far each journal has been folded, and the meter's log. Entries up to dlq_from changed the DLQ before its number
-- was taken from a snapshot.
CREATE TABLE shards (
  shard TEXT PRIMARY KEY, created_at TEXT NOT NULL, position INTEGER NOT NULL, entry INTEGER NOT NULL,
  hash BLOB NOT NULL, clock_ms INTEGER NOT NULL, has_gap INTEGER NOT NULL, dlq_from INTEGER NOT NULL
) WITHOUT ROWID;

-- Databases, accounts, search indexes. dlq: entries in an account's DLQ.
CREATE TABLE subjects (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, dlq INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, name)
);

CREATE TABLE buckets (
  subject INTEGER NOT NULL, resolution INTEGER NOT NULL, at_ms INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (subject, resolution, at_ms)
) WITHOUT ROWID;

-- Messages that have not ended: what their later events do not say.
CREATE TABLE live (
  account INTEGER NOT NULL, id TEXT NOT NULL, bytes INTEGER NOT NULL, is_of_run INTEGER NOT NULL,
  at_ms INTEGER NOT NULL, PRIMARY KEY (account, id)
) WITHOUT ROWID;

-- The last record of each process.
CREATE TABLE sessions (name TEXT PRIMARY KEY, number INTEGER NOT NULL, day INTEGER NOT NULL) WITHOUT ROWID;

-- What a subject is made of, as it was told last: partitions by index, with the epoch of the owner that told of it, -1
-- for a whole; connections by process.
CREATE TABLE sizes (
  subject INTEGER NOT NULL, part INTEGER NOT NULL, items INTEGER NOT NULL, bytes INTEGER NOT NULL,
  epoch INTEGER NOT NULL, PRIMARY KEY (subject, part)
) WITHOUT ROWID;
CREATE TABLE connections (
  subject INTEGER NOT NULL, session TEXT NOT NULL, open INTEGER NOT NULL, at_ms INTEGER NOT NULL,
  PRIMARY KEY (subject, session)
) WITHOUT ROWID;
`;
