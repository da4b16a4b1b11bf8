/**
 * The engine of a queue account: state, commands, and the work that comes due by time (attempts, ticks, timeouts,
 * expiry). Every change is an event that is applied first and then recorded. No call takes longer than about 2 ms,
 * however large the state is.
 */

import type { MessageId } from '../../kernel/index.js';
import { isOfEndedRun, startAttempt } from './commands/attempts.js';
import { rowOf } from './commands/command-table.js';
import { Dispatcher } from './delivery/dispatcher.js';
import { acceptTick } from './messages/accept.js';
import { expireDlq } from './messages/dlq-expiry.js';
import { isTickRefused } from './messages/held-refusal.js';
import type { AttemptWords, QueueSteps, QueueTurn } from './messages/turn.js';
import type { ApplicationEndpoint } from './model/application-records.js';
import type { QueueCommand, QueueReply } from './model/commands.js';
import type { QueueContext } from './model/decision.js';
import type { QueueEvent } from './model/events.js';
import type { AccountUsage } from './model/held.js';
import type { BodySink } from './model/messages/bodies.js';
import { ACTIVE } from './model/messages/message.js';
import type { BodyRef, Envelope } from './model/records.js';
import type { RunEntry, RunPart } from './model/run-records.js';
import { QueueState } from './model/state/queue-state.js';
import { rebuildingEvents } from './model/state/rebuild.js';
import { cancelLeftovers } from './runs/run-end.js';
import { timeOutWaits } from './runs/waits.js';

/** Called with each event after it was applied; the caller writes it into the turn's entry. */
export type RecordEvent = (event: QueueEvent) => void;

export interface EngineOptions {
  /** Open attempts per origin. The limit keeps one slow origin from taking all places of the account. */
  readonly maxInFlightPerOrigin?: number;
  /** Names, in each accepted spelling, of the header by which a destination refuses further attempts. */
  readonly nonRetryableNames?: readonly string[];
  /** The prefix of the alias's headers, which workflow endpoints may use in answers. */
  readonly aliasHeaderWord?: string | undefined;
  /** Prefixes of the headers of deliveries: callbacks report headers as they were sent to the destination. */
  readonly deliveredWords?: readonly string[];
  /** The same for deliveries to the endpoint of a run, by the spelling of its trigger; by default as for other messages. */
  readonly runWords?: (isAlias: boolean) => readonly string[];
  /** Bytes of the answer to a successful attempt that are kept; by default none. */
  readonly keptAnswerBytes?: () => number;
  /** Whether customers get mails about their endpoints; by default none do. */
  readonly mailsCustomers?: () => boolean;
}

/** An attempt with the data that its HTTP call needs. */
export interface OpenAttempt {
  readonly id: MessageId;
  readonly envelope: Envelope;
  readonly body: BodyRef;
  readonly retried: number;
  readonly restarts: number;
  /** Set for a message of a workflow run. */
  readonly run?: OpenRunAttempt | undefined;
}

/** Numbers of stored things. */
export interface AccountCounts {
  /** Includes failed runs. */
  readonly deadLetters: number;
  readonly schedules: number;
  readonly runsInProgress: number;
  readonly runsFailed: number;
  /** Steps that wait for an event. */
  readonly waiters: number;
  /** Destinations with an open or disabled breaker. */
  readonly stoppedDestinations: number;
}

export interface OpenRunAttempt {
  readonly part: RunPart;
  /** For role `step`: the run's entries up to the delivered one; else empty. */
  readonly entries: readonly RunEntry[];
  /** The envelope of the run's trigger; undefined when the run has ended. */
  readonly trigger?: Envelope | undefined;
}

const MAX_IN_FLIGHT_PER_ORIGIN = 200;
const NON_RETRYABLE_NAMES = ['Svc-NonRetryable-Error'];
const NEUTRAL_WORDS = ['Svc'];
/** Messages that `prepare` places in one step: about 1 ms. */
const PLACED_AT_ONCE = 1000;

export class QueueEngine {
  readonly #state: QueueState;
  readonly #maxInFlightPerOrigin: number;
  readonly #words: AttemptWords;
  readonly #deliveredWords: readonly string[];
  readonly #runWords: (isAlias: boolean) => readonly string[];
  readonly #keptAnswerBytes: () => number;
  readonly #mailsCustomers: () => boolean;
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
    this.#runWords = options.runWords ?? (() => this.#deliveredWords);
    this.#keptAnswerBytes = options.keptAnswerBytes ?? (() => 0);
    this.#mailsCustomers = options.mailsCustomers ?? (() => false);
    this.#words = { nonRetryableNames, aliasHeaderWord: options.aliasHeaderWord };
  }

  /** Applies an event of the journal or of a snapshot. */
  evolve(event: QueueEvent): void {
    this.#state.evolve(event);
  }

  /** Builds the dispatcher from the state, in steps; called after the last `evolve` and before any command. */
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

  /** Decides a command and applies its events. A refused command has recorded no event. */
  execute(command: QueueCommand, context: QueueContext, record: RecordEvent): QueueReply | QueueSteps {
    const turn = this.#turn(context, record);
    const result = rowOf(command).decide(command, turn);
    if (!('next' in result)) {
      this.#noteDailyLimit(turn);
      return result;
    }
    // Commands that end with their first step are answered like commands without steps.
    const step = result.next();
    if (step.done === true) {
      this.#noteDailyLimit(turn);
      return step.value;
    }
    return result;
  }

  /**
   * Does the work that is due: ticks of schedules, timeouts, DLQ expiry, attempts. Each call is bounded; call again
   * while `isBehind`.
   * @param room attempts that this call may start
   * @param spare attempts that the process has room for
   * @returns the number of attempts started, which is the number of recorded `AttemptStarted`
   */
  work(context: QueueContext, room: number, record: RecordEvent, spare = room): number {
    const dispatcher = this.#ready(context.nowMs);
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
        : dispatcher.run(context.nowMs, { attempts: room, parallelism, spare }, (message) =>
            startAttempt(message, turn),
          );
    this.#noteDailyLimit(turn);
    const hasMore = hasMoreTicks || hasMoreTimeouts || hasMoreLeftovers || hasMoreExpired;
    this.#isBehind = hasMore || (state !== 'passive' && dispatcher.isBehind);
    return started;
  }

  /** More work is due now, but the last call had no time or room for it. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** More attempts would start if the process had more room. */
  get waitsForRoom(): boolean {
    return this.#dispatcher?.waitsForRoom ?? false;
  }

  /** The time of the next work if no command comes before; undefined: no work is planned. */
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

  /** Events that rebuild the state; equal histories give equal lists. */
  rebuildingEvents(): Iterable<QueueEvent> {
    return rebuildingEvents(this.#state);
  }

  /** Whether the state refers to the body. */
  isNeeded(body: number): boolean {
    return this.#state.bodies.isNeeded(body);
  }

  /** All records of the shard's intake up to this position are accepted. */
  get intakePosition(): number {
    return this.#state.intakePosition;
  }

  /** Open attempts; they are repeated after a replay. */
  get activeCount(): number {
    return this.#state.messages.active.size;
  }

  /**
   * The account's holdings that count for its bounds: HE1 (messages until they end, DLQ entries and waiting steps
   * count).
   */
  heldAt(nowMs: number): AccountUsage {
    return this.#state.heldAt(nowMs);
  }

  /** Names of queues without messages. */
  *emptyQueues(): Iterable<string> {
    for (const { name, lag } of this.#state.queues.all()) if (lag === 0) yield name;
  }

  /** For monitoring; constant cost. */
  counts(): AccountCounts {
    const { deadLetters, schedules, runs, breakers } = this.#state;
    return {
      deadLetters: deadLetters.size,
      schedules: schedules.size,
      runsInProgress: runs.activeCount,
      runsFailed: runs.size - runs.activeCount,
      waiters: runs.waiterCount,
      stoppedDestinations: breakers.stopped,
    };
  }

  /** Messages, DLQ entries, groups, queues, schedules, flow-control keys and runs. */
  get size(): number {
    return this.#state.size;
  }

  /** Whether a pending message belongs to a run that has ended. */
  isOfEndedRun(id: MessageId): boolean {
    const message = this.#state.messages.get(id);
    return message !== undefined && isOfEndedRun(message, { state: this.#state });
  }

  /** The endpoint that a webhook is sent to, as it is now; undefined after its deletion. */
  webhookEndpointOf({ topicName = '', endpointName = '' }: Envelope): ApplicationEndpoint | undefined {
    return this.#state.applications.endpoint(topicName, endpointName);
  }

  /** The open attempt of a message; undefined when it has none. */
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
    const flows = this.#ready(context.nowMs);
    const parts = {
      state: this.#state,
      flows,
      words: this.#words,
      deliveredWords: this.#deliveredWords,
      runWords: this.#runWords,
      keptAnswerBytes: this.#keptAnswerBytes(),
      mailsCustomers: this.#mailsCustomers(),
    };
    return new EngineTurn(parts, context, record);
  }

  /** The dispatcher, which the first command or work builds if `prepare` was not called. */
  #ready(nowMs: number): Dispatcher {
    if (this.#dispatcher === undefined) for (const _ of this.prepare(nowMs));
    return this.#dispatcher as Dispatcher;
  }

  /** Records once a day that the soft limit is passed, after any kind of call that may pass it. */
  #noteDailyLimit({ state, context, evolve }: QueueTurn): void {
    const limit = context.account.limits.maxMessagesPerDay;
    const { usage } = state;
    if (limit === 0 || usage.isDailyLimitReached) return;
    const messages = usage.usedOn(context.nowMs);
    if (messages > limit) evolve({ type: 'DailyLimitReached', limit, messages, atMs: context.nowMs });
  }
}

/** A class, because each command makes a turn: an object literal with a getter takes ten times as long to make. */
class EngineTurn implements QueueTurn {
  readonly state: QueueState;
  readonly flows: Dispatcher;
  readonly words: AttemptWords;
  readonly deliveredWords: readonly string[];
  readonly runWords: (isAlias: boolean) => readonly string[];
  readonly keptAnswerBytes: number;
  readonly mailsCustomers: boolean;

  constructor(
    {
      state,
      flows,
      words,
      deliveredWords,
      runWords,
      keptAnswerBytes,
      mailsCustomers,
    }: Omit<QueueTurn, 'context' | 'evolve' | 'flows'> & {
      readonly flows: Dispatcher;
    },
    private readonly asked: QueueContext,
    private readonly record: RecordEvent,
  ) {
    this.state = state;
    this.flows = flows;
    this.words = words;
    this.deliveredWords = deliveredWords;
    this.runWords = runWords;
    this.keptAnswerBytes = keptAnswerBytes;
    this.mailsCustomers = mailsCustomers;
  }

  /**
   * The time never runs backward: later steps of a command see events that others recorded between, and a clock that
   * was set back leaves due messages due and closed windows closed.
   */
  get context(): QueueContext {
    const { asked, state, flows } = this;
    const nowMs = Math.max(asked.nowMs, state.nowMs, flows.nowMs);
    return nowMs > asked.nowMs ? { ...asked, nowMs } : asked;
  }

  readonly evolve = (event: QueueEvent): void => {
    this.state.evolve(event);
    this.record(event);
  };
}
