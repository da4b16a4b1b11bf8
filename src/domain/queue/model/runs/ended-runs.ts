/**
 * Runs that ended a short while ago. They recognise a trigger that is sent again because its answer was lost, after
 * the run has ended: the same id with the same payload is a repetition for `ENDED_RUN_WINDOW_MS`, and a new run after
 * that.
 */
import { type MessageId, OldestFirst, type RunId } from '../../../../kernel/index.js';
import { ENDED_RUN_WINDOW_MS } from '../run-limits.js';
import type { Run } from './run.js';

interface EndedRun {
  readonly payloadHash: string;
  readonly messageId: MessageId;
  readonly createdAtMs: number;
  readonly endedAtMs: number;
}

type Entry = readonly [runId: RunId, payloadHash: string, messageId: MessageId, createdAtMs: number, endedAtMs: number];

/** More than one event adds, so that they do not accumulate; few, so that no event takes long. */
const FORGOTTEN_AT_ONCE = 4;
const ENTRIES_AT_ONCE = 500;

export class EndedRuns {
  /** In the order of their ends. */
  readonly #byId = new Map<RunId, EndedRun>();
  readonly #order = new OldestFirst(this.#byId);
  #oldest: RunId | undefined;

  get(id: RunId): EndedRun | undefined {
    return this.#byId.get(id);
  }

  find(id: RunId, payloadHash: string, nowMs: number): EndedRun | undefined {
    const ended = this.#byId.get(id);
    if (ended === undefined || ended.payloadHash !== payloadHash) return undefined;
    return ended.endedAtMs + ENDED_RUN_WINDOW_MS > nowMs ? ended : undefined;
  }

  add({ id, payloadHash, createdAtMs }: Run, messageId: MessageId, endedAtMs: number): void {
    // The run moves to the end of the order.
    if (this.#byId.delete(id) && this.#oldest === id) this.#oldest = undefined;
    this.#byId.set(id, { payloadHash, messageId, createdAtMs, endedAtMs });
  }

  forget(nowMs: number): void {
    for (let left = FORGOTTEN_AT_ONCE; left > 0; left -= 1) {
      this.#oldest ??= this.#order.next();
      if (this.#oldest === undefined) return;
      const { endedAtMs } = this.#byId.get(this.#oldest) as EndedRun;
      if (endedAtMs + ENDED_RUN_WINDOW_MS > nowMs) return;
      this.#byId.delete(this.#oldest);
      this.#oldest = undefined;
    }
  }

  restore(entries: readonly Entry[]): void {
    for (const [id, payloadHash, messageId, createdAtMs, endedAtMs] of entries) {
      this.#byId.set(id, { payloadHash, messageId, createdAtMs, endedAtMs });
    }
  }

  *entries(): Iterable<readonly Entry[]> {
    let some: Entry[] = [];
    for (const [id, { payloadHash, messageId, createdAtMs, endedAtMs }] of this.#byId) {
      some.push([id, payloadHash, messageId, createdAtMs, endedAtMs]);
      if (some.length < ENTRIES_AT_ONCE) continue;
      yield some;
      some = [];
    }
    if (some.length > 0) yield some;
  }
}
