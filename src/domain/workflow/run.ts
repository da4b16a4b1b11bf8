/** One run: its entries, and what is open of it. Changed by `Runs` alone. */
import type { MessageId, RunId } from '../../kernel/index.js';
import type { SharedEnvelope } from '../queue/envelopes.js';
import type { HeapItem } from '../queue/indexed-heap.js';
import type { Message } from '../queue/messages.js';
import type { Invoker, RunEndState, RunEntry, StoredEvent, Waiter } from './records.js';

export class Waiting implements HeapItem {
  heapIndex = -1;

  constructor(
    readonly waiter: Waiter,
    readonly run: Run,
  ) {}
}

export interface StartedInvoke {
  readonly child: RunId;
  readonly messageId: MessageId;
}

export class Run {
  readonly entries: RunEntry[] = [];
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

  get isOver(): boolean {
    return this.endState !== undefined;
  }

  /** What it has asked for beside its entries; what has come of it counts on. */
  get askedCount(): number {
    return this.waiting.length + this.calls.size + this.invokes.size;
  }

  get url(): string {
    return this.shared.envelope.url;
  }

  /** The entry of a step's result, or of its announcement. */
  entryOf(stepId: number, targetStep: number): RunEntry | undefined {
    // What is asked for mostly came lately, or not at all.
    for (let at = this.entries.length - 1; at > 0; at -= 1) {
      const entry = this.entries[at] as RunEntry;
      if (entry.step?.stepId === stepId && entry.step.targetStep === targetStep) return entry;
    }
    return undefined;
  }

  resultOf(stepId: number): RunEntry | undefined {
    for (let at = this.entries.length - 1; at > 0; at -= 1) {
      const entry = this.entries[at] as RunEntry;
      if (entry.step?.stepId === stepId) return entry;
    }
    return undefined;
  }

  waiterOf(stepId: number): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.step.stepId === stepId);
  }

  /** The first to wait for it. */
  waiterFor(eventId: string): Waiting | undefined {
    return this.waiting.find(({ waiter }) => waiter.eventId === eventId);
  }
}
