/**
 * Commands to an owner in another process, asked once and executed at most once.
 *
 *  Q1 the caller makes the id, and sends the same id with every try
 *  Q2 an owner that is asked again gives the same answer (from memory, while it lives)
 *  Q3 a successor tells from the journal whether the command was executed: only one that surely was not
 *     is executed now; for one that was, the caller hears that the outcome cannot be told any more
 */
import {
  decodeAnswer,
  decodeRemoteCommand,
  encodeAnswer,
  encodeFailure,
  encodeRemoteCommand,
} from '../../codec/remote/index.js';
import {
  type CommandId,
  describeError,
  isMillraceError,
  MillraceError,
  type Random,
  type ShardName,
} from '../../kernel/index.js';
import type { Bus, Clock, Subscription, Timers } from '../../ports/index.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export interface CallLimits {
  /** How long a caller goes on trying. */
  readonly deadlineMs: number;
  /** How long one try waits for an answer before the same is asked again. */
  readonly tryMs: number;
  /** Pause before the next try when nobody was there. */
  readonly pauseMs: number;
}

export class ShardCaller {
  #count = 0;
  readonly #prefix: string;

  constructor(
    private readonly bus: Bus,
    private readonly clock: Clock,
    private readonly timers: Timers,
    random: Random,
    private readonly limits: CallLimits,
  ) {
    this.#prefix = Buffer.from(random.bytes(12)).toString('base64url');
  }

  /**
   * @param isRead  has no effect, so it may be executed any number of times
   * @param isPatient  the owner may take any time to answer: asking again tells it that somebody still waits
   * @throws SHARD_UNAVAILABLE (surely not executed), OUTCOME_UNKNOWN, and whatever the owner answers
   */
  async call(shard: ShardName, body: Uint8Array, isRead: boolean, isPatient = false): Promise<Uint8Array> {
    this.#count += 1;
    const commandId = `${this.#prefix}-${this.#count}` as CommandId;
    let endMs = this.clock.monotonicMs() + this.limits.deadlineMs;
    let mayBeExecuted = false;
    for (;;) {
      const payload = encodeRemoteCommand({ commandId, isRetry: mayBeExecuted, body });
      const askedAtMs = this.clock.monotonicMs();
      const leftMs = endMs - askedAtMs;
      try {
        return decodeAnswer(
          await this.bus.request({ kind: 'command', shard }, payload, Math.min(leftMs, this.limits.tryMs)),
        );
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error;
        if (isFinal(error)) throw error;
        // Somebody serves the shard and has nothing to answer yet.
        if (isPatient && error.code === 'TIMED_OUT') endMs = this.clock.monotonicMs() + this.limits.deadlineMs;
        // Whoever answered may not be the only one who received it: an owner that was replaced answers too.
        if (!isRead && !isUnreceived(error)) mayBeExecuted = true;
        if (this.clock.monotonicMs() + this.limits.pauseMs >= endMs) throw giveUp(shard, mayBeExecuted, error);
      }
      await new Promise<void>((resolve) => this.timers.after(this.limits.pauseMs, resolve));
    }
  }
}

/** Nobody served the topic; told by the bus, not by an owner. */
function isUnreceived(error: MillraceError): boolean {
  return error.code === 'SHARD_UNAVAILABLE' && error.details.isUnserved === true;
}

/** Answers that another try would not change. */
function isFinal(error: MillraceError): boolean {
  switch (error.code) {
    case 'TIMED_OUT':
    case 'SHARD_UNAVAILABLE':
    case 'NOT_APPLIED':
    case 'SHUTTING_DOWN':
      return false;
    case 'OUTCOME_UNKNOWN':
      return error.details.isExecuted === true;
    default:
      return true;
  }
}

function giveUp(shard: ShardName, mayBeExecuted: boolean, cause: MillraceError): MillraceError {
  if (mayBeExecuted) return new MillraceError('OUTCOME_UNKNOWN', `${shard} did not answer`, { shard }, cause);
  return new MillraceError('SHARD_UNAVAILABLE', `${shard} has no owner that answers`, { shard }, cause);
}

export interface AnswerMemoryLimits {
  readonly maxAnswers: number;
  readonly maxBytes: number;
}

interface Answer {
  readonly answer: Promise<Uint8Array>;
  bytes: number;
  /** On the monotonic clock. */
  askedAtMs: number;
  isPending: boolean;
  work: Work | undefined;
}

/** How an owner notices that nobody waits for an answer any more. */
export interface SilenceWatch {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Several tries of a caller. */
  readonly silenceMs: number;
}

/** The owner's side: serves the shard's topic for as long as its actor lives. */
export class ShardServer<W extends Work> {
  readonly #answersById = new Map<CommandId, Answer>();
  #bytes = 0;
  #isStopped = false;
  readonly #subscription: Subscription;

  constructor(
    bus: Bus,
    private readonly actor: ShardActor<W>,
    private readonly limits: AnswerMemoryLimits,
    /** Makes the work for a body; its answer goes to `onAnswer`. */
    private readonly workFor: (
      body: Uint8Array,
      commandId: CommandId,
      onAnswer: (body: Uint8Array) => void,
      onFailure: (error: MillraceError) => void,
    ) => W,
    /** Left out: every command is answered soon. */
    private readonly silence?: SilenceWatch,
  ) {
    this.#subscription = bus.serve({ kind: 'command', shard: actor.shard }, (payload) => this.#answer(payload));
    void actor.ended.then(() => {
      this.#subscription.stop();
      this.#isStopped = true;
    });
    this.#giveUpSilent();
  }

  #giveUpSilent(): void {
    const { silence } = this;
    if (silence === undefined || this.#isStopped) return;
    const askedBeforeMs = silence.clock.monotonicMs() - silence.silenceMs;
    for (const { isPending, askedAtMs, work } of this.#answersById.values()) {
      if (isPending && askedAtMs < askedBeforeMs) work?.giveUp?.();
    }
    silence.timers.after(silence.silenceMs / 2, () => this.#giveUpSilent());
  }

  #answer(payload: Uint8Array): Promise<Uint8Array> {
    const { commandId, isRetry, body } = decodeRemoteCommand(payload);
    const known = this.#answersById.get(commandId);
    const nowMs = this.silence?.clock.monotonicMs() ?? 0;
    if (known !== undefined) {
      known.askedAtMs = nowMs;
      return known.answer;
    }
    let onWork: (work: W) => void = () => {};
    const answer = this.#execute(commandId, isRetry, body, (work) => onWork(work));
    const entry = this.#remember(commandId, answer, nowMs);
    onWork = (work) => {
      entry.work = work;
    };
    return answer;
  }

  async #execute(
    commandId: CommandId,
    isRetry: boolean,
    body: Uint8Array,
    onWork: (work: W) => void,
  ): Promise<Uint8Array> {
    // Whoever asked is to know the work by then.
    await Promise.resolve();
    try {
      if (isRetry) {
        await this.actor.serving.catch((cause: unknown) => {
          throw new MillraceError('SHARD_UNAVAILABLE', `${this.actor.shard} did not come up`, {}, cause);
        });
        if (this.actor.wasExecuted(commandId)) {
          const { shard } = this.actor;
          throw new MillraceError('OUTCOME_UNKNOWN', `${shard}: executed, the reply was lost`, {
            shard,
            isExecuted: true,
          });
        }
      }
      const reply = await new Promise<Uint8Array>((resolve, reject) => {
        const work = this.workFor(body, commandId, resolve, reject);
        onWork(work);
        this.actor.submit(work);
      });
      return encodeAnswer(reply);
    } catch (error) {
      // A failure is no outcome to remember: the same command may be asked again and be executed then.
      this.#forget(commandId);
      if (isMillraceError(error)) return encodeFailure(error);
      return encodeFailure(new MillraceError('DEFECT', describeError(error)));
    }
  }

  #remember(commandId: CommandId, answer: Promise<Uint8Array>, askedAtMs: number): Answer {
    const entry: Answer = { answer, bytes: 0, askedAtMs, isPending: true, work: undefined };
    this.#answersById.set(commandId, entry);
    void answer.then((bytes) => {
      entry.isPending = false;
      entry.work = undefined;
      if (this.#answersById.get(commandId) !== entry) return;
      entry.bytes = bytes.length;
      this.#bytes += bytes.length;
      for (const id of this.#answersById.keys()) {
        if (this.#answersById.size <= this.limits.maxAnswers && this.#bytes <= this.limits.maxBytes) break;
        this.#forget(id);
      }
    });
    return entry;
  }

  #forget(commandId: CommandId): void {
    const entry = this.#answersById.get(commandId);
    if (entry === undefined) return;
    this.#bytes -= entry.bytes;
    this.#answersById.delete(commandId);
  }
}
