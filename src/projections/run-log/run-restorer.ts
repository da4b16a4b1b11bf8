/**
 * Converts the runs of a snapshot, active and resumable ones, into rows. Other runs keep their rows; a run that was
 * active and is not in the snapshot has ended with an unknown outcome and is removed. After an interruption call
 * `clear` and start again, because the state between events belongs to one pass.
 */

import type { DlqEntry, QueueEvent, QueueEventOf } from '../../domain/queue/index.js';
import type { Invoker, RunEntry, RunPart } from '../../domain/queue/runs/index.js';
import { getOrCreate } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import type { ChildName } from './run-details.js';
import type { RunRow } from './run-rows.js';
import { invokerText, placeOf, type RunWriter } from './run-writer.js';
import { MESSAGE, MESSAGE_ROLES, RUN_STATE_NUMBERS } from './schema.js';

interface Restored {
  readonly run: RunRow;
  readonly envelope: QueueEventOf<'RunRestored'>['envelope'];
  /** Number of entries so far. */
  entries: number;
}

interface Child {
  readonly invoker: Invoker;
  readonly name: ChildName;
  readonly messageId: string;
}

export class RunRestorer {
  /** DLQ entries, which come before their runs. */
  readonly #failed = new Map<string, DlqEntry>();
  readonly #restored = new Map<string, Restored>();
  /** Children with parents that have not come yet. */
  readonly #children = new Map<string, Child[]>();
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(
    file: SqlFile,
    private readonly writer: RunWriter,
  ) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Called before the first event: marks all active runs as gone. */
  clear(account: number): void {
    this.#failed.clear();
    this.#restored.clear();
    this.#children.clear();
    this.writer.rows.flush();
    this.writer.rows.forget();
    this.#sql.markGone.run([account]);
    this.#sql.endMessages.run([account]);
  }

  /** @returns whether the event concerns a run */
  restore(account: number, event: QueueEvent): boolean {
    switch (event.type) {
      case 'RunRestored':
        this.#run(account, event);
        return true;
      case 'RunEntriesRestored': {
        const restored = this.#restored.get(keyOf(event.runId, event.dlqId));
        if (restored !== undefined) this.#entries(account, restored, event.entries);
        return true;
      }
      case 'DlqRestored':
        if (event.entry.envelope.workflow !== undefined) this.#failed.set(event.entry.dlqId, event.entry);
        return event.entry.envelope.workflow !== undefined;
      case 'MessageRestored':
        // The run does not need a delivered message.
        if (event.workflow !== undefined) this.#message(account, event, event.workflow);
        return event.envelope.workflow !== undefined;
      default:
        return false;
    }
  }

  /**
   * Called after the last event.
   * @returns the start of the next step; undefined at the end
   */
  dropGone(account: number, after: number, count: number): number | undefined {
    const rows = this.#sql.gone.all([account, after, count]);
    for (const row of rows) {
      // A run without an end is hidden now and is removed with the oldest runs.
      this.#sql.leave.run([row.ended_ms === null ? 1 : 0, (row.ended_ms as number | null) ?? 0, row.id as number]);
      this.writer.letGo(account, { id: row.id as number, createdAtMs: 0, profile: 0 });
    }
    return rows.length < count ? undefined : (rows.at(-1)?.id as number);
  }

  #run(account: number, event: QueueEventOf<'RunRestored'>): void {
    const { runId, createdAtMs, envelope, invoker, dlqId, failureFunction, entries, waiters } = event;
    const { rows } = this.writer;
    const run =
      rows.run(account, runId, createdAtMs) ??
      rows.addRun(account, { runId, createdAtMs, envelope, invoker: invokerText(invoker) });
    this.#sql.keep.run([run.id]);
    const restored = { run, envelope, entries: 0 };
    this.#restored.set(keyOf(runId, dlqId), restored);
    this.#entries(account, restored, entries);
    for (const waiter of waiters) this.writer.details.setWaiter(run, waiter);
    const first = event.entries[0];
    if (invoker !== undefined && first !== undefined) {
      this.#child(account, { invoker, name: [runId, envelope.url, createdAtMs], messageId: first.messageId });
    }
    const key = keyOf(runId, createdAtMs);
    for (const child of this.#children.get(key) ?? []) this.#child(account, child);
    this.#children.delete(key);
    const entry = dlqId === undefined ? undefined : this.#failed.get(dlqId);
    if (entry === undefined) return;
    rows.endRun(account, runId, run, RUN_STATE_NUMBERS.RUN_FAILED, entry.failedAtMs);
    this.#failure(account, run, entry);
    if (failureFunction === undefined) return;
    const isUnderWay = failureFunction.state === 'CALLBACK_INPROGRESS';
    const known = rows.messageOf(account, run, failureFunction.messageId);
    // The function's own message follows with all details.
    if (isUnderWay && known === undefined) return;
    const message =
      known ??
      rows.addMessage(account, run, {
        name: failureFunction.messageId,
        role: MESSAGE_ROLES.failure,
        place: 0,
        step: undefined,
        envelope: { ...envelope, url: failureFunction.url },
        body: { number: 0, content: undefined },
        createdAtMs: entry.failedAtMs,
        notBeforeMs: entry.failedAtMs,
        state: MESSAGE.DELIVERED,
      }).id;
    const { details } = this.writer;
    details.beginFunction(run, message);
    const { state, status, header } = failureFunction;
    details.answerFunction(account, run, { state, status, header, body: referred(failureFunction.body) });
  }

  /** A step that waits for a child is stored only with the child. */
  #child(account: number, child: Child): void {
    const { runId, runCreatedAtMs } = child.invoker;
    const parent = this.writer.rows.run(account, runId, runCreatedAtMs);
    if (parent !== undefined) {
      this.writer.details.setInvoke(parent, child.invoker.step, child.name, child.messageId);
      return;
    }
    const key = keyOf(runId, runCreatedAtMs);
    getOrCreate(this.#children, key, () => []).push(child);
  }

  #failure(account: number, run: RunRow, entry: DlqEntry): void {
    const { dlqId, messageId, response } = entry;
    const { error, status, header } = response;
    const failure = { dlqId, error, messageId, status, header, body: referred(response.body) };
    this.writer.details.setFailure(account, run, failure);
    const { rows } = this.writer;
    const message = rows.messageOf(account, run, messageId);
    if (message !== undefined) {
      rows.setState(account, messageId, message, MESSAGE.DEAD, undefined);
      return;
    }
    // The message is not an entry: it carried the outcome of a call, and its step is unknown.
    rows.addMessage(account, run, {
      name: messageId,
      role: MESSAGE_ROLES.result,
      place: 0,
      step: undefined,
      envelope: entry.envelope,
      body: referred(entry.body),
      createdAtMs: entry.createdAtMs,
      notBeforeMs: entry.notBeforeMs,
      state: MESSAGE.DEAD,
    });
  }

  /** Entries are stored as delivered; `MessageRestored` follows for undelivered ones. */
  #entries(account: number, restored: Restored, entries: readonly RunEntry[]): void {
    const { run, envelope } = restored;
    const { rows } = this.writer;
    for (const { messageId, body, step, createdAtMs } of entries) {
      const place = restored.entries;
      restored.entries += 1;
      if (rows.entryAt(run, place)?.name === messageId) continue;
      rows.addMessage(account, run, {
        name: messageId,
        role: MESSAGE_ROLES.step,
        place,
        step,
        envelope,
        body: referred(body),
        createdAtMs,
        notBeforeMs: createdAtMs,
        state: MESSAGE.DELIVERED,
      });
    }
  }

  #message(account: number, event: QueueEventOf<'MessageRestored'>, part: RunPart): void {
    const { id, envelope, body, createdAtMs, notBeforeMs, dueAtMs, status, retried } = event;
    const { rows } = this.writer;
    const run = rows.run(account, part.runId, part.runCreatedAtMs);
    if (run === undefined) return;
    const message =
      rows.messageOf(account, run, id) ??
      rows.addMessage(account, run, {
        name: id,
        role: MESSAGE_ROLES[part.role],
        place: placeOf(part),
        step: part.role === 'failure' ? undefined : part.step,
        envelope,
        body: referred(body),
        createdAtMs,
        notBeforeMs,
        state: MESSAGE.DELIVERED,
      }).id;
    if (part.role === 'failure' && !event.isCancelRequested) {
      this.writer.details.beginFunction(run, message);
    }
    const isActive = status === 'active';
    const nextMs = retried > 0 && !isActive ? dueAtMs : null;
    const state = retried > 0 ? MESSAGE.RETRY : MESSAGE.PROGRESS;
    const isStarted = retried > 0 || isActive || notBeforeMs <= createdAtMs;
    rows.flush();
    this.#sql.resume.run([state, nextMs, isStarted ? 1 : 0, notBeforeMs, message]);
  }
}

const STATEMENTS = {
  markGone: 'UPDATE runs SET is_gone = 1 WHERE account = ? AND is_held = 1',
  endMessages: `UPDATE run_messages SET state = ${MESSAGE.DELIVERED}, next_ms = NULL
    WHERE account = ? AND state < ${MESSAGE.DELIVERED}`,
  keep: 'UPDATE runs SET is_gone = 0 WHERE id = ?',
  gone: `SELECT id, ended_ms FROM runs INDEXED BY runs_gone WHERE account = ? AND is_gone = 1 AND id > ?
    ORDER BY id LIMIT ?`,
  leave: 'UPDATE runs SET is_gone = 0, is_hidden = ?, ended_ms = ? WHERE id = ?',
  resume: 'UPDATE run_messages SET state = ?, next_ms = ?, is_started = ?, not_before_ms = ? WHERE id = ?',
} as const;

function keyOf(runId: string, of: string | number | undefined): string {
  return `${of ?? ''} ${runId}`;
}

/** The body is stored next to the snapshot. */
function referred({ number }: { readonly number: number }) {
  return { number, content: undefined };
}
