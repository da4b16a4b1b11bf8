/**
 * Rows of runs and of their messages, with caches between events.
 *
 *  RUR1 messages and events are in their tables after `flush`: a message that starts and ends within one transaction
 *       is written once, in its final state
 *
 * Caches of this object are valid only after successful transactions; call `forget` after a failed one.
 */
import type { CarriedBody, Envelope } from '../../domain/queue/index.js';
import type { StepMark } from '../../domain/queue/runs/index.js';
import { BoundedCache, type MessageId, type RunId } from '../../kernel/index.js';
import type { SqlFile, SqlRow, SqlValue } from '../../ports/index.js';
import { AddedRows, RowIds } from '../added-rows.js';
import type { SharedRows } from '../log-rows/shared-rows.js';
import { type Prepared, prepared } from '../statements.js';
import { MESSAGE, MESSAGE_ROLES, RUN_STATE_NUMBERS, runNumber } from './schema.js';

export interface RunRow {
  readonly id: number;
  readonly createdAtMs: number;
  /** Changes when the run is reconfigured. */
  profile: number;
  /** All entries have an index below this; undefined: look it up. */
  entries?: number;
  /** Number of events; undefined: look it up. */
  events?: number;
}

export interface RunMessageRow {
  readonly id: number;
  readonly run: RunRow;
  readonly isDelayed: boolean;
}

export interface NewRun {
  readonly runId: RunId;
  readonly createdAtMs: number;
  readonly envelope: Envelope;
  /** JSON; null: no run invoked it. */
  readonly invoker: string | null;
}

export interface NewRunMessage {
  readonly name: MessageId;
  readonly role: number;
  readonly place: number;
  readonly step: StepMark | undefined;
  readonly envelope: Envelope;
  readonly body: Pick<CarriedBody, 'number' | 'content'>;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** The first attempt is delayed. */
  readonly isDelayed?: boolean;
  readonly state: number;
}

/** Cached rows; beyond this they are looked up again. */
const MAX_REMEMBERED = 20_000;

export class RunRows {
  readonly #active = new BoundedCache<string, RunRow>(MAX_REMEMBERED);
  readonly #pending = new BoundedCache<string, RunMessageRow>(MAX_REMEMBERED);
  /** Messages not yet written, by id: RUR1 (a message that starts and ends within one transaction is written once). */
  readonly #unwritten = new Map<number, SqlValue[]>();
  readonly #messages: AddedRows;
  readonly #events: AddedRows;
  readonly #ids: RowIds;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(
    file: SqlFile,
    readonly shared: SharedRows,
  ) {
    this.#messages = new AddedRows(file, 'INSERT INTO run_messages', MESSAGE_COLUMNS);
    this.#events = new AddedRows(file, 'INSERT INTO run_events', 10);
    this.#ids = new RowIds(file, 'run_messages');
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Writes the batches: RUR1 (messages and events are in their tables after `flush`). */
  flush(): void {
    for (const row of this.#unwritten.values()) this.#messages.add(...row);
    this.#unwritten.clear();
    this.#messages.flush();
    this.#events.flush();
  }

  /** @param row of `run_events` */
  addEvent(run: RunRow, ...row: readonly SqlValue[]): void {
    this.#events.add(...row);
    if (run.events !== undefined) run.events += 1;
  }

  addRun(account: number, { runId, createdAtMs, envelope, invoker }: NewRun): RunRow {
    const shared = this.shared.takeEnvelope(account, envelope);
    const values = [account, createdAtMs, runNumber(runId), runId, shared.id, shared.profile];
    const id = this.#sql.addRun.insert([...values, RUN_STATE_NUMBERS.RUN_STARTED, invoker]);
    return remember(this.#active, keyOf(account, runId), {
      id,
      createdAtMs,
      profile: shared.profile,
      entries: 0,
      events: 0,
    });
  }

  /** The active run of that id. */
  activeRun(account: number, runId: RunId): RunRow | undefined {
    const known = this.#active.get(keyOf(account, runId));
    if (known !== undefined) return known;
    const row = this.#sql.findActive.get([account, runId]);
    return row && remember(this.#active, keyOf(account, runId), runRow(row));
  }

  run(account: number, runId: RunId, createdAtMs: number): RunRow | undefined {
    const active = this.activeRun(account, runId);
    if (active?.createdAtMs === createdAtMs) return active;
    const row = this.#sql.findRun.get([account, runId, createdAtMs]);
    return row && runRow(row);
  }

  runOfEntry(account: number, dlqId: string): RunRow | undefined {
    const row = this.#sql.findByEntry.get([account, dlqId]);
    return row && runRow(row);
  }

  /** Existing events are then found by the new profile. */
  reconfigure(account: number, run: RunRow, envelope: Envelope): void {
    this.flush();
    const before = this.#sql.readRun.get([run.id])?.envelope as number;
    const shared = this.shared.takeEnvelope(account, envelope);
    this.#sql.setEnvelope.run([shared.id, shared.profile, run.id]);
    this.#sql.setEventProfile.run([shared.profile, run.id]);
    run.profile = shared.profile;
    this.shared.releaseEnvelope(before);
  }

  /** The run stays until `letGo`. */
  endRun(account: number, runId: RunId, run: RunRow, state: number, atMs: number): void {
    this.#sql.endRun.run([state, atMs, run.id]);
    this.#active.delete(keyOf(account, runId));
  }

  addMessage(account: number, run: RunRow, message: NewRunMessage): RunMessageRow {
    const { name, role, place, step, createdAtMs, notBeforeMs, isDelayed = false, state } = message;
    const envelope = this.shared.takeEnvelope(account, message.envelope);
    const body = this.shared.takeBody(account, message.body);
    const mark = step === undefined ? null : JSON.stringify(step);
    const id = this.#ids.next();
    const columns = [id, account, run.id, name, role, place, mark, envelope.id, body];
    this.#unwritten.set(id, [...columns, createdAtMs, notBeforeMs, state, isDelayed ? 0 : 1, null]);
    if (role === MESSAGE_ROLES.step && run.entries !== undefined) run.entries = Math.max(run.entries, place + 1);
    const row = { id, run, isDelayed };
    return isPending(state) ? remember(this.#pending, keyOf(account, name), row) : row;
  }

  /** A message that has not ended; ended ones have no further events. */
  pendingMessage(account: number, name: string): RunMessageRow | undefined {
    const known = this.#pending.get(keyOf(account, name));
    if (known !== undefined) return known;
    this.flush();
    const row = this.#sql.findPending.get([name, account]);
    if (row === undefined) return undefined;
    const run = this.run(account, row.run_name as RunId, row.at_ms as number);
    if (run === undefined) return undefined;
    const isDelayed = row.is_started === 0;
    return remember(this.#pending, keyOf(account, name), { id: row.id as number, run, isDelayed });
  }

  /** The latest delivery of the entry at an index. */
  entryAt(
    run: RunRow,
    index: number,
  ): { readonly id: number; readonly name: string; readonly createdAtMs: number } | undefined {
    if (run.entries !== undefined && index >= run.entries) return undefined;
    this.flush();
    const row = this.#sql.findEntry.get([run.id, index]);
    return row && { id: row.id as number, name: row.name as string, createdAtMs: row.created_ms as number };
  }

  messageOf(account: number, run: RunRow, name: string): number | undefined {
    this.flush();
    return this.#sql.findOfRun.get([name, account, run.id])?.id as number | undefined;
  }

  setState(account: number, name: string, id: number, state: number, nextMs: number | undefined): void {
    const unwritten = this.#unwritten.get(id);
    if (unwritten === undefined) {
      this.#sql.setState.run([state, nextMs ?? null, id]);
    } else {
      unwritten[STATE] = state;
      unwritten[NEXT_MS] = nextMs ?? null;
    }
    if (!isPending(state)) this.#pending.delete(keyOf(account, name));
  }

  noteStart(id: number): void {
    const unwritten = this.#unwritten.get(id);
    if (unwritten === undefined) {
      this.#sql.noteStart.run([id]);
    } else {
      unwritten[IS_STARTED] = 1;
      unwritten[NEXT_MS] = null;
    }
  }

  /**
   * Allows retention to remove the run.
   * @returns its events plus one for the run itself, which count from now on
   */
  letGo(run: RunRow): number {
    const events = 1 + (run.events ?? this.#eventsIn(run));
    this.#sql.letGo.run([events, run.id]);
    return events;
  }

  #eventsIn(run: RunRow): number {
    this.flush();
    return this.#sql.eventsOf.get([run.id])?.events as number;
  }

  /**
   * Removes some rows of a run, and finally the run.
   * @returns rows removed; `events`: the counted events, once the run is gone
   */
  removeSome(id: number, count: number): { readonly removed: number; readonly events: number } {
    this.flush();
    const events = this.#sql.someEvents.all([id, count]);
    for (const { account, at_ms, n, response } of events) {
      this.#sql.dropEvent.run([account as number, at_ms as number, n as number]);
      this.shared.dropResponse(response);
    }
    const messages = this.#sql.someMessages.all([id, count - events.length]);
    for (const row of messages) this.#dropMessage(row);
    const removed = events.length + messages.length;
    if (removed === count) return { removed, events: 0 };
    const run = this.#sql.readRun.get([id]);
    if (run === undefined) return { removed, events: 0 };
    this.shared.releaseEnvelope(run.envelope as number);
    this.#active.delete(keyOf(run.account as number, run.name as string));
    for (const body of [this.#sql.readEnd.get([id])?.body, this.#sql.readFunction.get([id])?.body]) {
      if (body !== undefined) this.shared.releaseBody(body as number);
    }
    for (const drop of ['dropRun', 'dropEnd', 'dropFunction', 'dropSteps'] as const) this.#sql[drop].run([id]);
    return { removed: removed + 1, events: run.events as number };
  }

  #dropMessage({ id, account, name, envelope, body }: SqlRow): void {
    this.#sql.dropMessage.run([id as number]);
    this.#pending.delete(keyOf(account as number, name as string));
    this.shared.releaseEnvelope(envelope as number);
    this.shared.releaseBody(body as number);
  }

  forget(): void {
    this.#active.clear();
    this.#pending.clear();
    this.#unwritten.clear();
    this.#messages.forget();
    this.#events.forget();
    this.#ids.forget();
  }
}

const MESSAGE_COLUMNS = 14;
/** Column indexes in a row of `run_messages`. */
const [STATE, IS_STARTED, NEXT_MS] = [11, 12, 13] as const;

const STATEMENTS = {
  addRun: `INSERT INTO runs (account, at_ms, n, name, envelope, profile, state, is_held, is_gone, is_hidden, invoker)
    VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0, 0, ?)`,
  findActive: `SELECT id, at_ms, profile FROM runs INDEXED BY runs_by_name WHERE account = ? AND name = ?
    AND ended_ms IS NULL AND is_hidden = 0 ORDER BY at_ms DESC LIMIT 1`,
  findRun: `SELECT id, at_ms, profile FROM runs INDEXED BY runs_by_name WHERE account = ? AND name = ? AND at_ms = ?
    AND is_hidden = 0 ORDER BY id DESC LIMIT 1`,
  findByEntry: `SELECT runs.id AS id, at_ms, profile FROM run_ends INDEXED BY run_ends_by_dlq JOIN runs ON runs.id = run
    WHERE run_ends.account = ? AND dlq_id = ?`,
  readRun: 'SELECT account, name, envelope, events FROM runs WHERE id = ?',
  readEnd: 'SELECT body FROM run_ends WHERE run = ?',
  readFunction: 'SELECT body FROM run_functions WHERE run = ?',
  setEnvelope: 'UPDATE runs SET envelope = ?, profile = ? WHERE id = ?',
  setEventProfile: 'UPDATE run_events SET profile = ? WHERE run = ?',
  endRun: 'UPDATE runs SET state = ?, ended_ms = ? WHERE id = ?',
  findPending: `SELECT run_messages.id AS id, is_started, runs.name AS run_name, at_ms
    FROM run_messages INDEXED BY run_messages_by_name JOIN runs ON runs.id = run
    WHERE run_messages.name = ? AND run_messages.account = ? AND run_messages.state < ${MESSAGE.DELIVERED}
    ORDER BY run_messages.id DESC LIMIT 1`,
  findEntry: `SELECT id, name, created_ms FROM run_messages INDEXED BY run_messages_by_run
    WHERE run = ? AND role = 0 AND place = ? ORDER BY id DESC LIMIT 1`,
  findOfRun: `SELECT id FROM run_messages INDEXED BY run_messages_by_name WHERE name = ? AND account = ? AND run = ?
    ORDER BY id DESC LIMIT 1`,
  setState: 'UPDATE run_messages SET state = ?, next_ms = ? WHERE id = ?',
  noteStart: 'UPDATE run_messages SET is_started = 1, next_ms = NULL WHERE id = ?',
  dropMessage: 'DELETE FROM run_messages WHERE id = ?',
  eventsOf: 'SELECT count(*) AS events FROM run_events INDEXED BY run_events_by_run WHERE run = ?',
  letGo: 'UPDATE runs SET is_held = 0, events = ? WHERE id = ?',
  someEvents: 'SELECT account, at_ms, n, response FROM run_events INDEXED BY run_events_by_run WHERE run = ? LIMIT ?',
  dropEvent: 'DELETE FROM run_events WHERE account = ? AND at_ms = ? AND n = ?',
  someMessages: `SELECT id, account, name, envelope, body FROM run_messages INDEXED BY run_messages_by_run
    WHERE run = ? LIMIT ?`,
  dropRun: 'DELETE FROM runs WHERE id = ?',
  dropEnd: 'DELETE FROM run_ends WHERE run = ?',
  dropFunction: 'DELETE FROM run_functions WHERE run = ?',
  dropSteps: 'DELETE FROM run_steps WHERE run = ?',
} as const;

function isPending(state: number): boolean {
  return state < MESSAGE.DELIVERED;
}

function runRow(row: SqlRow): RunRow {
  return { id: row.id as number, createdAtMs: row.at_ms as number, profile: row.profile as number };
}

function remember<T>(map: Map<string, T>, key: string, value: T): T {
  map.set(key, value);
  return value;
}

function keyOf(account: number, name: string): string {
  return `${account} ${name}`;
}
