/**
 * Failed runs by their DLQ entries, with the state of each failure function. A run's data is released with its entry.
 */
import { assert, type DlqId } from '../../../../kernel/index.js';
import { DlqEntries } from '../messages/dlq-entries.js';
import type { Message } from '../messages/message.js';
import type { BodyRef, DlqEntry } from '../records.js';
import type { FailureFunction } from '../run-records.js';
import type { WorkflowEventOf } from '../workflow-events.js';
import type { Run } from './run.js';
import type { RunHolds } from './run-holds.js';

export interface FailedRun {
  readonly run: Run;
  readonly entry: DlqEntry;
  failureFunction: FailureFunction | undefined;
}

const NO_BODY: BodyRef = { number: 0, bytes: 0 };

export class FailedRuns {
  readonly #byEntry = new Map<DlqId, FailedRun>();
  /**
   * The DLQ entries of runs; their numbers are shared with those of plain messages. The entry is added before its
   * run.
   */
  readonly dlq = new DlqEntries();

  constructor(private readonly holds: RunHolds) {}

  get size(): number {
    return this.#byEntry.size;
  }

  get(dlqId: DlqId): FailedRun | undefined {
    return this.#byEntry.get(dlqId);
  }

  all(): Iterable<readonly [DlqId, FailedRun]> {
    return this.#byEntry;
  }

  add(run: Run, entry: DlqEntry): void {
    this.#byEntry.set(entry.dlqId, { run, entry, failureFunction: undefined });
  }

  /** From a snapshot. */
  restore(run: Run, dlqId: DlqId, failureFunction: FailureFunction | undefined): void {
    const entry = this.dlq.get(dlqId);
    assert(entry !== undefined, 'a failed run without its entry', { dlqId });
    if (failureFunction !== undefined) {
      this.holds.holdBody(failureFunction.body);
      this.holds.holdBody(failureFunction.request);
    }
    this.#byEntry.set(dlqId, { run, entry, failureFunction });
  }

  /** @returns the entry's run, with a list to be released; undefined: the entry had none */
  delete(dlqId: DlqId): Run | undefined {
    const failed = this.#byEntry.get(dlqId);
    if (failed === undefined) return undefined;
    this.#byEntry.delete(dlqId);
    this.#release(failed.failureFunction);
    return failed.run;
  }

  functionStarted(message: Message, dlqId: DlqId): void {
    const failed = this.#byEntry.get(dlqId);
    if (failed === undefined) return;
    const before = failed.failureFunction;
    const request = { number: message.bodyNumber, bytes: message.bodyBytes };
    // Held before the old one is released: it may be the same body.
    this.holds.holdBody(request);
    this.#release(before);
    failed.failureFunction = {
      state: 'CALLBACK_INPROGRESS',
      messageId: message.id,
      url: message.shared.envelope.url,
      status: 0,
      header: [],
      body: NO_BODY,
      request,
    };
  }

  functionEnded({ dlqId, state, status, header, response }: WorkflowEventOf<'FailureFunctionEnded'>): void {
    const failed = this.#byEntry.get(dlqId);
    const before = failed?.failureFunction;
    this.holds.takeBody(response);
    if (failed === undefined || before === undefined || state === undefined) {
      this.holds.dropBody(response);
      if (failed === undefined) return;
      this.#release(before);
      failed.failureFunction = undefined;
      return;
    }
    const isCallable = state === 'CALLBACK_FAIL';
    this.holds.dropBody(before.body);
    if (!isCallable) this.holds.dropBody(before.request);
    const body = { number: response.number, bytes: response.bytes };
    const request = isCallable ? before.request : NO_BODY;
    failed.failureFunction = { ...before, state, status, header, body, request };
  }

  #release(failureFunction: FailureFunction | undefined): void {
    if (failureFunction === undefined) return;
    this.holds.dropBody(failureFunction.body);
    this.holds.dropBody(failureFunction.request);
  }
}
