/** One run: its entries, and what is open of it. Changed by `Runs` alone. */
import type { MessageId, RunId } from '../../../kernel/index.js';
import type { HeapItem } from '../collections/indexed-heap.js';
import { appended, without } from '../collections/short-list.js';
import type { SharedEnvelope } from '../messages/envelopes.js';
import type { RunName } from './commands.js';
import type { EventWaiter, Invoker, RunEndState, RunEntry, StoredEvent } from './records.js';
import { findStep, SHORT_LIST, StepPlaces } from './step-places.js';

export class Waiting implements HeapItem {
  heapIndex = -1;
  /** It counts what it has for itself. */
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

/** As many are looked through as fast as one is found otherwise. */
const FEW = 16;

/** A hundred thousand of them sleep: what most runs never need is made when it is needed, an empty map takes 250 bytes. */
export class Run {
  #entries: RunEntry[] = [];
  #open: readonly MessageId[] | Set<MessageId> = [];
  #steps: StepPlaces | undefined;
  /** It counts the entries' bodies. */
  bytes = 0;
  /** What it takes in the state itself (run-holds.ts). */
  memoryBytes = 0;
  readonly waiting: Waiting[] = [];
  readonly storedEvents: StoredEvent[] = [];
  #invokes: Map<number, StartedInvoke> | undefined;
  #calls: Map<number, MessageId> | undefined;
  /** Undefined while it goes on. */
  endState: RunEndState | undefined = undefined;

  constructor(
    readonly id: RunId,
    readonly createdAtMs: number,
    /** The trigger's envelope: where the run is, its settings, its failure function. */
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

  /** Messages that have not come to their end, in the order in which they came. */
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

  /** All that it waits for is this message: nobody waits for the run itself, or has something to bring to it. */
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

  /** What it has asked for beside its entries; what has come of it counts on. */
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

  /** The first to wait for it. */
  waiterFor(eventId: string): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.eventId === eventId);
  }
}
