/**
 * What a snapshot holds of runs → rows: those that go on and those that may be resumed. Other runs stay as they were
 * folded; one that went on then and is not named any more has ended, and nobody knows how: it goes.
 *
 * Begun anew with `clear` when it was interrupted: what it remembers between events is of one pass.
 */

import type { DlqEntry, QueueEvent, QueueEventOf } from '../../domain/queue/index.js';
import type { Invoker, RunEntry, RunPart } from '../../domain/queue/runs/index.js';
import { obtain } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import type { ChildName } from './run-details.js';
import type { RunRow } from './run-rows.js';
import { invokerText, placeOf, type RunWriter } from './run-writer.js';
import { MESSAGE, MESSAGE_ROLES, RUN_STATE_NUMBERS } from './schema.js';

interface Restored {
  readonly run: RunRow;
  readonly envelope: QueueEventOf<'RunRestored'>['envelope'];
  /** Entries so far. */
  entries: number;
}

interface Child {
  readonly invoker: Invoker;
  readonly name: ChildName;
  readonly messageId: string;
}

export class RunRestorer {
  /** Entries of the DLQ come before their runs. */
  readonly #failed = new Map<string, DlqEntry>();
  readonly #restored = new Map<string, Restored>();
  /** Children whose parents have not come yet. */
  readonly #children = new Map<string, Child[]>();
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(
    file: SqlFile,
    private readonly writer: RunWriter,
  ) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Before the first event: nothing is known to go on. */
  clear(account: number): void {
    this.#failed.clear();
    this.#restored.clear();
    this.#children.clear();
    this.writer.rows.flush();
    this.writer.rows.forget();
    this.#sql.markGone.run([account]);
    this.#sql.endMessages.run([account]);
  }

  /** @returns whether the event is about a run */
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
        // One that was delivered is nothing to its run any more.
        if (event.workflow !== undefined) this.#message(account, event, event.workflow);
        return event.envelope.workflow !== undefined;
      default:
        return false;
    }
  }

  /** After the last event. @returns where to go on, undefined at the end */
  dropGone(account: number, after: number, count: number): number | undefined {
    const rows = this.#sql.gone.all([account, after, count]);
    for (const row of rows) {
      // One without an end is hidden at once, and removed with the oldest.
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
    // It comes by itself, with all that is known of it.
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

  /** The step that waits for a child is told of by the child alone. */
  #child(account: number, child: Child): void {
    const { runId, runCreatedAtMs } = child.invoker;
    const parent = this.writer.rows.run(account, runId, runCreatedAtMs);
    if (parent !== undefined) {
      this.writer.details.setInvoke(parent, child.invoker.step, child.name, child.messageId);
      return;
    }
    const key = keyOf(runId, runCreatedAtMs);
    obtain(this.#children, key, () => []).push(child);
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
    // Not an entry: it brought the outcome of a call, of which step is not told any more.
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

  /** Each as if it had been delivered; of those that have not been, `MessageRestored` follows. */
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

/** Kept beside the snapshot. */
function referred({ number }: { readonly number: number }) {
  return { number, content: undefined };
}
