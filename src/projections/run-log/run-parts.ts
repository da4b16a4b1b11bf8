/** Reads the parts that rows of runs refer to, as they are shown. Shared parts are read once per page. */
import type { Envelope, HeaderList } from '../../domain/queue/index.js';
import { RUN_STATES, type RunState, type StepMark } from '../../domain/queue/runs/index.js';
import { assert, type MessageId, type RunId } from '../../kernel/index.js';
import type { LoggedInvoker, LoggedRun, SqlFile, SqlRow, StepFailure } from '../../ports/index.js';
import { LogParts, type ResponseView } from '../log-parts.js';
import { type Prepared, prepared } from '../statements.js';
import { type RedactedTexts, shownError } from './redacted-texts.js';
import type { RunContents, RunDelivery, WaitingStep } from './run-groups.js';
import { MESSAGE, MESSAGE_ROLES, RUN_STATE_NUMBERS } from './schema.js';

/** Rows per read: a few milliseconds. */
const STEP_ROWS = 500;
/** Failures shown of one message, the latest ones. */
const MAX_FAILURES = 100;
const STATES = new Map(RUN_STATES.map((state) => [RUN_STATE_NUMBERS[state], state]));

export interface RunHead {
  readonly id: number;
  readonly account: number;
  readonly runId: RunId;
  readonly createdAtMs: number;
  readonly state: RunState;
  readonly endedAtMs: number | undefined;
  readonly envelope: Envelope;
  readonly invoker: LoggedInvoker | undefined;
}

export interface RunEnding {
  readonly dlqId: string | undefined;
  readonly response: Uint8Array | undefined;
  readonly failedMessage: MessageId | undefined;
  readonly failure: ResponseView & { readonly error: string };
}

export interface FunctionRow extends ResponseView {
  readonly state: string;
  readonly delivery: RunDelivery;
}

export class RunParts {
  readonly #sql: Prepared<typeof STATEMENTS>;
  #shown: LogParts;

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
    this.#shown = LogParts.of(file);
  }

  /** Starts another page with a fresh cache, because ids may have been reused. */
  begin(): void {
    this.#shown = this.#shown.anew();
  }

  head(row: SqlRow): RunHead {
    const state = STATES.get(row.state as number);
    assert(state !== undefined, 'a state of a run without a name', { state: row.state });
    return {
      id: row.id as number,
      account: row.account as number,
      runId: row.name as RunId,
      createdAtMs: row.at_ms as number,
      state,
      endedAtMs: row.ended_ms === null ? undefined : (row.ended_ms as number),
      envelope: this.#shown.envelope(row.envelope as number),
      invoker: invokerOf(row.invoker as string | null),
    };
  }

  /** Undefined: the run has been removed. */
  headOf(id: number): RunHead | undefined {
    const row = this.#sql.run.get([id]);
    return row && this.head(row);
  }

  /** The payload of a child run: the body of its first message. */
  payloadOf(account: number, runId: string, createdAtMs: number): { head: RunHead; body: Uint8Array } | undefined {
    const row = this.#sql.runByName.get([account, runId, createdAtMs]);
    if (row === undefined) return undefined;
    const head = this.head(row);
    return { head, body: this.body((this.#sql.payload.get([head.id])?.body as number | undefined) ?? 0) };
  }

  *contents(head: RunHead, ending: RunEnding | undefined): Generator<void, RunContents> {
    const entries: RunDelivery[] = [];
    const calls = new Map<number, RunDelivery>();
    const results = new Map<number, RunDelivery>();
    let after: readonly [number, number, number] = [-1, 0, 0];
    for (;;) {
      const rows = this.#sql.messages.all([head.id, ...after, STEP_ROWS]);
      for (const row of rows) {
        const delivery = this.#delivery(row);
        // Deliveries of one place come in order; the last one counts.
        if (delivery.role === MESSAGE_ROLES.step) entries[delivery.place] = delivery;
        else if (delivery.role === MESSAGE_ROLES.call) calls.set(delivery.place, delivery);
        else if (delivery.role === MESSAGE_ROLES.result) results.set(delivery.place, delivery);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_ROWS) break;
      after = [last.role as number, last.place as number, last.id as number];
      yield;
    }
    const waiting = new Map(this.#sql.steps.all([head.id]).map((row) => [row.step_id as number, waitingStep(row)]));
    const failedMessage = head.state === 'RUN_FAILED' ? ending?.failedMessage : undefined;
    // Entries may be missing if the front of the journal was removed.
    return { state: head.state, entries: entries.filter(() => true), calls, results, waiting, failedMessage };
  }

  /** Undefined: the run is active. */
  ending(run: number): RunEnding | undefined {
    const row = this.#sql.ending.get([run]);
    if (row === undefined) return undefined;
    return {
      dlqId: (row.dlq_id as string | null) ?? undefined,
      response: (row.response as Uint8Array | null) ?? undefined,
      failedMessage: ((row.message as MessageId | null) ?? undefined) as MessageId | undefined,
      failure: {
        error: (row.error as string | null) ?? '',
        status: row.status as number,
        header: JSON.parse(row.header as string) as HeaderList,
        body: this.body(row.body as number),
      },
    };
  }

  functionOf(run: number): FunctionRow | undefined {
    const row = this.#sql.function.get([run]);
    const message = row && this.#sql.message.get([row.message as number]);
    if (row === undefined || message === undefined) return undefined;
    return {
      state: row.state as string,
      delivery: this.#delivery(message),
      status: row.status as number,
      header: JSON.parse(row.header as string) as HeaderList,
      body: this.body(row.body as number),
    };
  }

  message(id: number): RunDelivery | undefined {
    const row = this.#sql.message.get([id]);
    return row && this.#delivery(row);
  }

  /** In order. */
  failures(delivery: RunDelivery | undefined, texts: RedactedTexts): StepFailure[] {
    if (delivery === undefined || !delivery.hasFailed) return [];
    const redact = delivery.envelope.settings.redact?.response;
    return [...this.#sql.failures.all([delivery.id, MAX_FAILURES])].reverse().map((row) => {
      const status = row.status as number;
      const header = JSON.parse(row.header as string) as HeaderList;
      return {
        atMs: row.at_ms as number,
        error: shownError(row.error as string, status),
        status,
        header: texts.header(header, redact),
        body: texts.response(header, row.body as Uint8Array, redact),
      };
    });
  }

  body(id: number): Uint8Array {
    return this.#shown.body(id);
  }

  response(id: number): ResponseView | undefined {
    return this.#shown.response(id);
  }

  #delivery(row: SqlRow): RunDelivery {
    const state = row.state as number;
    const isWell = state === MESSAGE.PROGRESS || state === MESSAGE.DELIVERED;
    return {
      id: row.id as number,
      messageId: row.name as MessageId,
      role: row.role as number,
      place: row.place as number,
      step: row.step === null ? undefined : (JSON.parse(row.step as string) as StepMark),
      envelope: this.#shown.envelope(row.envelope as number),
      body: row.body as number,
      bodyBytes: (row.bytes as number | null) ?? 0,
      createdAtMs: row.created_ms as number,
      notBeforeMs: row.not_before_ms as number,
      state,
      isStarted: row.is_started === 1,
      nextMs: row.next_ms === null ? undefined : (row.next_ms as number),
      // A restored delivery may be known as failed without any details.
      hasFailed: state === MESSAGE.RETRY || (!isWell && this.#sql.failed.get([row.id as number]) !== undefined),
    };
  }
}

/** The fields that a run's record and its events share. */
export function runRecordOf(
  head: RunHead,
): Pick<LoggedRun, 'runId' | 'url' | 'createdAtMs' | 'labels' | 'callerIp' | 'isAlias'> {
  const { runId, createdAtMs, envelope } = head;
  const { url, settings, callerIp, isAlias } = envelope;
  return { runId, url, createdAtMs, labels: settings.labels, callerIp, isAlias };
}

function waitingStep(row: SqlRow): WaitingStep {
  return {
    step: JSON.parse(row.step as string) as StepMark,
    kind: row.kind as number,
    messageId: row.message as MessageId,
    atMs: row.at_ms as number,
    detail: row.detail as string,
    record: (row.record as Uint8Array | null) ?? undefined,
  };
}

function invokerOf(text: string | null): LoggedInvoker | undefined {
  if (text === null) return undefined;
  const [runId, url, createdAtMs] = JSON.parse(text) as [RunId, string, number];
  return { runId, url, createdAtMs };
}

const MESSAGE_COLUMNS = `m.id AS id, m.name AS name, role, place, step, envelope, body, created_ms, not_before_ms, state,
  is_started, next_ms, length(content) AS bytes FROM run_messages AS m`;

const STATEMENTS = {
  run: 'SELECT * FROM runs WHERE id = ? AND is_hidden = 0',
  runByName: `SELECT * FROM runs INDEXED BY runs_by_name WHERE account = ? AND name = ? AND at_ms = ? AND is_hidden = 0
    ORDER BY id DESC LIMIT 1`,
  payload: `SELECT body FROM run_messages INDEXED BY run_messages_by_run WHERE run = ? AND role = 0 AND place = 0
    ORDER BY id DESC LIMIT 1`,
  messages: `SELECT ${MESSAGE_COLUMNS} INDEXED BY run_messages_by_run LEFT JOIN bodies ON bodies.id = m.body
    WHERE run = ? AND (role, place, m.id) > (?, ?, ?) ORDER BY role, place, m.id LIMIT ?`,
  message: `SELECT ${MESSAGE_COLUMNS} LEFT JOIN bodies ON bodies.id = m.body WHERE m.id = ?`,
  steps: 'SELECT * FROM run_steps WHERE run = ? ORDER BY step_id',
  ending: 'SELECT * FROM run_ends WHERE run = ?',
  function: 'SELECT * FROM run_functions WHERE run = ?',
  failed: 'SELECT 1 AS found FROM run_events INDEXED BY run_events_errors WHERE message = ? AND state = 3 LIMIT 1',
  failures: `SELECT at_ms, error, status, header, body FROM run_events AS e INDEXED BY run_events_errors
    JOIN responses ON responses.id = response WHERE message = ? AND e.state = 3 ORDER BY at_ms DESC, n DESC LIMIT ?`,
} as const;
