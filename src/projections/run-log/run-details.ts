/** Details of a run outside its row: waiting steps, its end, its failure function. A replaced body is released. */
import type { CarriedBody, HeaderList } from '../../domain/queue/index.js';
import type { EventWaiter, StepMark } from '../../domain/queue/runs/index.js';
import type { SqlFile } from '../../ports/index.js';
import type { SharedRows } from '../log-rows/shared-rows.js';
import { type Prepared, prepared } from '../statements.js';
import type { RunRow } from './run-rows.js';
import { STEP_KINDS } from './schema.js';

/** Id, URL and creation time. */
export type ChildName = readonly [runId: string, url: string, createdAtMs: number];

type Body = Pick<CarriedBody, 'number' | 'content'>;

export interface LoggedRunFailure {
  readonly dlqId: string;
  readonly error: string;
  readonly messageId: string;
  readonly status: number;
  readonly header: HeaderList;
  readonly body: Body;
}

export interface FunctionAnswer {
  readonly state: string;
  readonly status: number;
  readonly header: HeaderList;
  readonly body: Body;
}

export class RunDetails {
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(
    file: SqlFile,
    private readonly shared: SharedRows,
  ) {
    this.#sql = prepared(file, STATEMENTS);
  }

  setWaiter(run: RunRow, { step, addedAtMs, resultId, eventId, timeoutText, deadlineMs }: EventWaiter): void {
    const detail = JSON.stringify([eventId, timeoutText, deadlineMs]);
    this.#sql.setStep.run([run.id, step.stepId, STEP_KINDS.wait, addedAtMs, JSON.stringify(step), resultId, detail]);
  }

  /** @param child the child run, started in the same turn */
  setInvoke(run: RunRow, step: StepMark, child: ChildName, messageId: string): void {
    const [, , atMs] = child;
    const columns = [STEP_KINDS.invoke, atMs, JSON.stringify(step), messageId, JSON.stringify(child)];
    this.#sql.setStep.run([run.id, step.stepId, ...columns]);
  }

  setRecord(run: RunRow, stepId: number, record: Uint8Array): void {
    this.#sql.setRecord.run([record, run.id, stepId]);
  }

  /** Called after `setFailure` for a failed run. */
  setEnd(account: number, run: RunRow, dlqId: string | undefined, error?: string, response?: Uint8Array): void {
    this.#sql.setEnd.run([run.id, account, dlqId ?? null, error ?? null, response ?? null]);
  }

  setFailure(account: number, run: RunRow, { dlqId, error, messageId, status, header, body }: LoggedRunFailure): void {
    const before = this.#sql.readEnd.get([run.id]);
    const id = this.shared.takeBody(account, body);
    if (before !== undefined) this.shared.releaseBody(before.body as number);
    this.#sql.setFailure.run([run.id, account, dlqId, error, messageId, status, JSON.stringify(header), id]);
  }

  /** A first or repeated call of the failure function: an earlier answer is dropped. */
  beginFunction(run: RunRow, message: number): void {
    this.dropFunction(run);
    this.#sql.addFunction.run([run.id, message]);
  }

  /** Ignored if the function was not called. */
  answerFunction(account: number, run: RunRow, { state, status, header, body }: FunctionAnswer): void {
    const before = this.#sql.readFunction.get([run.id]);
    if (before === undefined) return;
    const id = this.shared.takeBody(account, body);
    this.shared.releaseBody(before.body as number);
    this.#sql.answerFunction.run([state, status, JSON.stringify(header), id, run.id]);
  }

  dropFunction(run: RunRow): void {
    const before = this.#sql.readFunction.get([run.id]);
    if (before === undefined) return;
    this.shared.releaseBody(before.body as number);
    this.#sql.dropFunction.run([run.id]);
  }
}

const STATEMENTS = {
  setStep: 'INSERT OR REPLACE INTO run_steps VALUES (?, ?, ?, ?, ?, ?, ?, NULL)',
  setRecord: 'UPDATE run_steps SET record = ? WHERE run = ? AND step_id = ?',
  setEnd: `INSERT INTO run_ends VALUES (?, ?, ?, ?, ?, NULL, 0, '[]', 0)
    ON CONFLICT (run) DO UPDATE SET dlq_id = excluded.dlq_id, error = excluded.error, response = excluded.response`,
  readEnd: 'SELECT body FROM run_ends WHERE run = ?',
  setFailure: 'INSERT OR REPLACE INTO run_ends VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?)',
  addFunction: "INSERT INTO run_functions VALUES (?, ?, 'CALLBACK_INPROGRESS', 0, '[]', 0)",
  readFunction: 'SELECT body FROM run_functions WHERE run = ?',
  answerFunction: 'UPDATE run_functions SET state = ?, status = ?, header = ?, body = ? WHERE run = ?',
  dropFunction: 'DELETE FROM run_functions WHERE run = ?',
} as const;
