/** One run: its entries, and what is open of it. Changed by `Runs` alone. */
import type { MessageId, RunId } from '../../kernel/index.js';
import type { SharedEnvelope } from '../queue/envelopes.js';
import type { HeapItem } from '../queue/indexed-heap.js';
import type { Message } from '../queue/messages.js';
import type { RunName } from './commands.js';
import type { Invoker, RunEndState, RunEntry, StoredEvent, Waiter } from './records.js';
import { StepPlaces } from './step-places.js';

export class Waiting implements HeapItem {
  heapIndex = -1;
  /** Of what it has for itself. */
  readonly bytes: number;

  constructor(
    readonly waiter: Waiter,
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

export class Run {
  readonly entries: RunEntry[] = [];
  readonly #steps = new StepPlaces(this.entries);
  /** Of the entries' bodies. */
  bytes = 0;
  /** Messages that have not come to their end. */
  readonly open = new Set<Message>();
  readonly waiting: Waiting[] = [];
  readonly storedEvents: StoredEvent[] = [];
  /** By step id. */
  readonly invokes = new Map<number, StartedInvoke>();
  readonly calls = new Map<number, MessageId>();
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
    return this.#steps.find(stepId, targetStep);
  }

  resultOf(stepId: number): RunEntry | undefined {
    return this.#steps.find(stepId);
  }

  waiterOf(stepId: number): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.step.stepId === stepId);
  }

  /** The first to wait for it. */
  waiterFor(eventId: string): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.eventId === eventId);
  }
}
