/**
 * All runs of an account: active ones, failed ones that may be resumed, and for a short while the names of ended
 * ones. Only events change them.
 *
 *  WR1 a run holds the bodies of its entries and stored events, and the envelopes of its deliveries, until it ends; a
 *      failed run holds them, and the request of its failure function, until its entry leaves the DLQ
 *  WR2 a message of a run is known here until it ends, even if the run ends first
 */
import { assert, type DlqId, type MessageId, type RunId } from '../../../../kernel/index.js';
import { SplitMap } from '../../collections/split-map.js';
import type { QueueEvent } from '../events.js';
import { BODY_RESTS_FOR_MS } from '../limits.js';
import type { DlqEntries } from '../messages/dlq-entries.js';
import type { Message } from '../messages/message.js';
import type { DlqEntry } from '../records.js';
import type { RunPart } from '../run-records.js';
import type { RunName } from '../workflow-commands.js';
import type { WorkflowEventOf } from '../workflow-events.js';
import { EndedRuns } from './ended-runs.js';
import { type FailedRun, FailedRuns } from './failed-run-index.js';
import { Run, type Waiting } from './run.js';
import { appendHeld, heldInvoker, type RunHolds, releaseRun, weighAsked, weighEvent, weighRun } from './run-holds.js';
import { type RunPlace, RunPlaces } from './run-places.js';
import { restoredRun, restoringEvents } from './run-restoring.js';
import { openPartOf, SleepingRuns } from './sleeping-runs.js';
import { Waiters } from './waiters.js';

export class Runs {
  /** Active runs that are awake. */
  readonly #awake = new SplitMap<RunId, Run>();
  readonly #sleeping = new SleepingRuns();
  readonly #places = new RunPlaces();
  readonly #ended = new EndedRuns();
  readonly #waiters: Waiters;
  readonly #failed: FailedRuns;
  /** Number of iterations over all runs in progress. */
  #walks = 0;

  constructor(private readonly holds: RunHolds) {
    this.#waiters = new Waiters(holds);
    this.#failed = new FailedRuns(holds);
  }

  /** Active and failed runs. */
  get size(): number {
    return this.activeCount + this.#failed.size;
  }

  get activeCount(): number {
    return this.#awake.size + this.#sleeping.size;
  }

  /** Steps that wait for an event. */
  get waiterCount(): number {
    return this.#waiters.size;
  }

  /** The run is awake afterwards. */
  active(id: RunId): Run | undefined {
    return this.#awake.get(id) ?? this.#woken(this.#sleeping.wake(id));
  }

  /** For reading only: of a sleeping run this is a copy. */
  look(id: RunId): Run | undefined {
    return this.#awake.get(id) ?? this.#sleeping.look(id);
  }

  /**
   * For reading only. Sees every run that stays active: sleeping runs come first, a run that wakes is seen among the
   * awake ones, and no run falls asleep during the iteration.
   */
  *actives(): IterableIterator<Run> {
    this.#walks += 1;
    try {
      yield* this.#sleeping.all();
      yield* this.#awake.values();
    } finally {
      this.#walks -= 1;
    }
  }

  failed(dlqId: DlqId): FailedRun | undefined {
    return this.#failed.get(dlqId);
  }

  /** DLQ entries of failed runs; their numbers are shared with those of plain messages. */
  get dlq(): DlqEntries {
    return this.#failed.dlq;
  }

  /** The message's run is awake afterwards. */
  placeOf(message: MessageId): RunPlace | undefined {
    const place = this.#places.of(message);
    if (place !== undefined) return place;
    const run = this.#woken(this.#sleeping.wakeOf(message));
    return run && { part: openPartOf(run), run };
  }

  /** For reading only. */
  partOf(message: MessageId): RunPart | undefined {
    const place = this.#places.of(message);
    if (place !== undefined) return place.part;
    const run = this.#sleeping.lookOf(message);
    return run && openPartOf(run);
  }

  /** The run that ended within `ENDED_RUN_WINDOW_MS` and started with this payload. */
  endedLately(id: RunId, payloadHash: string, nowMs: number) {
    return this.#ended.find(id, payloadHash, nowMs);
  }

  /** The latest run of this id that ended within about `ENDED_RUN_WINDOW_MS`, with any payload. */
  endedName(id: RunId): RunName | undefined {
    const ended = this.#ended.get(id);
    return ended && { runId: id, createdAtMs: ended.createdAtMs };
  }

  /** Waiting messages of runs that have ended. Messages may leave during an iteration. */
  get leftovers(): ReadonlySet<MessageId> {
    return this.#places.leftovers;
  }

  waitersOf(eventId: string): ReadonlySet<Waiting> {
    return this.#waiters.of(eventId);
  }

  allWaiters(): IterableIterator<Waiting> {
    return this.#waiters.all();
  }

  get nextDeadline(): Waiting | undefined {
    return this.#waiters.nextDeadline;
  }

  // ── messages: called by the account's state ──

  messageAccepted(message: Message, part: RunPart, atMs: number): void {
    const run = this.#runOf(part);
    this.#places.add(message.id, part, run);
    if (part.role === 'failure') {
      this.holds.holdBody(part.payload);
      this.#failed.functionStarted(message, part.dlqId);
      return;
    }
    if (run === undefined) return;
    if (part.role === 'call') {
      run.addCall(part.step.stepId, message.id);
      weighAsked(run, this.holds);
    }
    if (part.role !== 'step') return;
    this.#append(run, message, part, atMs);
    this.#maySleep(run);
  }

  #append(run: Run, message: Message, part: Extract<RunPart, { role: 'step' }>, atMs: number): void {
    const body = { number: message.bodyNumber, bytes: message.bodyBytes };
    const known = run.entries[part.index];
    if (known !== undefined) {
      run.replace(part.index, { ...known, messageId: message.id });
      return;
    }
    assert(part.index === run.entries.length, 'an entry is appended that is not the next', { id: message.id });
    appendHeld(run, { messageId: message.id, body, step: part.step, createdAtMs: atMs }, this.holds);
  }

  messageRestored(message: Message, part: RunPart, isWaiting: boolean): void {
    if (part.role === 'failure') this.holds.holdBody(part.payload);
    const run = this.#runOf(part);
    this.#places.restore(message.id, part, run, isWaiting);
    if (run !== undefined) this.#maySleep(run);
  }

  /** The message has ended. */
  messageLeft(message: Message): void {
    const place = this.placeOf(message.id);
    if (place === undefined) return;
    const { part, run } = place;
    this.#places.delete(message.id, place);
    if (part.role === 'failure') this.holds.dropBody(part.payload);
    if (run !== undefined) this.#maySleep(run);
  }

  /** Adds the DLQ entry of a run's message; the end of the run follows. */
  addEntry(entry: DlqEntry): void {
    this.dlq.add(entry);
  }

  /** @returns undefined when the entry does not belong to a run */
  dropEntry(dlqId: DlqId): DlqEntry | undefined {
    if (this.dlq.get(dlqId) === undefined) return undefined;
    const entry = this.dlq.delete(dlqId);
    const run = this.#failed.delete(dlqId);
    if (run !== undefined) releaseRun(run, this.holds);
    return entry;
  }

  forget(nowMs: number): void {
    this.#ended.forget(nowMs);
  }

  // ── events ──

  start(event: WorkflowEventOf<'RunStarted'>): void {
    const { runId, atMs, envelope, invoker, kept, payloadHash, rerunOf } = event;
    const run = new Run(runId, atMs, this.holds.holdEnvelope(envelope), heldInvoker(invoker, this.holds), payloadHash);
    const isNew = this.#awake.set(runId, run) && !this.#sleeping.has(runId);
    assert(isNew, 'a run is started that is active', { runId });
    weighRun(run, this.holds);
    for (const entry of kept) appendHeld(run, entry, this.holds);
    for (const content of rerunOf?.contents ?? []) this.holds.storeBody(content);
  }

  reconfigure({ runId, envelope }: WorkflowEventOf<'RunReconfigured'>): void {
    const run = this.#run(runId);
    const before = run.shared;
    run.shared = this.holds.holdEnvelope(envelope);
    this.holds.dropEnvelope(before);
  }

  end({ runId, atMs, state, dlqId }: WorkflowEventOf<'RunEnded'>, isWaiting: (message: MessageId) => boolean): void {
    const run = this.#run(runId);
    run.endState = state;
    this.#awake.delete(runId);
    this.#places.ended(run, isWaiting);
    this.#waiters.removeAll(run);
    for (const stored of run.storedEvents.splice(0)) weighEvent(run, stored, -1, this.holds);
    if (run.invoker !== undefined) this.holds.dropEnvelopeOf(run.invoker.delivery.envelope);
    const entry = dlqId === undefined ? undefined : this.dlq.get(dlqId);
    const first = run.entries[0];
    if (first !== undefined) this.#ended.add(run, first.messageId, atMs);
    if (dlqId === undefined || entry === undefined) {
      releaseRun(run, this.holds);
      return;
    }
    this.#failed.add(run, entry);
  }

  addWaiter({ waiter }: WorkflowEventOf<'WaiterAdded'>): void {
    this.#waiters.add(this.#run(waiter.runId), waiter);
  }

  removeWaiter({ runId, stepId }: WorkflowEventOf<'WaiterRemoved'>): void {
    const waiting = this.#run(runId).waiterOf(stepId);
    assert(waiting !== undefined, 'a waiter leaves that is not there', { runId });
    this.#waiters.remove(waiting);
  }

  storeEvent({ runId, eventId, id, content }: WorkflowEventOf<'EventStored'>): void {
    const run = this.#run(runId);
    // A copy, because a view would keep the whole journal entry in memory.
    const stored = { eventId, id, content: Uint8Array.from(content) };
    run.storedEvents.push(stored);
    weighEvent(run, stored, 1, this.holds);
  }

  takeEvent({ runId, eventId }: WorkflowEventOf<'StoredEventTaken'>): void {
    const run = this.#run(runId);
    const at = run.storedEvents.findIndex((stored) => stored.eventId === eventId);
    assert(at >= 0, 'an event is taken that is not stored', { runId });
    for (const taken of run.storedEvents.splice(at, 1)) weighEvent(run, taken, -1, this.holds);
  }

  startInvoke({ runId, step, childRunId, messageId }: WorkflowEventOf<'InvokeStarted'>): void {
    const run = this.#run(runId);
    run.addInvoke(step.stepId, { child: childRunId, messageId });
    weighAsked(run, this.holds);
  }

  endFunction(event: WorkflowEventOf<'FailureFunctionEnded'>): void {
    this.#failed.functionEnded(event);
  }

  restore(event: WorkflowEventOf<'RunRestored'>): void {
    const run = restoredRun(event, this.holds);
    const { dlqId, failureFunction, waiters } = event;
    if (dlqId === undefined) this.#awake.set(run.id, run);
    else this.#failed.restore(run, dlqId, failureFunction);
    for (const waiter of waiters) this.#waiters.add(run, waiter);
  }

  restoreEntries({ runId, dlqId, entries }: WorkflowEventOf<'RunEntriesRestored'>): void {
    const run = dlqId === undefined ? this.#run(runId) : this.#failed.get(dlqId)?.run;
    if (run !== undefined) for (const entry of entries) appendHeld(run, entry, this.holds);
  }

  restoreEnded({ entries }: WorkflowEventOf<'EndedRunsRestored'>): void {
    this.#ended.restore(entries);
  }

  /** After the account's counters, before DLQ entries and messages. */
  *rebuildingEvents(): Iterable<QueueEvent> {
    for (const run of this.actives()) yield* restoringEvents(run);
    for (const [dlqId, { run, entry, failureFunction }] of this.#failed.all()) {
      yield { type: 'DlqRestored', entry };
      yield* restoringEvents(run, dlqId, failureFunction);
    }
    for (const entries of this.#ended.entries()) yield { type: 'EndedRunsRestored', entries };
  }

  /** SLR1 (a run may sleep while its only open message is a step that waits for a later time). */
  #maySleep(run: Run): void {
    const open = run.onlyOpen;
    if (open === undefined || this.#walks > 0 || this.#awake.get(run.id) !== run) return;
    const forMs = this.holds.restsForMs(open);
    if (forMs === 0 || !this.#sleeping.putToSleep(run, open)) return;
    this.#awake.delete(run.id);
    this.#places.slept(open);
    if (forMs >= BODY_RESTS_FOR_MS) for (const { body } of run.entries) this.holds.restBody(body);
  }

  #woken(run: Run | undefined): Run | undefined {
    if (run === undefined) return undefined;
    this.#awake.set(run.id, run);
    for (const open of run.open) this.#places.woke(open, { part: openPartOf(run), run });
    return run;
  }

  #run(id: RunId): Run {
    const run = this.active(id);
    assert(run !== undefined, 'an event of a run that is not active', { id });
    return run;
  }

  /** A later run may have the same id. */
  #runOf({ runId, runCreatedAtMs }: RunPart): Run | undefined {
    const run = this.active(runId);
    return run?.createdAtMs === runCreatedAtMs ? run : undefined;
  }
}
