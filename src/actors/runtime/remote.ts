/**
 * Commands to an owner in another process, executed at most once.
 *
 *  RQ1 the caller makes the id, and sends the same id with every try
 *  RQ2 an owner that is asked again gives the same answer, from memory while it lives
 *  RQ3 a successor tells from the journal whether the command was executed: it executes only one that certainly was
 *      not; for an executed one the caller is told that the reply is lost
 *  RQ4 an owner begins no command that was meant for another, and none after its deadline; asked for the state of one
 *      that it has not begun, it says so and never begins it, also while it is loading
 *  RQ5 an owner that has ended answers so to its callers until a successor is asked, because their commands in transit
 *      would otherwise be lost silently
 *
 * The caller's side is in remote-call.ts.
 */
import {
  decodeRemoteCommand,
  encodeAnswer,
  encodeFailure,
  type OwnerInstant,
  type RemoteCommand,
} from '../../codec/remote/index.js';
import { type CommandId, describeError, isMillraceError, MillraceError, type Random } from '../../kernel/index.js';
import type { Bus, Clock, ServedTopic, Timers } from '../../ports/index.js';
import { beginCall, type CallShared, sharedByCalls } from './first-try.js';
import { Overdue } from './overdue.js';
import { OwnerReadings } from './owner-readings.js';
import type { CallLimits, CommandToOwner } from './remote-call.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export class ShardCaller {
  #count = 0;
  readonly #prefix: string;
  readonly #shared: CallShared;

  constructor(
    bus: Bus,
    private readonly clock: Clock,
    timers: Timers,
    random: Random,
    private readonly limits: CallLimits,
  ) {
    this.#prefix = Buffer.from(random.bytes(12)).toString('base64url');
    const ports = { bus, clock, timers, readings: new OwnerReadings(clock) };
    this.#shared = sharedByCalls(ports, limits);
  }

  /**
   * @param endMs  deadline on this process's monotonic clock for the begin; an answer may come a little later
   * @throws SHARD_UNAVAILABLE (certainly not executed), OUTCOME_UNKNOWN, and the errors of the owner
   */
  call(
    command: Omit<CommandToOwner, 'commandId'>,
    endMs = this.clock.monotonicMs() + this.limits.deadlineMs,
  ): Promise<Uint8Array> {
    this.#count += 1;
    const commandId = `${this.#prefix}-${this.#count}` as CommandId;
    // Fields are listed, because a copy with `...` lives until the next full garbage collection.
    const { shard, body, isRead, isPatient, isTold, isGone } = command;
    const asked = { shard, commandId, body, isRead, isPatient, isTold, isGone };
    return new Promise((resolve, reject) => beginCall(this.#shared, asked, endMs, { resolve, reject }));
  }
}

/** The answers that a shard keeps for repeated requests of other processes. */
export const DEFAULT_ANSWER_MEMORY: AnswerMemoryLimits = { maxAnswers: 10_000, maxBytes: 16 * 1024 * 1024 };

/** The part that remains when the oldest are dropped. */
const KEPT = 0.9;

export interface AnswerMemoryLimits {
  readonly maxAnswers: number;
  readonly maxBytes: number;
}

interface Answer {
  /** The reply; rejects with an error answer. */
  readonly answer: Promise<Uint8Array>;
  /** 0 while it is pending. */
  bytes: number;
  /** On the monotonic clock. */
  askedAtMs: number;
  isPending: boolean;
  /** On the owner's clock: the command is not begun after this. */
  deadlineMs: number;
  work: Work | undefined;
}

const NOTHING = new Uint8Array();
/** A read that was not answered by then is remembered; a caller repeats it later. */
const SLOW_READ_MS = 100;

/** A read that was received once. Its answer is not remembered, because it may be executed again. */
interface ReadInProgress {
  readonly work: Work;
  place: number;
  readonly begunAtMs: number;
  readonly commandId: CommandId;
  readonly answer: Promise<Uint8Array>;
}

/** How an owner notices that its callers have left. */
export interface SilenceWatch {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Several tries of a caller. */
  readonly silenceMs: number;
}

/** Makes the work for the body of a command; its answer goes to `onAnswer`. */
export type MakeWork<W extends Work> = (
  body: Uint8Array,
  commandId: CommandId,
  onAnswer: (body: Uint8Array) => void,
  onFailure: (error: MillraceError) => void,
) => W;

/** The owner's side: serves the shard's topic while its actor lives. */
export class ShardServer<W extends Work> {
  readonly #answersById = new Map<CommandId, Answer>();
  #bytes = 0;
  #isStopped = false;
  #isLooking = false;
  readonly #serving: ServedTopic;
  /** Reads that were received a moment ago; later they are remembered like other commands in progress. */
  readonly #reads: Overdue<ReadInProgress> | undefined;

  constructor(
    bus: Bus,
    private readonly actor: ShardActor<W>,
    private readonly limits: AnswerMemoryLimits,
    private readonly workFor: MakeWork<W>,
    /** Undefined: every command is answered soon. */
    private readonly silence?: SilenceWatch,
  ) {
    this.#reads =
      silence &&
      new Overdue(silence.clock, silence.timers, SLOW_READ_MS, ({ commandId, answer, work }) => {
        this.#remember(commandId, answer, Number.POSITIVE_INFINITY).work = work;
      });
    this.#serving = bus.serve({ kind: 'command', shard: actor.shard }, (payload) => this.#answer(payload));
    void actor.ended.then(() => {
      this.#isStopped = true;
      this.#serving.yield();
    });
    void actor.forgotten.then(() => this.#serving.stop());
  }

  /** Checks callers while a remembered command may be in progress. */
  #lookForSilence(): void {
    const { silence } = this;
    if (silence === undefined || this.#isLooking) return;
    this.#isLooking = true;
    silence.timers.after(silence.silenceMs / 2, () => this.#giveUpSilent());
  }

  #giveUpSilent(): void {
    const { silence } = this;
    this.#isLooking = false;
    if (silence === undefined || this.#isStopped) return;
    const askedBeforeMs = silence.clock.monotonicMs() - silence.silenceMs;
    let isAwaited = false;
    for (const { isPending, askedAtMs, work } of this.#answersById.values()) {
      isAwaited ||= isPending;
      if (isPending && askedAtMs < askedBeforeMs) work?.giveUp?.();
    }
    if (isAwaited) this.#lookForSilence();
  }

  #answer(payload: Uint8Array): Promise<Uint8Array> {
    return this.#outcomeOf(decodeRemoteCommand(payload)).then(
      (body) => encodeAnswer(body, this.#now()),
      (error: unknown) => encodeFailure(asMillraceError(error), this.#now()),
    );
  }

  #now(): OwnerInstant {
    return { epoch: this.actor.epoch, atMs: this.actor.monotonicMs };
  }

  #outcomeOf(command: RemoteCommand): Promise<Uint8Array> {
    const { commandId, ask, before } = command;
    const { shard, epoch } = this.actor;
    if (ask === 'greet') return Promise.resolve(NOTHING);
    // Only a successor can tell the state of an entry that was open at the end (RQ5).
    if (ask === 'settle')
      return this.actor.isEnded ? refusal(`${shard} has no owner here`, {}) : this.#settle(commandId);
    // The intended owner knows better than a replaced one, so a replaced one does not answer (RQ4).
    if (before !== undefined && before.epoch > epoch) return new Promise(() => {});
    if (before !== undefined && before.epoch < epoch) {
      const isClosed = before.epoch === this.actor.releasedEpoch;
      return refusal(`${shard} has another owner`, { isElsewhere: true, isClosed });
    }
    const deadlineMs = before?.atMs ?? Number.POSITIVE_INFINITY;
    const known = this.#answersById.get(commandId);
    if (known !== undefined) {
      known.askedAtMs = this.actor.monotonicMs;
      known.deadlineMs = Math.max(known.deadlineMs, deadlineMs);
      if (known.work !== undefined) known.work.deadlineMs = known.deadlineMs;
      return known.answer;
    }
    return command.isRetry ? this.#executeOnce(command, deadlineMs) : this.#executeFirst(command, deadlineMs);
  }

  /** No earlier try was executed. */
  #executeFirst({ commandId, body, before }: RemoteCommand, deadlineMs: number): Promise<Uint8Array> {
    let work: W | undefined;
    let read: ReadInProgress | undefined;
    const answer = new Promise<Uint8Array>((resolve, reject) => {
      const onAnswer = (bytes: Uint8Array) => {
        if (read !== undefined) this.#reads?.delete(read);
        resolve(bytes);
      };
      const onFailure = (error: MillraceError) => {
        if (read !== undefined) this.#reads?.delete(read);
        this.#forget(commandId);
        reject(error);
      };
      work = this.workFor(body, commandId, onAnswer, onFailure);
    });
    if (work === undefined) return answer; // the body could not be read
    if (before === undefined && work.isRepeatable === true && this.#reads !== undefined) {
      read = { work, place: -1, begunAtMs: this.actor.monotonicMs, commandId, answer };
      this.#reads.add(read);
    } else {
      this.#remember(commandId, answer, deadlineMs).work = work;
      work.deadlineMs = deadlineMs;
    }
    this.actor.submit(work);
    return answer;
  }

  /** An earlier try may have been executed, also by an earlier activation (RQ3). */
  #executeOnce(command: RemoteCommand, deadlineMs: number): Promise<Uint8Array> {
    const entry = this.#remember(
      command.commandId,
      this.#checked(command, (work) => {
        entry.work = work;
        work.deadlineMs = entry.deadlineMs;
      }),
      deadlineMs,
    );
    return entry.answer;
  }

  async #checked({ commandId, body }: RemoteCommand, onWork: (work: W) => void): Promise<Uint8Array> {
    let isChecked = false;
    try {
      await this.#untilServing();
      if (this.actor.wasExecuted(commandId)) throw this.#executedBefore();
      isChecked = true;
      return await new Promise<Uint8Array>((resolve, reject) => {
        const work = this.workFor(body, commandId, resolve, reject);
        onWork(work);
        this.actor.submit(work);
      });
    } catch (error) {
      // A failure is no outcome to remember: the same command may be sent again and executed.
      this.#forget(commandId);
      if (!isChecked || !isMillraceError(error)) throw error;
      throw new MillraceError(error.code, error.message, { ...error.details, isChecked }, error);
    }
  }

  /** Answers the state of a command, which is then never begun unless the answer says otherwise (RQ4). */
  async #settle(commandId: CommandId): Promise<Uint8Array> {
    const { shard, isLoading } = this.actor;
    const known = this.#answersById.get(commandId);
    if (isLoading) {
      // A loading owner executes no command: it answers for itself, and for earlier owners once it has replayed.
      if (known !== undefined) neverBegin(known);
      return refusal(`${shard} is loading and has not executed the command`, { isUnbegun: true });
    }
    if (known !== undefined) {
      const { isPending, work } = known;
      if (!isPending) return known.answer;
      if (work?.hasBegun === true) return refusal(`${shard}: the command is being stored`, { isBeingStored: true });
      neverBegin(known);
    } else if (this.actor.wasExecuted(commandId)) {
      throw this.#executedBefore();
    }
    return refusal(`${shard} has not executed the command`, { isChecked: true });
  }

  #executedBefore(): MillraceError {
    const { shard } = this.actor;
    return new MillraceError('OUTCOME_UNKNOWN', `${shard}: executed, the reply was lost`, { shard, isExecuted: true });
  }

  async #untilServing(): Promise<void> {
    await this.actor.serving.catch((cause: unknown) => {
      throw new MillraceError('SHARD_UNAVAILABLE', `${this.actor.shard} did not start`, {}, cause);
    });
  }

  #remember(commandId: CommandId, answer: Promise<Uint8Array>, deadlineMs: number): Answer {
    const askedAtMs = this.actor.monotonicMs;
    const entry: Answer = { answer, bytes: 0, askedAtMs, isPending: true, deadlineMs, work: undefined };
    this.#answersById.set(commandId, entry);
    this.#lookForSilence();
    answer.then(
      (bytes) => {
        entry.isPending = false;
        entry.work = undefined;
        if (this.#answersById.get(commandId) !== entry) return;
        entry.bytes = bytes.length;
        this.#bytes += bytes.length;
        this.#forgetOldest();
      },
      // The answer was dropped; its caller gets the error.
      () => undefined,
    );
    return entry;
  }

  /** Drops many at a time, because a map is searched from its beginning over all removed places. */
  #forgetOldest(): void {
    const { maxAnswers, maxBytes } = this.limits;
    if (this.#answersById.size <= maxAnswers && this.#bytes <= maxBytes) return;
    for (const [id, { isPending }] of this.#answersById) {
      if (this.#answersById.size <= KEPT * maxAnswers && this.#bytes <= KEPT * maxBytes) break;
      // A command in progress would be executed a second time.
      if (!isPending) this.#forget(id);
    }
  }

  #forget(commandId: CommandId): void {
    const entry = this.#answersById.get(commandId);
    if (entry === undefined) return;
    this.#bytes -= entry.bytes;
    this.#answersById.delete(commandId);
  }
}

/** Sets the deadline to the past, so that neither the mailbox nor the replay begins the command. */
function neverBegin(known: Answer): void {
  known.deadlineMs = Number.NEGATIVE_INFINITY;
  if (known.work !== undefined) known.work.deadlineMs = known.deadlineMs;
}

function refusal(message: string, details: Record<string, unknown>): Promise<never> {
  return Promise.reject(new MillraceError('SHARD_UNAVAILABLE', message, details));
}

function asMillraceError(error: unknown): MillraceError {
  return isMillraceError(error) ? error : new MillraceError('DEFECT', describeError(error));
}
