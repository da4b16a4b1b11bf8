/**
 * Tables of the message log and the DLQ list. The file is a read model: it has no migrations, and another version is
 * rebuilt.
 * - `events` has one row for each change of a message's state, ordered by (account, time, number). The number is the
 *   index of the partition's section and the place in it, so every process that folds the same journal gives an event
 *   the same number, and cursors work in all of them.
 * - Shared data is stored once and counted (`refs`): envelopes, profiles, bodies.
 * - `answer_bytes` of an account counts its kept answers to successful attempts.
 * - A body's id is `account · 2^36 + number`.
 */
export const MESSAGE_LOG_VERSION = 4;

/** States from here on are rare enough for a partial index. */
export const FIRST_RARE_STATE = 3;
/** Stored numbers of states; the frequent ones first. */
export const STATE_NUMBERS = {
  CREATED: 0,
  ACTIVE: 1,
  DELIVERED: 2,
  ERROR: 3,
  RETRY: 4,
  FAILED: 5,
  CANCEL_REQUESTED: 6,
  CANCELED: 7,
} as const;

/** Event numbers reserved for one section. */
export const SECTION_EVENTS = 2 ** 20;
const BODY_NUMBERS = 2 ** 36;

export function bodyId(account: number, number: number): number {
  return account * BODY_NUMBERS + number;
}

export const MESSAGE_LOG_SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE shards (
  shard TEXT PRIMARY KEY, created_at TEXT NOT NULL, position INTEGER NOT NULL, entry INTEGER NOT NULL,
  hash BLOB NOT NULL, clock_ms INTEGER NOT NULL, has_gap INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, events INTEGER NOT NULL,
  run_events INTEGER NOT NULL DEFAULT 0, answer_bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE profiles (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, hash BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL, facets TEXT NOT NULL
);
CREATE TABLE profile_facets (
  account INTEGER NOT NULL, facet INTEGER NOT NULL, value TEXT NOT NULL, profile INTEGER NOT NULL,
  PRIMARY KEY (account, facet, value, profile)
) WITHOUT ROWID;
CREATE TABLE envelopes (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, profile INTEGER NOT NULL, refs INTEGER NOT NULL, bytes BLOB NOT NULL
);
CREATE TABLE bodies (id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, content BLOB NOT NULL);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, name TEXT NOT NULL, envelope INTEGER NOT NULL,
  profile INTEGER NOT NULL, body INTEGER NOT NULL, created_ms INTEGER NOT NULL, not_before_ms INTEGER NOT NULL,
  retried INTEGER NOT NULL, is_gone INTEGER NOT NULL
);
CREATE UNIQUE INDEX messages_by_name ON messages (name, account);
CREATE INDEX messages_gone ON messages (account, id) WHERE is_gone = 1;
CREATE TABLE responses (
  id INTEGER PRIMARY KEY, status INTEGER NOT NULL, header TEXT NOT NULL, body BLOB NOT NULL, is_cut INTEGER NOT NULL,
  duration_ms REAL NOT NULL
);
CREATE TABLE events (
  account INTEGER NOT NULL, at_ms INTEGER NOT NULL, n INTEGER NOT NULL, state INTEGER NOT NULL, message INTEGER NOT NULL,
  profile INTEGER NOT NULL, next_ms INTEGER, error TEXT, response INTEGER,
  PRIMARY KEY (account, at_ms, n)
) WITHOUT ROWID;
CREATE INDEX events_by_message ON events (message);
CREATE INDEX events_by_profile ON events (profile, at_ms, n);
CREATE INDEX events_by_rare_state ON events (account, state, at_ms, n) WHERE state >= ${FIRST_RARE_STATE};
CREATE INDEX events_with_answer ON events (account, at_ms, n) WHERE state = ${STATE_NUMBERS.DELIVERED} AND response IS NOT NULL;
CREATE TABLE dlq (
  account INTEGER NOT NULL, at_ms INTEGER NOT NULL, n INTEGER NOT NULL, message INTEGER NOT NULL,
  profile INTEGER NOT NULL, failed_ms INTEGER NOT NULL, retried INTEGER NOT NULL, status INTEGER NOT NULL,
  error TEXT NOT NULL, header TEXT NOT NULL, response INTEGER NOT NULL,
  PRIMARY KEY (account, at_ms, n)
) WITHOUT ROWID;
CREATE INDEX dlq_by_message ON dlq (message);
CREATE INDEX dlq_by_profile ON dlq (profile, at_ms, n);
CREATE TABLE schedules (
  account INTEGER NOT NULL, name TEXT NOT NULL, body INTEGER NOT NULL, PRIMARY KEY (account, name)
) WITHOUT ROWID;
`;
