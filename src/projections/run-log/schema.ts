/**
 * Tables of workflow runs, in the file of the message log.
 * - A run's place is its creation time and a number derived from its id, so that cursors work in every process, also
 *   in one that started from a snapshot.
 * - `run_messages` has the parts of a run: its entries (`place` is the index in the list), calls to third parties and
 *   their results (`place` is the step), and calls of its failure function. `run_steps` has the steps that wait for
 *   an event or a child run.
 * - A message `is_started` unless its first attempt is delayed.
 * - `run_events` is like `events`; the rows are removed with their run.
 * - A run `is_held` while it is active or in the DLQ. Afterwards its `events` are counted.
 */
import { createHash } from 'node:crypto';
import type { RunState } from '../../domain/queue/runs/index.js';
import type { RunEventState } from '../../ports/index.js';
import { STATE_NUMBERS } from '../log-rows/schema.js';

/** States from `FIRST_RARE_STATE` on have a partial index. */
export const RUN_STATE_NUMBERS: Readonly<Record<RunState, number>> = {
  RUN_SUCCESS: 0,
  RUN_STARTED: 3,
  RUN_FAILED: 4,
  RUN_CANCELED: 5,
};

export const RUN_EVENT_NUMBERS: Readonly<Record<RunEventState, number>> = {
  ...STATE_NUMBERS,
  RUN_STARTED: 8,
  RUN_SUCCESS: 9,
  RUN_FAILED: 10,
  RUN_CANCELED: 11,
  WAITER_ADDED: 12,
  INVOKED: 13,
};

export const MESSAGE_ROLES = { step: 0, call: 1, result: 2, failure: 3 } as const;

/** States of a message. `RETRY` (an attempt has failed) stays until the message ends. */
export const MESSAGE = { PROGRESS: 0, RETRY: 1, DELIVERED: 2, DEAD: 3, FAILED: 4, CANCELED: 5 } as const;

export const STEP_KINDS = { wait: 0, invoke: 1 } as const;

/** 48 bits: two runs created in the same millisecond get different numbers. */
export function runNumber(name: string): number {
  return createHash('sha256').update(name).digest().readUIntBE(0, 6);
}

export const RUN_SCHEMA = `
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, at_ms INTEGER NOT NULL, n INTEGER NOT NULL, name TEXT NOT NULL,
  envelope INTEGER NOT NULL, profile INTEGER NOT NULL, state INTEGER NOT NULL, ended_ms INTEGER,
  is_held INTEGER NOT NULL, is_gone INTEGER NOT NULL, is_hidden INTEGER NOT NULL, invoker TEXT,
  events INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX runs_by_place ON runs (account, at_ms, n);
CREATE INDEX runs_by_name ON runs (account, name, at_ms);
CREATE INDEX runs_by_profile ON runs (profile, at_ms, n);
CREATE INDEX runs_by_rare_state ON runs (account, state, at_ms, n) WHERE state >= 3;
CREATE INDEX runs_free ON runs (account, ended_ms) WHERE is_held = 0;
CREATE INDEX runs_gone ON runs (account, id) WHERE is_gone = 1;
CREATE TABLE run_ends (
  run INTEGER PRIMARY KEY, account INTEGER NOT NULL, dlq_id TEXT, error TEXT, response BLOB,
  message TEXT, status INTEGER NOT NULL, header TEXT NOT NULL, body INTEGER NOT NULL
);
CREATE INDEX run_ends_by_dlq ON run_ends (account, dlq_id) WHERE dlq_id IS NOT NULL;
CREATE TABLE run_messages (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, run INTEGER NOT NULL, name TEXT NOT NULL, role INTEGER NOT NULL,
  place INTEGER NOT NULL, step TEXT, envelope INTEGER NOT NULL, body INTEGER NOT NULL, created_ms INTEGER NOT NULL,
  not_before_ms INTEGER NOT NULL, state INTEGER NOT NULL, is_started INTEGER NOT NULL, next_ms INTEGER
);
CREATE INDEX run_messages_by_name ON run_messages (name, account);
CREATE INDEX run_messages_by_run ON run_messages (run, role, place, id);
CREATE TABLE run_steps (
  run INTEGER NOT NULL, step_id INTEGER NOT NULL, kind INTEGER NOT NULL, at_ms INTEGER NOT NULL, step TEXT NOT NULL,
  message TEXT NOT NULL, detail TEXT NOT NULL, record BLOB, PRIMARY KEY (run, step_id)
) WITHOUT ROWID;
CREATE TABLE run_functions (
  run INTEGER PRIMARY KEY, message INTEGER NOT NULL, state TEXT NOT NULL, status INTEGER NOT NULL,
  header TEXT NOT NULL, body INTEGER NOT NULL
);
CREATE TABLE run_events (
  account INTEGER NOT NULL, at_ms INTEGER NOT NULL, n INTEGER NOT NULL, state INTEGER NOT NULL, run INTEGER NOT NULL,
  message INTEGER NOT NULL, profile INTEGER NOT NULL, next_ms INTEGER, error TEXT, response INTEGER,
  PRIMARY KEY (account, at_ms, n)
) WITHOUT ROWID;
CREATE INDEX run_events_by_run ON run_events (run, at_ms, n);
CREATE INDEX run_events_by_profile ON run_events (profile, at_ms, n);
CREATE INDEX run_events_by_rare_state ON run_events (account, state, at_ms, n) WHERE state >= 3;
CREATE INDEX run_events_errors ON run_events (message, at_ms, n) WHERE state = 3;
`;
