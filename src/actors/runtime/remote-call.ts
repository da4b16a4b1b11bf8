/**
 * One command to an owner in another process, from its first try until its answer.
 *
 *  RC1 each try names the activation that may begin it, and a deadline: no other activation begins it, and none later
 *  RC2 an answer to any of its tries is an answer to the command, at any time
 *  RC3 "not executed" is answered when every activation that could have begun the command has said so, or a later one
 *      has read the journal; an activation that is still loading speaks only for tries that were meant for it
 *  RC4 after its deadline, if it may have been begun, the owner is asked for its state before the outcome is called
 *      unknown; the state at that time is final
 *  RC5 a command that leaves no entry is begun by one activation at most, because a later one cannot tell whether it
 *      was, unless the one before had moved the shard in order
 *  RC6 an answer that comes after a later activation was tried counts once that activation has said that the command
 *      was executed before, or that it will not begin it: a refusal leaves no entry, and the later activation may have
 *      accepted the command
 *  RC7 only until a try has failed may a request go to a single process; later ones go to all that serve the shard
 */
import { decodeAnswer, encodeRemoteCommand, type OwnerInstant, type RemoteAsk } from '../../codec/remote/index.js';
import { type CommandId, isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Bus, Clock, Reach, Timers } from '../../ports/index.js';
import type { OwnerReadings } from './owner-readings.js';

export interface CallLimits {
  /** How long a caller continues to try. */
  readonly deadlineMs: number;
  /** How long one try waits for an answer before it is repeated. */
  readonly tryMs: number;
  /** Pause before the next try when there was no owner. */
  readonly pauseMs: number;
  /** How long an owner is asked for the state of a command after its deadline. */
  readonly settleMs: number;
  /** The same while its owner answers that it is storing the command's entry. */
  readonly storingMs: number;
}

/** A try may be lost with a connection, so its first repetition comes soon; later ones come at longer intervals. */
export const FIRST_TRY_MS = 200;
/** A larger command is repeated only when its answer is certainly overdue. */
export const LARGE_BYTES = 64 * 1024;
/** How long the state of a command is asked for after its deadline; its client waits at most this much longer. */
const SETTLE_MS = 1000;
/**
 * The same while its owner repeats the append: after its leader was killed, a stream has a new one after 4 to 9 s. Only
 * then is the client told that the outcome is unknown.
 */
const STORING_MS = 10_000;
const CALL_PAUSE_MS = 50;
/** Pauses between two questions to an owner that is loading or storing. */
const BUSY_PAUSES = 4;
/** A caller that has been silent for this many of its tries counts as gone. */
const CALLER_SILENCE_TRIES = 4;
/** Time between two searches for an owner while a request is held. */
export const ROUTE_RETRY_MS = 50;

/** @param deadlineMs  how long a request is held */
export function callLimits(deadlineMs: number): CallLimits {
  return {
    deadlineMs,
    tryMs: Math.max(200, deadlineMs / 4),
    pauseMs: CALL_PAUSE_MS,
    settleMs: SETTLE_MS,
    storingMs: STORING_MS,
  };
}

/** The silence after which an owner counts a caller as gone. */
export function callerSilenceMs(deadlineMs: number): number {
  return CALLER_SILENCE_TRIES * callLimits(deadlineMs).tryMs;
}

export interface CallPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly readings: OwnerReadings;
}

export interface CommandToOwner {
  readonly shard: ShardName;
  readonly commandId: CommandId;
  readonly body: Uint8Array;
  /** It has no effect: any owner may execute it any number of times. */
  readonly isRead: boolean;
  /** The answer may take any time: each repetition tells the owner that the caller still waits. Undefined: it comes soon. */
  readonly isPatient?: boolean | undefined;
  /** It may have published a message without an entry. Undefined: it has not. */
  readonly isTold?: boolean | undefined;
  /**
   * True when the caller has left: the command is no longer asked for, and the owner notices. Undefined: it never
   * leaves.
   */
  readonly isGone?: (() => boolean) | undefined;
}

const NOTHING = new Uint8Array();
/** The epoch for owners of an earlier version, which know neither deadlines nor epochs. */
export const OF_OLD = 0;

interface End {
  readonly result: Uint8Array | MillraceError;
}

type Heard = 'greeted' | 'at-once' | 'after-a-pause' | 'silence';

/** The end of a try that was made before (first-try.ts). */
export interface EarlierTry {
  /** Of the activation that it was for; undefined: it was a read. */
  readonly epoch: number | undefined;
  /** How much longer its answer is waited for. */
  readonly waitMs: number;
  /** Passes its answer or its failure on. */
  readonly tell: () => void;
}

export class RemoteCall {
  /** Tries that an activation may have received and has not answered, by its epoch. */
  readonly #openTries = new Map<number, number>();
  /** Activations that ended while the command's entry was open. */
  readonly #inDoubt = new Set<number>();
  /** Of the next try. */
  #tryMs = FIRST_TRY_MS;
  /** RC7 */
  #reach: Reach = 'one';
  #isOwnerOfOld = false;
  #isBeingStored = false;
  /** The owner heard last has not replayed the journal yet. */
  #isLoading = false;
  #cause: MillraceError | undefined;
  /** Until when answers of an earlier owner are waited for (RC5). */
  #formerUntilMs: number | undefined;
  /** The answer of an activation after a later one was tried (RC6). */
  #late: Uint8Array | undefined;
  #end: End | undefined;
  #wake: (heard: Heard) => void = () => {};

  constructor(
    private readonly ports: CallPorts,
    private readonly limits: CallLimits,
    private readonly asked: CommandToOwner,
    /** On this process's monotonic clock. */
    private endMs: number,
  ) {}

  /** @throws SHARD_UNAVAILABLE, NOT_APPLIED (certainly not executed), OUTCOME_UNKNOWN, and the errors of the owner */
  async run(earlier?: EarlierTry): Promise<Uint8Array> {
    const { clock } = this.ports;
    const { pauseMs } = this.limits;
    for (let first = earlier; ; first = undefined) {
      const leftMs = this.endMs - clock.monotonicMs();
      if (leftMs <= 0 && first === undefined) return this.#settle();
      if (this.asked.isGone?.() === true) throw this.#unknown();
      const waitMs = this.#nextTryMs();
      const heard = await (first === undefined ? this.#try(Math.min(leftMs, waitMs)) : this.#resume(first));
      if (this.#isOver) return this.#answer();
      if (heard !== 'greeted') this.#reach = 'all';
      if (heard === 'silence' && this.asked.isPatient) this.endMs = clock.monotonicMs() + this.limits.deadlineMs;
      if (heard !== 'after-a-pause') continue;
      if (clock.monotonicMs() + pauseMs >= this.endMs) return this.#settle();
      await this.#listen(pauseMs, () => {});
      if (this.#isOver) return this.#answer();
    }
  }

  #resume({ epoch, waitMs, tell }: EarlierTry): Promise<Heard> {
    if (epoch !== undefined) this.#openTries.set(epoch, 1);
    return this.#listen(waitMs, tell);
  }

  #nextTryMs(): number {
    const { asked, limits } = this;
    if (asked.isPatient || asked.body.length >= LARGE_BYTES) return limits.tryMs;
    const tryMs = Math.min(this.#tryMs, limits.tryMs);
    this.#tryMs *= 2;
    return tryMs;
  }

  #try(waitMs: number): Promise<Heard> {
    const { shard, isRead, isTold } = this.asked;
    const before = isRead || this.#isOwnerOfOld ? undefined : this.ports.readings.onOwnersClock(shard, this.endMs);
    if (isTold && before !== undefined && this.#mayBeExecutedBefore(before.epoch)) return this.#hearFormer(waitMs);
    const needsGreeting = !isRead && !this.#isOwnerOfOld && before === undefined;
    return this.#listen(waitMs, () => this.#send(needsGreeting ? 'greet' : 'command', before));
  }

  /**
   * Waits for an owner that has moved the shard: it answers the commands that it received, and its answer may be in
   * transit (RC5).
   */
  #hearFormer(waitMs: number): Promise<Heard> {
    const nowMs = this.ports.clock.monotonicMs();
    this.#formerUntilMs ??= nowMs + this.limits.settleMs;
    const leftMs = this.#formerUntilMs - nowMs;
    if (leftMs > 0 && this.#inDoubt.size === 0) return this.#listen(Math.min(waitMs, leftMs), () => {});
    this.#finish(this.#unknown());
    return Promise.resolve('at-once');
  }

  /** Asks the owner for the command's state (RC4). */
  async #settle(): Promise<Uint8Array> {
    const { clock } = this.ports;
    const { pauseMs, tryMs, settleMs, storingMs } = this.limits;
    this.#reach = 'all';
    while (this.#mayBeExecuted) {
      const leftMs = this.endMs + (this.#isBeingStored ? storingMs : settleMs) - clock.monotonicMs();
      if (leftMs <= 0) throw this.#unknown();
      this.#isBeingStored = false;
      await this.#listen(Math.min(leftMs, tryMs), () => this.#send('settle', undefined));
      if (this.#isOver) return this.#answer();
      // An owner that is loading or storing answers immediately, and has more to report only when it is done.
      const againMs = this.#isLoading || this.#isBeingStored ? BUSY_PAUSES * pauseMs : pauseMs;
      if (this.#mayBeExecuted) await this.#listen(Math.min(againMs, leftMs), () => {});
      if (this.#isOver) return this.#answer();
    }
    if (this.#late !== undefined) return this.#late;
    const { shard } = this.asked;
    throw new MillraceError('SHARD_UNAVAILABLE', `${shard} has no owner that answers`, { shard }, this.#cause);
  }

  get #mayBeExecuted(): boolean {
    return this.#openTries.size > 0 || this.#inDoubt.size > 0;
  }

  #mayBeExecutedBefore(epoch: number): boolean {
    return [...this.#openTries.keys(), ...this.#inDoubt].some((known) => known < epoch);
  }

  get #isOver(): boolean {
    return this.#end !== undefined;
  }

  #answer(): Uint8Array {
    const { result } = this.#end as End;
    if (result instanceof MillraceError) throw result;
    return result;
  }

  #unknown(): MillraceError {
    const { shard } = this.asked;
    const details = { shard, isBeingStored: this.#isBeingStored };
    return new MillraceError(
      'OUTCOME_UNKNOWN',
      `${shard} did not answer: the outcome is unknown`,
      details,
      this.#cause,
    );
  }

  /** Runs `act`, and waits for an answer to it or to anything before. */
  #listen(waitMs: number, act: () => void): Promise<Heard> {
    return new Promise((resolve) => {
      const timer = this.ports.timers.after(waitMs, () => resolve('silence'));
      this.#wake = (heard) => {
        timer.cancel();
        resolve(heard);
      };
      act();
    });
  }

  #send(ask: RemoteAsk, before: OwnerInstant | undefined): void {
    const { bus, clock } = this.ports;
    const { shard, commandId, body, isRead } = this.asked;
    const epoch = before?.epoch ?? OF_OLD;
    const isRetry = this.#mayBeExecuted;
    const isOpen = ask === 'command' && !isRead;
    if (isOpen) this.#openTries.set(epoch, (this.#openTries.get(epoch) ?? 0) + 1);
    const payload = encodeRemoteCommand({ commandId, isRetry, body: ask === 'command' ? body : NOTHING, ask, before });
    const { settleMs, storingMs } = this.limits;
    const waitMs = Math.max(1, this.endMs + Math.max(settleMs, storingMs) - clock.monotonicMs());
    bus.request({ kind: 'command', shard }, payload, waitMs, this.#reach).then(
      (bytes) => this.receive(bytes, ask, isOpen ? epoch : undefined),
      (error: unknown) => this.fail(error, isOpen ? epoch : undefined),
    );
  }

  /** @param epoch  of the activation that the try was for; undefined: the try was not to be executed */
  receive(bytes: Uint8Array, ask: RemoteAsk, epoch: number | undefined): void {
    const { shard } = this.asked;
    let answer: ReturnType<typeof decodeAnswer>;
    try {
      answer = decodeAnswer(bytes);
    } catch (error) {
      this.fail(error, undefined);
      return;
    }
    const { from, result } = answer;
    if (from !== undefined) this.ports.readings.hear(shard, from);
    if (this.#isOver) return;
    if (ask === 'greet') {
      this.#isOwnerOfOld = from === undefined;
      this.#wake('greeted');
    } else if (!(result instanceof MillraceError)) {
      this.#answered(result, from?.epoch ?? OF_OLD, epoch);
    } else {
      this.#refused(result, ask, from?.epoch ?? OF_OLD, epoch);
    }
  }

  /** Accepts an answer, or holds it until a later activation has answered (RC6). */
  #answered(result: Uint8Array, by: number, epoch: number | undefined): void {
    this.#close(epoch);
    if ([...this.#openTries.keys()].some((tried) => tried > by)) this.#late = result;
    else this.#finish(result);
  }

  #refused(failure: MillraceError, ask: RemoteAsk, by: number, epoch: number | undefined): void {
    const { code, details } = failure;
    this.#cause = failure;
    if (code === 'OUTCOME_UNKNOWN' && details.isExecuted !== true) {
      this.#close(epoch);
      // That activation has ended, and only the next one can tell whether it had stored the command.
      if (epoch !== undefined) {
        this.#inDoubt.add(epoch);
        this.ports.readings.forget(this.asked.shard, epoch);
      }
      this.#wake('after-a-pause');
      return;
    }
    // The refusal is from the intended activation, or from the successor to which it moved the shard.
    if (epoch === by || details.isClosed === true) this.#close(epoch);
    this.#isLoading = details.isUnbegun === true;
    if (this.#isLoading) this.#openTries.delete(by);
    if (details.isChecked === true) this.#clear(ask === 'settle' ? by : by - 1);
    this.#isBeingStored = ask === 'settle' && details.isBeingStored === true;
    const isFinal = code === 'OUTCOME_UNKNOWN' || (ask === 'command' && !mayChange(failure));
    if (isFinal) this.#finish((details.isExecuted === true && this.#late) || failure);
    else if (this.#late !== undefined && !this.#mayBeExecuted) this.#finish(this.#late);
    else this.#wake(details.isElsewhere === true ? 'at-once' : 'after-a-pause');
  }

  fail(error: unknown, epoch: number | undefined): void {
    if (this.#isOver) return;
    if (!isMillraceError(error)) {
      this.#finish(new MillraceError('DEFECT', String(error), {}, error));
      return;
    }
    this.#cause = error;
    if (!mayChange(error)) {
      this.#finish(error);
      return;
    }
    // This is the timeout of an earlier try. The present try has a separate timer, and a patient call counts its
    // silence.
    if (error.code === 'TIMED_OUT') return;
    // No process received the request: the intended owner is gone.
    if (isUnreceived(error)) {
      this.#close(epoch);
      if (epoch !== undefined) this.ports.readings.forget(this.asked.shard, epoch);
    }
    this.#wake('after-a-pause');
  }

  /** An answered try is not executed any more. */
  #close(epoch: number | undefined): void {
    if (epoch === undefined) return;
    const left = (this.#openTries.get(epoch) ?? 1) - 1;
    if (left === 0) this.#openTries.delete(epoch);
    else this.#openTries.set(epoch, left);
  }

  /**
   * The activation of this epoch has read the journal without finding the command, and earlier ones can no longer
   * write.
   */
  #clear(upTo: number): void {
    const { isTold } = this.asked;
    // A published message leaves no entry, so only that epoch is cleared (RC5).
    const isCleared = (known: number): boolean => (isTold ? known === upTo : known <= upTo);
    for (const known of [...this.#openTries.keys()]) if (isCleared(known)) this.#openTries.delete(known);
    for (const known of [...this.#inDoubt]) if (isCleared(known)) this.#inDoubt.delete(known);
  }

  #finish(result: Uint8Array | MillraceError): void {
    this.#end ??= { result };
    this.#wake('at-once');
  }
}

/** The bus reports that the topic has no server. */
function isUnreceived(error: MillraceError): boolean {
  return error.code === 'SHARD_UNAVAILABLE' && error.details.isUnserved === true;
}

/** Answers that another try may change. */
function mayChange({ code }: MillraceError): boolean {
  return code === 'TIMED_OUT' || code === 'SHARD_UNAVAILABLE' || code === 'NOT_APPLIED' || code === 'SHUTTING_DOWN';
}
