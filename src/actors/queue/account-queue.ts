/**
 * One account's queue in memory: its engine, its bodies, and its changes that are not stored yet.
 *
 *  QA1 an answer waits for the entry with all unstored changes of its partition, also when it changed nothing itself
 *  QA2 an attempt is passed on when the entry with its start is stored, not earlier
 *  QA3 the events of one decision in steps go into one entry: they are held back until the last step, and the account
 *      does no other work until then
 */
import type {
  AccountTerms,
  AccountUsage,
  BodyRef,
  BodySink,
  Envelope,
  OpenRunAttempt,
  QueueBounds,
  RecordEvent,
} from '../../domain/queue/index.js';
import type { AccountId, MessageId, PartitionName } from '../../kernel/index.js';
import { parseQueuePartition } from '../../protocol/index.js';
import type { QueuePartitionFold } from './queue-fold.js';
import type { QueueWork } from './queue-work.js';

/** The contents of bodies: in memory, or read from where they are stored. */
export interface PartitionBodies extends BodySink {
  /** The bodies put so far go into the entry in flight. */
  sealed(): void;
  /** The entry in flight is stored; `position` is that of its last message. */
  stored(position: number): void;
  /** `sealed` excludes bodies that are put from now on until `letGo` (QA3: one decision, one entry). */
  hold(): void;
  letGo(): void;
  /** The bodies put since the last call came from the entry at this position. */
  replayedAt(position: number): void;
  /** Undefined: it has to be loaded. */
  get(number: number): Uint8Array | undefined;
  /** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
  load(number: number): Promise<Uint8Array>;
  /** A verified snapshot holds all bodies up to this position. */
  covered(position: number): void;
  /** The activation is over. */
  close(): void;
}

/** An attempt with a recorded start, with all that is needed to make the call. */
export interface StartedAttempt {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** Number 0: empty. */
  readonly body: BodyRef;
  readonly retried: number;
  readonly restarts: number;
  /** Set where the message belongs to a workflow run. */
  readonly run?: OpenRunAttempt | undefined;
}

export class AccountQueue {
  readonly account: AccountId;
  /** The last known terms: an account keeps its limits while they cannot be asked for. */
  terms: AccountTerms | undefined;
  /** Commands that came before the account was known. */
  readonly parked: QueueWork[] = [];
  /** The next time at which `work` has something to do, on the journal's clock. Undefined: none. */
  dueAtMs: number | undefined = 0;
  /** Called when the process has more room. */
  lookAgain: (() => void) | undefined;
  /** The time since which more is due than could be started, on the monotonic clock. */
  behindSinceMs: number | undefined;
  /** Attempts started and not concluded; each holds a delivery place of the process. */
  inFlight = 0;
  /** The memory counted for the account (held-messages.ts), and below the bounds derived from it. */
  countedBytes = 0;
  boundsFor: ((held: AccountUsage) => QueueBounds) | undefined;
  #open: Uint8Array[] = [];
  /** The effects held back (QA3); undefined: none are. */
  #held: Uint8Array[] | undefined;
  #started: StartedAttempt[] = [];
  #startedInFlight: StartedAttempt[] = [];
  #isSealed = false;

  constructor(
    readonly name: PartitionName,
    readonly fold: QueuePartitionFold,
    readonly bodies: PartitionBodies,
    /** Writes an event into the open turn. */
    readonly record: RecordEvent,
  ) {
    this.account = parseQueuePartition(name);
  }

  isDue(nowMs: number): boolean {
    return this.#held === undefined && this.dueAtMs !== undefined && this.dueAtMs <= nowMs;
  }

  add(effects: Uint8Array): void {
    (this.#held ?? this.#open).push(effects);
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** `seal` excludes effects that are added from now on. */
  hold(): void {
    this.#held = [];
    this.bodies.hold();
  }

  /** Adds the held-back effects to the open turn. @returns those effects */
  letGo(): readonly Uint8Array[] {
    const held = this.#held ?? [];
    for (const effects of held) this.#open.push(effects);
    this.#held = undefined;
    this.bodies.letGo();
    return held;
  }

  addStarted(attempt: StartedAttempt): void {
    this.#started.push(attempt);
  }

  /** The turn that an answer given now must wait for (QA1); 0: none. */
  turnToWaitFor(openTurn: number): number {
    if (this.#open.length > 0) return openTurn;
    return this.#isSealed ? openTurn - 1 : 0;
  }

  /** @returns the open effects, which are in flight from now on */
  seal(): readonly Uint8Array[] {
    const effects = this.#open;
    this.#open = [];
    this.#isSealed = true;
    this.#startedInFlight = this.#started;
    this.#started = [];
    this.bodies.sealed();
    return effects;
  }

  /** The entry in flight is stored. @returns the attempts that may be made now */
  commit(position: number): StartedAttempt[] {
    const attempts = this.#startedInFlight;
    this.#startedInFlight = [];
    this.#isSealed = false;
    this.bodies.stored(position);
    return attempts;
  }
}
