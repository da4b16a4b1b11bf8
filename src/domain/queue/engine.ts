/**
 * An account's queue as one thing: its state, the commands that are asked of it, and what it does by itself. Every
 * change is an event that has been applied when it is recorded. Nothing here takes longer than about two
 * milliseconds a call, whatever the state holds.
 */
import type { MessageId } from '../../kernel/index.js';
import type { Held } from './accounts/held.js';
import { isTickRefused } from './accounts/held-refusal.js';
import { QueueState } from './accounts/queue-state.js';
import { rebuildingEvents } from './accounts/rebuild.js';
import { rowOf } from './command-table.js';
import type { QueueCommand, QueueReply } from './commands.js';
import { expireDlq } from './dead-letters/dlq-expiry.js';
import type { QueueContext } from './decision.js';
import { isOfEndedRun, startAttempt } from './delivery/attempts.js';
import { Dispatcher } from './delivery/dispatcher.js';
import type { QueueEvent } from './events.js';
import type { BodySink } from './messages/bodies.js';
import { ACTIVE } from './messages/message.js';
import { acceptTick } from './messages/publish.js';
import type { BodyRef, Envelope } from './records.js';
import type { RunEntry, RunPart } from './runs/records.js';
import { cancelLeftovers } from './runs/run-end.js';
import type { AttemptWords, QueueSteps, QueueTurn } from './turn.js';
import { timeOutWaits } from './waits/waits.js';

/** Called with each event once it has been applied: whoever executes writes it into the turn's entry. */
export type RecordEvent = (event: QueueEvent) => void;

export interface EngineOptions {
  /** Attempts in flight to one origin: a sick one must not take all places of the account. */
  readonly maxInFlightPerOrigin?: number;
  /** Names of the header by which a destination refuses for good, in every spelling that counts. */
  readonly nonRetryableNames?: readonly string[];
  /** The alias's headers begin with it, which workflow endpoints may answer with. */
  readonly aliasHeaderWord?: string | undefined;
  /** The headers of deliveries begin with these: callbacks tell of messages as their destinations were sent them. */
  readonly deliveredWords?: readonly string[];
}

/** An attempt as whoever makes the call needs it. */
export interface OpenAttempt {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly retried: number;
  readonly restarts: number;
  /** It is there for a message of a workflow's run. */
  readonly run?: OpenRunAttempt | undefined;
}

/** How many there are of each. */
export interface AccountCounts {
  /** Failed runs are among them. */
  readonly deadLetters: number;
  readonly schedules: number;
  readonly runsInProgress: number;
  readonly runsFailed: number;
  /** Steps that wait for an event. */
  readonly waiters: number;
}

export interface OpenRunAttempt {
  readonly part: RunPart;
  /** Role `step`: the run's entries up to the one that is delivered. Else empty. */
  readonly entries: readonly RunEntry[];
  /** What its trigger said; undefined where the run is over. */
  readonly trigger?: Envelope | undefined;
}

const MAX_IN_FLIGHT_PER_ORIGIN = 200;
const NON_RETRYABLE_NAMES = ['Svc-NonRetryable-Error'];
const NEUTRAL_WORDS = ['Svc'];
/** Messages that `prepare` places in one step: about a millisecond. */
const PLACED_AT_ONCE = 1000;

export class QueueEngine {
  readonly #state: QueueState;
  readonly #maxInFlightPerOrigin: number;
  readonly #words: AttemptWords;
  readonly #deliveredWords: readonly string[];
  #dispatcher: Dispatcher | undefined;
  #isBehind = false;

  constructor(
    readonly bodies: BodySink,
    options: EngineOptions = {},
  ) {
    this.#state = new QueueState(bodies);
    const { maxInFlightPerOrigin = MAX_IN_FLIGHT_PER_ORIGIN, nonRetryableNames = NON_RETRYABLE_NAMES } = options;
    this.#maxInFlightPerOrigin = maxInFlightPerOrigin;
    this.#deliveredWords = options.deliveredWords ?? NEUTRAL_WORDS;
    this.#words = { nonRetryableNames, aliasHeaderWord: options.aliasHeaderWord };
  }

  /** An event of the journal or of a snapshot on the state. */
  evolve(event: QueueEvent): void {
    this.#state.evolve(event);
  }

  /** Builds what follows from the state, in steps; after the last `evolve` and before anything else. */
  *prepare(nowMs: number): Iterable<void> {
    const dispatcher = new Dispatcher(this.#state, this.#maxInFlightPerOrigin, nowMs);
    let placed = 0;
    const { messages } = this.#state;
    for (const message of messages.awake()) {
      dispatcher.place(message);
      placed += 1;
      if (placed % PLACED_AT_ONCE === 0) yield;
    }
    for (let due = messages.wakeDue(nowMs); due !== undefined; due = messages.wakeDue(nowMs)) {
      dispatcher.place(due);
      placed += 1;
      if (placed % PLACED_AT_ONCE === 0) yield;
    }
    this.#dispatcher = dispatcher;
    this.#state.dispatch = dispatcher;
  }

  /** Judges and applies. A refusal has recorded nothing. */
  execute(command: QueueCommand, context: QueueContext, record: RecordEvent): QueueReply | QueueSteps {
    const turn = this.#turn(context, record);
    const result = rowOf(command).decide(command, turn);
    if (!('next' in result)) {
      this.#noteDailyLimit(turn);
      return result;
    }
    // Short ones end with their first step, and are answered like the others.
    const step = result.next();
    if (step.done === true) {
      this.#noteDailyLimit(turn);
      return step.value;
    }
    return result;
  }

  /**
   * What is due by itself: attempts, ticks of schedules, the DLQ's age. Bounded in work; call again while `isBehind`.
   * @param room attempts that may be started
   * @param spare attempts that the process has room for; `room` is what this call may start of them
   * @returns how many were started: the `AttemptStarted` among the recorded
   */
  work(context: QueueContext, room: number, record: RecordEvent, spare = room): number {
    const turn = this.#turn(context, record);
    const { schedules } = this.#state;
    const hasMoreTicks = schedules.dueTicks(
      context,
      (message) => acceptTick(message, turn),
      turn.evolve,
      (messages) => isTickRefused(messages, this.#state, context),
    );
    const hasMoreTimeouts = timeOutWaits(turn);
    const hasMoreLeftovers = cancelLeftovers(turn);
    const hasMoreExpired = expireDlq(turn);
    const { limits, state } = context.account;
    const parallelism = Math.max(1, limits.maxGlobalParallelism);
    const started =
      state === 'passive'
        ? 0
        : turn.dispatcher.run(context.nowMs, { attempts: room, parallelism, spare }, (message) =>
            startAttempt(message, turn),
          );
    this.#noteDailyLimit(turn);
    const hasMore = hasMoreTicks || hasMoreTimeouts || hasMoreLeftovers || hasMoreExpired;
    this.#isBehind = hasMore || (state !== 'passive' && turn.dispatcher.isBehind);
    return started;
  }

  /** More of `work` is due now and was left out for want of time or room. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** More would be started if the process had more room for attempts. */
  get waitsForRoom(): boolean {
    return this.#dispatcher?.waitsForRoom ?? false;
  }

  /** When `work` has something to do next, if nothing else happens; undefined: nothing. */
  nextDueAtMs({ account }: QueueContext): number | undefined {
    const { schedules, runs, deadLetters, nowMs } = this.#state;
    const { oldest } = deadLetters;
    const instants = [
      schedules.nextTickAtMs(),
      runs.nextDeadline?.waiter.deadlineMs,
      runs.leftovers.size === 0 ? undefined : nowMs,
      oldest === undefined ? undefined : oldest.failedAtMs + account.limits.dlqRetentionMs,
      account.state === 'passive' ? undefined : this.#dispatcher?.nextDueAtMs(),
    ].filter((at) => at !== undefined);
    return instants.length === 0 ? undefined : Math.min(...instants);
  }

  /** The state as events that rebuild it; the same for equal histories. */
  rebuildingEvents(): Iterable<QueueEvent> {
    return rebuildingEvents(this.#state);
  }

  /** Is the body referred to by anything? */
  isNeeded(body: number): boolean {
    return this.#state.bodies.isNeeded(body);
  }

  /** Everything up to here of the shard's intake is accepted. */
  get intakePosition(): number {
    return this.#state.intakePosition;
  }

  /** Attempts that are open: after a replay they are made again. */
  get activeCount(): number {
    return this.#state.messages.active.size;
  }

  /** What of the account counts for its bounds (HE1). */
  heldAt(nowMs: number): Held {
    return this.#state.heldAt(nowMs);
  }

  /** For whoever watches: costs nothing. */
  counts(): AccountCounts {
    const { deadLetters, schedules, runs } = this.#state;
    return {
      deadLetters: deadLetters.size,
      schedules: schedules.size,
      runsInProgress: runs.activeCount,
      runsFailed: runs.size - runs.activeCount,
      waiters: runs.waiterCount,
    };
  }

  /** Messages, DLQ entries, groups, queues, schedules, keys. */
  get size(): number {
    return this.#state.size;
  }

  /** Is it pending for a run that has ended? */
  isOfEndedRun(id: MessageId): boolean {
    const message = this.#state.messages.get(id);
    return message !== undefined && isOfEndedRun(message, { state: this.#state });
  }

  /** What the open attempt of a message is made of; undefined when there is none. */
  attemptOf(id: MessageId): OpenAttempt | undefined {
    const message = this.#state.messages.get(id);
    if (message?.status !== ACTIVE) return undefined;
    const { shared, bodyNumber, bodyBytes, retried, restarts } = message;
    const attempt = {
      id,
      envelope: shared.envelope,
      body: { number: bodyNumber, bytes: bodyBytes },
      retried,
      restarts,
    };
    const place = shared.envelope.workflow === undefined ? undefined : this.#state.runs.placeOf(id);
    if (place === undefined) return attempt;
    const { part, run } = place;
    const entries = part.role === 'step' && run !== undefined ? run.entries.slice(0, part.index + 1) : [];
    return { run: { part, entries, trigger: run?.shared.envelope }, ...attempt };
  }

  #turn(context: QueueContext, record: RecordEvent): QueueTurn {
    const state = this.#state;
    if (this.#dispatcher === undefined) for (const _ of this.prepare(context.nowMs));
    const dispatcher = this.#dispatcher as Dispatcher;
    const parts = { state, dispatcher, words: this.#words, deliveredWords: this.#deliveredWords };
    return new EngineTurn(parts, context, record);
  }

  /** Once a day, as soon as the soft limit is passed, by whatever. */
  #noteDailyLimit({ state, context, evolve }: QueueTurn): void {
    const limit = context.account.limits.maxMessagesPerDay;
    const { usage } = state;
    if (limit === 0 || usage.isDailyLimitReached) return;
    const messages = usage.usedOn(context.nowMs);
    if (messages > limit) evolve({ type: 'DailyLimitReached', limit, messages, atMs: context.nowMs });
  }
}

/** A class, because every command has one: a literal with a getter is made ten times as slowly. */
class EngineTurn implements QueueTurn {
  readonly state: QueueState;
  readonly dispatcher: Dispatcher;
  readonly words: AttemptWords;
  readonly deliveredWords: readonly string[];

  constructor(
    { state, dispatcher, words, deliveredWords }: Omit<QueueTurn, 'context' | 'evolve'>,
    private readonly asked: QueueContext,
    private readonly record: RecordEvent,
  ) {
    this.state = state;
    this.dispatcher = dispatcher;
    this.words = words;
    this.deliveredWords = deliveredWords;
  }

  /**
   * Steps go on later than they began, when others have recorded events meanwhile; and a clock that was set back does
   * not make what was found due, or a window that was found over, undone.
   */
  get context(): QueueContext {
    const { asked, state, dispatcher } = this;
    const nowMs = Math.max(asked.nowMs, state.nowMs, dispatcher.nowMs);
    return nowMs > asked.nowMs ? { ...asked, nowMs } : asked;
  }

  readonly evolve = (event: QueueEvent): void => {
    this.state.evolve(event);
    this.record(event);
  };
}
