/**
 * Converts events of runs and of their messages into rows: the state of each message, and one row per event. Groups
 * and steps are computed when they are shown; bodies are not parsed here.
 *
 *  RW1 events of a run are not part of the plain log: `apply` takes them, even if the run is unknown
 */
import type { QueueEvent, QueueEventOf } from '../../domain/queue/index.js';
import type { EventWaiter, Invoker, RunPart } from '../../domain/queue/runs/index.js';
import type { RunEventState, SqlFile } from '../../ports/index.js';
import type { SharedRows } from '../log-rows/shared-rows.js';
import { type Prepared, prepared } from '../statements.js';
import { RunDetails } from './run-details.js';
import { type RunMessageRow, type RunRow, RunRows } from './run-rows.js';
import { MESSAGE, MESSAGE_ROLES, RUN_EVENT_NUMBERS, RUN_STATE_NUMBERS } from './schema.js';

interface NewEvent {
  readonly atMs: number;
  readonly state: RunEventState;
  readonly run: RunRow;
  readonly message?: number;
  readonly nextMs?: number | undefined;
  readonly error?: string | undefined;
  readonly response?: number | undefined;
}

const FINAL = { MessageDelivered: 'DELIVERED', MessageCancelled: 'CANCELED', MessageFailed: 'FAILED' } as const;
const FINAL_STATES = {
  MessageDelivered: MESSAGE.DELIVERED,
  MessageCancelled: MESSAGE.CANCELED,
  MessageFailed: MESSAGE.FAILED,
} as const;

export class RunWriter {
  readonly rows: RunRows;
  readonly details: RunDetails;
  /** Counted events of runs that retention may remove. */
  readonly #freed = new Map<number, number>();
  readonly #sql: Prepared<typeof STATEMENTS>;
  #account = 0;
  #n = 0;

  constructor(file: SqlFile, shared: SharedRows) {
    this.rows = new RunRows(file, shared);
    this.details = new RunDetails(file, shared);
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * @param n number of the next event of the log
   * @returns the number of added events; undefined if the event does not concern a run
   */
  apply(account: number, n: number, event: QueueEvent): number | undefined {
    this.#account = account;
    this.#n = n;
    if (!this.#apply(event)) return undefined;
    return this.#n - n;
  }

  /**
   * Called at the end of a transaction.
   * @returns accounts with more events that retention may remove
   */
  flush(): readonly number[] {
    this.rows.flush();
    const grown = [...this.#freed.keys()];
    for (const [account, events] of this.#freed) this.#sql.countEvents.run([events, account]);
    this.#freed.clear();
    return grown;
  }

  forget(): void {
    this.rows.forget();
    this.#freed.clear();
  }

  /** @returns whether the event concerns a run */
  #apply(event: QueueEvent): boolean {
    switch (event.type) {
      case 'MessageAccepted':
        if (event.workflow !== undefined) this.#accepted(event, event.workflow);
        return event.workflow !== undefined;
      case 'AttemptStarted':
        return this.#withMessage(event.id, (message) => this.#started(message, event));
      case 'AttemptFailed':
        return this.#withMessage(event.id, (message) => this.#failed(message, event));
      case 'MessageDeadLettered':
        return this.#withMessage(event.id, (message) => this.#deadLettered(message, event));
      case 'MessageDelivered':
      case 'MessageCancelled':
      case 'MessageFailed':
        return this.#withMessage(event.id, (message) => this.#ended(message, event));
      case 'CancelRequested':
        return this.#withMessage(event.id, ({ id, run }) =>
          this.#add({ atMs: event.atMs, state: 'CANCEL_REQUESTED', run, message: id }),
        );
      case 'DlqDeleted':
      case 'DlqExpired':
        for (const dlqId of event.dlqIds) this.#leftDlq(dlqId);
        return false;
      case 'DlqRetried':
        this.#leftDlq(event.dlqId);
        return false;
      case 'RunStarted':
        this.#runStarted(event);
        return true;
      case 'RunReconfigured':
        return this.#withRun(event.runId, (run) => this.rows.reconfigure(this.#account, run, event.envelope));
      case 'RunEnded':
        return this.#withRun(event.runId, (run) => this.#runEnded(run, event));
      case 'WaiterAdded':
        return this.#withRun(event.waiter.runId, (run) => {
          this.details.setWaiter(run, event.waiter);
          this.#add({ atMs: event.atMs, state: 'WAITER_ADDED', run });
        });
      case 'InvokeStarted':
        return this.#withRun(event.runId, (run) => {
          const { step, messageId, childRunId, childUrl, childCreatedAtMs, atMs } = event;
          this.details.setInvoke(run, step, [childRunId, childUrl, childCreatedAtMs], messageId);
          this.#add({ atMs, state: 'INVOKED', run });
        });
      case 'InvokeEndedLate': {
        const { runId, runCreatedAtMs, stepId, record } = event;
        const run = this.rows.run(this.#account, runId, runCreatedAtMs);
        if (run !== undefined) this.details.setRecord(run, stepId, record);
        return true;
      }
      case 'FailureFunctionEnded':
        this.#functionEnded(event);
        return true;
      default:
        // Other events of runs (removed waiters, stored events) show in the messages that follow from them.
        return false;
    }
  }

  #ended(
    { id, run }: RunMessageRow,
    event: Extract<QueueEvent, { readonly type: 'MessageDelivered' | 'MessageCancelled' | 'MessageFailed' }>,
  ): void {
    this.rows.setState(this.#account, event.id, id, FINAL_STATES[event.type], undefined);
    const error = event.type === 'MessageFailed' ? event.error : undefined;
    this.#add({ atMs: event.atMs, state: FINAL[event.type], run, message: id, error });
  }

  #withMessage(name: string, change: (message: RunMessageRow) => void): boolean {
    const message = this.rows.pendingMessage(this.#account, name);
    if (message !== undefined) change(message);
    return message !== undefined;
  }

  /** The run may be unknown, because it can have started before this file. */
  #withRun(runId: EventWaiter['runId'], change: (run: RunRow) => void): true {
    const run = this.rows.activeRun(this.#account, runId);
    if (run !== undefined) change(run);
    return true;
  }

  #runStarted({ runId, atMs, envelope, invoker, kept, rerunOf }: QueueEventOf<'RunStarted'>): void {
    const run = this.rows.addRun(this.#account, {
      runId,
      createdAtMs: atMs,
      envelope,
      invoker: invokerText(invoker),
    });
    const contents = new Map(rerunOf?.contents.map(({ number, content }) => [number, content]));
    for (const [place, { messageId, body, step, createdAtMs }] of kept.entries()) {
      this.rows.addMessage(this.#account, run, {
        name: messageId,
        role: MESSAGE_ROLES.step,
        place,
        step,
        envelope,
        body: { number: body.number, content: contents.get(body.number) },
        createdAtMs,
        notBeforeMs: createdAtMs,
        state: MESSAGE.DELIVERED,
      });
    }
    this.#add({ atMs, state: 'RUN_STARTED', run });
  }

  #runEnded(run: RunRow, { runId, atMs, state, response, dlqId, error }: QueueEventOf<'RunEnded'>): void {
    this.rows.endRun(this.#account, runId, run, RUN_STATE_NUMBERS[state], atMs);
    this.details.setEnd(this.#account, run, dlqId, error, response);
    this.#add({ atMs, state, run, error });
    if (dlqId === undefined) this.letGo(this.#account, run);
  }

  #accepted({ id, atMs, envelope, body, notBeforeMs }: QueueEventOf<'MessageAccepted'>, part: RunPart): void {
    const run = this.rows.run(this.#account, part.runId, part.runCreatedAtMs);
    if (run === undefined) return;
    // An entry that is delivered again keeps its creation time.
    const known = part.role === 'step' ? this.rows.entryAt(run, part.index) : undefined;
    const message = this.rows.addMessage(this.#account, run, {
      name: id,
      role: MESSAGE_ROLES[part.role],
      place: placeOf(part),
      step: part.role === 'failure' ? undefined : part.step,
      envelope,
      body,
      createdAtMs: known?.createdAtMs ?? atMs,
      notBeforeMs,
      isDelayed: notBeforeMs > atMs,
      state: MESSAGE.PROGRESS,
    });
    if (part.role === 'failure') this.details.beginFunction(run, message.id);
    const nextMs = notBeforeMs > atMs ? notBeforeMs : undefined;
    this.#add({ atMs, state: 'CREATED', run, message: message.id, nextMs });
  }

  #started({ id, run, isDelayed }: RunMessageRow, { atMs, retried }: QueueEventOf<'AttemptStarted'>): void {
    if (isDelayed || retried > 0) this.rows.noteStart(id);
    this.#add({ atMs, state: 'ACTIVE', run, message: id });
  }

  #failed({ id: message, run }: RunMessageRow, event: QueueEventOf<'AttemptFailed'>): void {
    const { id, atMs, error, nextAtMs } = event;
    this.rows.setState(this.#account, id, message, MESSAGE.RETRY, nextAtMs);
    this.#add({ atMs, state: 'ERROR', run, message, error, response: this.rows.shared.addResponse(event) });
    if (nextAtMs !== undefined) this.#add({ atMs, state: 'RETRY', run, message, error, nextMs: nextAtMs });
  }

  #deadLettered(
    { id: message, run }: RunMessageRow,
    { id, dlqId, atMs, status, error, header, response }: QueueEventOf<'MessageDeadLettered'>,
  ): void {
    this.rows.setState(this.#account, id, message, MESSAGE.DEAD, undefined);
    this.details.setFailure(this.#account, run, { dlqId, error, messageId: id, status, header, body: response });
    this.#add({ atMs, state: 'FAILED', run, message, error });
  }

  letGo(account: number, run: RunRow): void {
    this.#freed.set(account, (this.#freed.get(account) ?? 0) + this.rows.letGo(run));
  }

  #leftDlq(dlqId: string): void {
    const run = this.rows.runOfEntry(this.#account, dlqId);
    if (run !== undefined) this.letGo(this.#account, run);
  }

  #functionEnded({ dlqId, state, status, header, response: body }: QueueEventOf<'FailureFunctionEnded'>): void {
    const run = this.rows.runOfEntry(this.#account, dlqId);
    if (run === undefined) return;
    if (state === undefined) this.details.dropFunction(run);
    else this.details.answerFunction(this.#account, run, { state, status, header, body });
  }

  #add({ atMs, state, run, message, nextMs, error, response }: NewEvent): void {
    const columns = [RUN_EVENT_NUMBERS[state], run.id, message ?? 0, run.profile] as const;
    this.rows.addEvent(run, this.#account, atMs, this.#n, ...columns, nextMs ?? null, error ?? null, response ?? null);
    this.#n += 1;
  }
}

export function invokerText(invoker: Invoker | undefined): string | null {
  if (invoker === undefined) return null;
  return JSON.stringify([invoker.runId, invoker.url, invoker.runCreatedAtMs]);
}

export function placeOf(part: RunPart): number {
  switch (part.role) {
    case 'step':
      return part.index;
    case 'failure':
      return 0;
    default:
      return part.step.stepId;
  }
}

const STATEMENTS = {
  countEvents: 'UPDATE accounts SET run_events = run_events + ? WHERE id = ?',
} as const;
