/** One run: its entries and its open work. Only `Runs` changes it. */
import type { MessageId, RunId } from '../../../../kernel/index.js';
import type { HeapItem } from '../../collections/indexed-heap.js';
import type { SharedEnvelope } from '../messages/envelopes.js';
import type { EventWaiter, Invoker, RunEndState, RunEntry, StoredEvent } from '../run-records.js';
import type { RunName } from '../workflow-commands.js';
import { findStep, SHORT_LIST, StepPlaces } from './step-places.js';

/**
 * The lists of a run are many and mostly short, so they are copied for each item: V8 gives a growing array spare room of
 * 16 places plus half its length. A longer list grows like a normal array, because copying it would take long.
 */
const COPIED_UP_TO = 16;

export class Waiting implements HeapItem {
  heapIndex = -1;
  /** Bytes of the waiter's own texts. */
  readonly bytes: number;

  constructor(
    readonly waiter: EventWaiter,
    readonly run: Run,
  ) {
    const { eventId, stepText, timeoutText, timeoutBody = '', onNotify, onTimeout } = waiter;
    const texts = [eventId, stepText, timeoutText, timeoutBody, ...[...onNotify.headers, ...onTimeout.headers].flat()];
    this.bytes = texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  }
}

export interface StartedInvoke {
  readonly child: RunId;
  readonly messageId: MessageId;
}

const NO_INVOKES: ReadonlyMap<number, StartedInvoke> = new Map();
const NO_CALLS: ReadonlyMap<number, MessageId> = new Map();

/** Up to this length a linear search is as fast as a set. */
const FEW = 16;

/** Rarely needed parts are created on demand: an empty map takes 250 bytes, and a hundred thousand runs may wait. */
export class Run {
  #entries: RunEntry[] = [];
  #open: readonly MessageId[] | Set<MessageId> = [];
  #steps: StepPlaces | undefined;
  /** Bytes of the entries' bodies. */
  bytes = 0;
  /** Bytes in the state itself (run-holds.ts). */
  memoryBytes = 0;
  readonly waiting: Waiting[] = [];
  readonly storedEvents: StoredEvent[] = [];
  #invokes: Map<number, StartedInvoke> | undefined;
  #calls: Map<number, MessageId> | undefined;
  /** Undefined while the run is active. */
  endState: RunEndState | undefined = undefined;

  constructor(
    readonly id: RunId,
    readonly createdAtMs: number,
    /** The trigger's envelope: URL, settings and failure function of the run. */
    public shared: SharedEnvelope,
    readonly invoker: Invoker | undefined,
    readonly payloadHash: string,
  ) {}

  get entries(): readonly RunEntry[] {
    return this.#entries;
  }

  append(entry: RunEntry): void {
    this.#entries = appended(this.#entries, entry);
  }

  replace(index: number, entry: RunEntry): void {
    this.#entries[index] = entry;
  }

  /** Messages that have not ended, in order of acceptance. */
  get open(): Iterable<MessageId> {
    return this.#open;
  }

  opened(message: MessageId): void {
    if (this.#open instanceof Set) this.#open.add(message);
    else this.#open = this.#open.length < FEW ? this.#open.concat([message]) : new Set([...this.#open, message]);
  }

  ended(message: MessageId): void {
    if (this.#open instanceof Set) this.#open.delete(message);
    else this.#open = without(this.#open, message);
  }

  /** The only open message of an active run that has no waiters, stored events or invoker; else undefined. */
  get onlyOpen(): MessageId | undefined {
    if (this.#open instanceof Set || this.#open.length !== 1) return undefined;
    const isPlain = this.waiting.length === 0 && this.storedEvents.length === 0 && this.invoker === undefined;
    return isPlain && !this.isOver ? this.#open[0] : undefined;
  }

  /** By step id. */
  get invokes(): ReadonlyMap<number, StartedInvoke> {
    return this.#invokes ?? NO_INVOKES;
  }

  get calls(): ReadonlyMap<number, MessageId> {
    return this.#calls ?? NO_CALLS;
  }

  addInvoke(stepId: number, invoke: StartedInvoke): void {
    this.#invokes ??= new Map();
    this.#invokes.set(stepId, invoke);
  }

  addCall(stepId: number, messageId: MessageId): void {
    this.#calls ??= new Map();
    this.#calls.set(stepId, messageId);
  }

  get name(): RunName {
    return { runId: this.id, createdAtMs: this.createdAtMs };
  }

  get isOver(): boolean {
    return this.endState !== undefined;
  }

  /** Waits, calls and child runs; completed calls and child runs still count. */
  get askedCount(): number {
    return this.waiting.length + this.calls.size + this.invokes.size;
  }

  get waitingBytes(): number {
    return this.waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get url(): string {
    return this.shared.envelope.url;
  }

  /** The entry of a step's result, or of its announcement. */
  entryOf(stepId: number, targetStep: number): RunEntry | undefined {
    return this.#find(stepId, targetStep);
  }

  resultOf(stepId: number): RunEntry | undefined {
    return this.#find(stepId);
  }

  #find(stepId: number, targetStep?: number): RunEntry | undefined {
    if (this.#entries.length <= SHORT_LIST) return findStep(this.#entries, stepId, targetStep);
    this.#steps ??= new StepPlaces();
    return this.#steps.find(this.#entries, stepId, targetStep);
  }

  waiterOf(stepId: number): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.step.stepId === stepId);
  }

  /** The first waiter of the event. */
  waiterFor(eventId: string): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.eventId === eventId);
  }
}

/** @returns the list without the item; the same list if it does not contain the item */
export function without<T>(list: readonly T[], item: T): readonly T[] {
  const at = list.indexOf(item);
  return at === -1 ? list : list.slice(0, at).concat(list.slice(at + 1));
}

/** @returns the list with the item, to be stored in place of the old one */
export function appended<T>(list: T[], item: T): T[] {
  if (list.length < COPIED_UP_TO) return list.concat([item]);
  list.push(item);
  return list;
}
