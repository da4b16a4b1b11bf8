/**
 * One command on its way to an owner in another process, from its first try until it has an answer.
 *
 *  RC1 each try says which activation may begin it, and until when: no other begins it, and none later
 *  RC2 an answer to any of its tries is an answer to it, however late
 *  RC3 "nothing was executed" is said when every activation that could have begun it has said so, or a later one has
 *      looked into the journal
 *  RC4 when its time is over and it may have been begun, the owner is asked what became of it before anybody is told
 *      that the outcome is unknown; whatever that was by then, it stays
 *  RC5 what leaves nothing in the journal is begun by one activation at most: no later one can tell whether it was, unless
 *      the one before it had handed over
 *  RC6 an answer that comes when a later activation was tried already is heard once that one has said that it was executed
 *      before, or will not begin it: a refusal leaves nothing in the journal, and the later one may have accepted it
 */
import { decodeAnswer, encodeRemoteCommand, type OwnerInstant, type RemoteAsk } from '../../codec/remote/index.js';
import { type CommandId, isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Bus, Clock, Timers } from '../../ports/index.js';
import type { OwnerReadings } from './owner-readings.js';

export interface CallLimits {
  /** How long a caller goes on trying. */
  readonly deadlineMs: number;
  /** How long one try waits for an answer before the same is asked again. */
  readonly tryMs: number;
  /** Pause before the next try when nobody was there. */
  readonly pauseMs: number;
  /** How long it is asked what became of a command whose time is over. */
  readonly settleMs: number;
}

/** A try may be lost with a connection, the owner's or the caller's: its first repetition comes soon, later ones take their time. */
const FIRST_TRY_MS = 200;
/** What is as large as this travels again only when it has surely taken too long. */
const LARGE_BYTES = 64 * 1024;
/** How long a command is asked after once it may not be begun any more; its client waits so much longer at most. */
const SETTLE_MS = 1000;
const CALL_PAUSE_MS = 50;
/** A caller that has not asked again for so many of its tries waits no more. */
const CALLER_SILENCE_TRIES = 4;
/** Between two looks for an owner, while a request is held. */
export const ROUTE_RETRY_MS = 50;

/** @param deadlineMs how long a request is held */
export function callLimits(deadlineMs: number): CallLimits {
  return { deadlineMs, tryMs: Math.max(200, deadlineMs / 4), pauseMs: CALL_PAUSE_MS, settleMs: SETTLE_MS };
}

/** After which an owner takes a caller to be gone. */
export function callerSilenceMs(deadlineMs: number): number {
  return CALLER_SILENCE_TRIES * callLimits(deadlineMs).tryMs;
}

export interface CallPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly readings: OwnerReadings;
}

export interface AskedCommand {
  readonly shard: ShardName;
  readonly commandId: CommandId;
  readonly body: Uint8Array;
  /** Has no effect: any owner may execute it, any number of times, at any time. */
  readonly isRead: boolean;
  /** The owner may take any time to answer: asking again tells it that somebody still waits. */
  readonly isPatient: boolean;
  /** May have told somebody of something without an entry: a message that is published. Left out: it has not. */
  readonly isTold?: boolean | undefined;
  /** Nobody waits for the answer any more: it is asked for no longer, and the owner notices. Left out: somebody always does. */
  readonly isGone?: (() => boolean) | undefined;
}

const NOTHING = new Uint8Array();
/** Stands for every owner of an earlier version: it knows neither deadlines nor epochs. */
const OF_OLD = 0;

interface End {
  readonly result: Uint8Array | MillraceError;
}

type Heard = 'at-once' | 'after-a-pause' | 'silence';

export class RemoteCall {
  /** Tries that an activation may have received and has not answered, by its epoch. */
  readonly #openTries = new Map<number, number>();
  /** Activations that ended while its entry was open. */
  readonly #inDoubt = new Set<number>();
  #tryMs = FIRST_TRY_MS;
  #isOwnerOfOld = false;
  #isBeingStored = false;
  #cause: MillraceError | undefined;
  /** RC6. What an activation has answered after a later one was tried. */
  #late: Uint8Array | undefined;
  #end: End | undefined;
  #wake: (heard: Heard) => void = () => {};

  constructor(
    private readonly ports: CallPorts,
    private readonly limits: CallLimits,
    private readonly asked: AskedCommand,
    /** On this process's monotonic clock. */
    private endMs: number,
  ) {}

  /** @throws SHARD_UNAVAILABLE, NOT_APPLIED (surely not executed), OUTCOME_UNKNOWN, and whatever the owner answers */
  async run(): Promise<Uint8Array> {
    const { clock } = this.ports;
    const { pauseMs } = this.limits;
    for (;;) {
      const leftMs = this.endMs - clock.monotonicMs();
      if (leftMs <= 0) return this.#settle();
      if (this.asked.isGone?.() === true) throw this.#unknown();
      const heard = await this.#try(Math.min(leftMs, this.#nextTryMs()));
      if (this.#isOver) return this.#answer();
      if (heard === 'silence' && this.asked.isPatient) this.endMs = clock.monotonicMs() + this.limits.deadlineMs;
      if (heard !== 'after-a-pause') continue;
      if (clock.monotonicMs() + pauseMs >= this.endMs) return this.#settle();
      await this.#listen(pauseMs, () => {});
      if (this.#isOver) return this.#answer();
    }
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
    if (isTold && before !== undefined && this.#mayBeExecutedBefore(before.epoch)) {
      this.#finish(this.#unknown());
      return Promise.resolve('at-once');
    }
    const needsGreeting = !isRead && !this.#isOwnerOfOld && before === undefined;
    return this.#listen(waitMs, () => this.#send(needsGreeting ? 'greet' : 'command', before));
  }

  /** RC4. */
  async #settle(): Promise<Uint8Array> {
    const { clock } = this.ports;
    const { pauseMs, tryMs, settleMs } = this.limits;
    const endMs = this.endMs + settleMs;
    while (this.#mayBeExecuted) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) throw this.#unknown();
      await this.#listen(Math.min(leftMs, tryMs), () => this.#send('settle', undefined));
      if (this.#isOver) return this.#answer();
      if (this.#mayBeExecuted) await this.#listen(Math.min(pauseMs, leftMs), () => {});
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
    return new MillraceError('OUTCOME_UNKNOWN', `${shard} did not say what became of it`, details, this.#cause);
  }

  /** Does something, and waits for what comes of it or of anything before. */
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
    const waitMs = Math.max(1, this.endMs + this.limits.settleMs - clock.monotonicMs());
    bus.request({ kind: 'command', shard }, payload, waitMs).then(
      (bytes) => this.#receive(bytes, ask, isOpen ? epoch : undefined),
      (error: unknown) => this.#fail(error, isOpen ? epoch : undefined),
    );
  }

  /** @param epoch of the activation that the try was for; undefined: it was not one to be executed */
  #receive(bytes: Uint8Array, ask: RemoteAsk, epoch: number | undefined): void {
    const { shard } = this.asked;
    let answer: ReturnType<typeof decodeAnswer>;
    try {
      answer = decodeAnswer(bytes);
    } catch (error) {
      this.#fail(error, undefined);
      return;
    }
    const { from, result } = answer;
    if (from !== undefined) this.ports.readings.hear(shard, from);
    if (this.#isOver) return;
    if (ask === 'greet') {
      this.#isOwnerOfOld = from === undefined;
      this.#wake('at-once');
    } else if (!(result instanceof MillraceError)) {
      this.#answered(result, from?.epoch ?? OF_OLD, epoch);
    } else {
      this.#refused(result, ask, from?.epoch ?? OF_OLD, epoch);
    }
  }

  /** RC6. */
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
      // That activation is over, and whether it had stored it only the next one can tell.
      if (epoch !== undefined) {
        this.#inDoubt.add(epoch);
        this.ports.readings.forget(this.asked.shard, epoch);
      }
      this.#wake('after-a-pause');
      return;
    }
    // By whom it was meant for, or by the successor to which that one had handed over.
    if (epoch === by || details.isClosed === true) this.#close(epoch);
    if (details.isChecked === true) this.#clear(ask === 'settle' ? by : by - 1);
    this.#isBeingStored = ask === 'settle' && details.isBeingStored === true;
    const isFinal = code === 'OUTCOME_UNKNOWN' || (ask === 'command' && !mayChange(failure));
    if (isFinal) this.#finish((details.isExecuted === true && this.#late) || failure);
    else if (this.#late !== undefined && !this.#mayBeExecuted) this.#finish(this.#late);
    else this.#wake(details.isElsewhere === true ? 'at-once' : 'after-a-pause');
  }

  #fail(error: unknown, epoch: number | undefined): void {
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
    // Nobody received that one, and whoever owned the shard is gone.
    if (isUnreceived(error)) {
      this.#close(epoch);
      if (epoch !== undefined) this.ports.readings.forget(this.asked.shard, epoch);
    }
    this.#wake('after-a-pause');
  }

  /** An answer to a try: that one will not be executed any more. */
  #close(epoch: number | undefined): void {
    if (epoch === undefined) return;
    const left = (this.#openTries.get(epoch) ?? 1) - 1;
    if (left === 0) this.#openTries.delete(epoch);
    else this.#openTries.set(epoch, left);
  }

  /** Whoever has the journal up to this epoch has not found it there, and nobody of an earlier one can write any more. */
  #clear(upTo: number): void {
    const { isTold } = this.asked;
    // RC5.
    const isCleared = (known: number): boolean => (isTold ? known === upTo : known <= upTo);
    for (const known of [...this.#openTries.keys()]) if (isCleared(known)) this.#openTries.delete(known);
    for (const known of [...this.#inDoubt]) if (isCleared(known)) this.#inDoubt.delete(known);
  }

  #finish(result: Uint8Array | MillraceError): void {
    this.#end ??= { result };
    this.#wake('at-once');
  }
}

/** Nobody served the topic; told by the bus, not by an owner. */
function isUnreceived(error: MillraceError): boolean {
  return error.code === 'SHARD_UNAVAILABLE' && error.details.isUnserved === true;
}

/** Answers that another try may change. */
function mayChange({ code }: MillraceError): boolean {
  return code === 'TIMED_OUT' || code === 'SHARD_UNAVAILABLE' || code === 'NOT_APPLIED' || code === 'SHUTTING_DOWN';
}
