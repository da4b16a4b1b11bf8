/**
 * One account's queue in memory: its engine, its bodies, and what of it is not stored yet.
 *
 *  QA1 an answer waits for the entry with everything unstored of its partition, also when it changed nothing
 *  QA2 an attempt is handed on when the entry with its start is stored, and not before
 *  QA3 what one decision records in steps is in one entry: it is held back until the last of them, and nothing else of
 *      the account happens meanwhile
 */
import type {
  AccountTerms,
  BodyRef,
  BodySink,
  Envelope,
  Held,
  OpenRunAttempt,
  QueueBounds,
  RecordEvent,
} from '../../domain/queue/index.js';
import type { AccountId, MessageId, PartitionName } from '../../kernel/index.js';
import { parseQueuePartition } from '../../messages/index.js';
import type { QueuePartitionFold } from './queue-fold.js';
import type { QueueWork } from './queue-work.js';

/** The bytes of bodies: in memory, or where they were stored. */
export interface PartitionBodies extends BodySink {
  /** What was put until now goes into the entry that is on its way. */
  sealed(): void;
  /** The entry on its way is stored; `position` is its last message's. */
  stored(position: number): void;
  /** What is put from now on is left by `sealed`, until it is let go (QA3). */
  hold(): void;
  letGo(): void;
  /** What was put since the last call came with the entry at this position. */
  replayedAt(position: number): void;
  /** Undefined: it has to be loaded. */
  get(number: number): Uint8Array | undefined;
  /** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
  load(number: number): Promise<Uint8Array>;
  /** A verified snapshot has all that came up to this position. */
  covered(position: number): void;
  /** The activation is over. */
  close(): void;
}

/** An attempt whose start is recorded: all that has to be known to make the call. */
export interface StartedAttempt {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** Number 0: empty. */
  readonly body: BodyRef;
  readonly retried: number;
  readonly restarts: number;
  /** There where the message belongs to a workflow's run. */
  readonly run?: OpenRunAttempt | undefined;
}

export class AccountQueue {
  readonly account: AccountId;
  /** They are what was heard last: an account does not lose its limits because nobody can be asked. */
  terms: AccountTerms | undefined;
  /** Came before the account was heard of. */
  readonly parked: QueueWork[] = [];
  /** When `work` has something to do; on the journal's clock. Undefined: not by itself. */
  dueAtMs: number | undefined = 0;
  /** Has it looked at when the process has more room. */
  lookAgain: (() => void) | undefined;
  /** Since when more is due than could be started, on the monotonic clock. */
  behindSinceMs: number | undefined;
  /** Attempts started and not concluded: each holds a place in the process's room. */
  inFlight = 0;
  /** The memory that the process has counted for it (held-messages.ts), and below what it may hold. */
  countedBytes = 0;
  boundsFor: ((held: Held) => QueueBounds) | undefined;
  #open: Uint8Array[] = [];
  /** QA3. Undefined: nothing is held back. */
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

  /** What is added from now on is left by `seal`. */
  hold(): void {
    this.#held = [];
    this.bodies.hold();
  }

  /** It goes with the others from now on. @returns what it was */
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

  /** QA1. The turn whose entry an answer given now must wait for; 0: none. */
  turnToWaitFor(openTurn: number): number {
    if (this.#open.length > 0) return openTurn;
    return this.#isSealed ? openTurn - 1 : 0;
  }

  /** The open effects, which are now on their way. */
  seal(): readonly Uint8Array[] {
    const effects = this.#open;
    this.#open = [];
    this.#isSealed = true;
    this.#startedInFlight = this.#started;
    this.#started = [];
    this.bodies.sealed();
    return effects;
  }

  /** What was on its way is stored. Returns the attempts that may be made now. */
  commit(position: number): StartedAttempt[] {
    const attempts = this.#startedInFlight;
    this.#startedInFlight = [];
    this.#isSealed = false;
    this.bodies.stored(position);
    return attempts;
  }
}
