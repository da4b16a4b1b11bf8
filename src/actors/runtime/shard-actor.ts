/**
 * One activation of a shard: claims it, rebuilds its state, then executes commands, one turn after the other. It ends
 * at the first error that it cannot handle, and a successor starts from the journal.
 *
 *  SA1 a reply is sent after everything it depends on is stored, and only while the actor is the owner
 *  SA2 one entry is in flight; commands executed during that time are in the next one
 *  SA3 a read of a change that is not stored yet waits for its entry; any other read is answered immediately within
 *      the read lease, and after the lease it waits for an entry that proves the ownership
 *  SA4 a refused append ends the actor: its memory is never repaired
 *  SA5 an unanswered append is repeated until it is answered; a caller is told "unknown", never a guess
 *  SA6 no command is answered before the replay has reached the actor's own claim, also by an actor that follows the
 *      present owner's entries before its claim
 *  SA7 no command is begun after its deadline, wherever it has waited
 *  SA8 a long command runs for `SLICE_MS` at a time; between two slices other tenants and the event loop run
 *
 * While an append is unanswered, a write of the key-value plane that has not begun is refused as not executed.
 */
import type { ChainHead } from '../../journal/index.js';
import { type CommandId, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { Activation, ActorLimits, ActorPorts, ActorState, Grant } from './activation.js';
import { ActivationReplay } from './activation-replay.js';
import { CommandMemory } from './command-memory.js';
import { readClaimableEnd } from './journal-end.js';
import { Mailbox } from './mailbox.js';
import { NextTick } from './next-tick.js';
import { OwnershipProof } from './ownership-proof.js';
import { asFailure, type PendingTurn, rejectAll, tooLate, unavailable } from './pending.js';
import type { Recovery } from './recovery.js';
import { ShardTime } from './shard-time.js';
import { ShardWriter } from './shard-writer.js';
import { TurnBudget } from './turn-budget.js';
import { TurnEntries } from './turn-entries.js';
import type { ShardPlane, Work } from './work.js';
import { WorkShare } from './work-share.js';

/** How long an ended actor answers callers, unless a successor is there sooner; a claim takes a tenth of it. */
const FORGOTTEN_AFTER_MS = 1000;
export class ShardActor<W extends Work> {
  /** Resolves with the reason when the actor has ended. */
  readonly ended: Promise<MillraceError>;
  /** Resolves once this activation is no longer asked: a successor has claimed the shard, or it ended some time ago. */
  readonly forgotten: Promise<void>;
  #onForgotten: () => void = () => {};
  /** Resolves when its claim is stored; from then on no other owner's entries are. */
  readonly claimed: Promise<void>;
  #onClaimed: () => void = () => {};
  /** Resolves when the actor serves; rejects if it ends before. */
  readonly serving: Promise<void>;
  #onServing: () => void = () => {};
  #state: ActorState = 'claiming';
  /** From the activation, or determined later for an actor that follows. */
  #grant: Grant;
  #end: (reason: MillraceError) => void = () => {};
  readonly #mailbox: Mailbox<W>;
  readonly #memory: CommandMemory;
  readonly #entries: TurnEntries<W>;
  readonly #proof: OwnershipProof;
  readonly #replay: ActivationReplay;
  readonly #time: ShardTime;
  readonly #work: WorkShare;
  #isDrainSoon = false;
  readonly #tick: NextTick;
  #holdSweep: Timer | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(
    private readonly ports: ActorPorts,
    private readonly limits: ActorLimits,
    private readonly activation: Activation,
    private readonly plane: ShardPlane<W>,
  ) {
    this.#grant = activation;
    this.#mailbox = new Mailbox(limits.mailbox);
    this.#tick = new NextTick(ports.timers, ports.clock, () => this.#drainSoon());
    this.#memory = new CommandMemory(limits.commandMemoryMs);
    this.#time = new ShardTime(ports.clock);
    this.#work = new WorkShare(ports.clock);
    this.#proof = new OwnershipProof(ports.clock, ports.timers, activation);
    this.#replay = new ActivationReplay(ports, activation.shard, plane, this.#memory, this.#time);
    this.#entries = new TurnEntries<W>({
      ports,
      activation,
      plane,
      memory: this.#memory,
      time: this.#time,
      proof: this.#proof,
      onStored: () => {
        if (this.#mailbox.size > 0) this.#drainSoon();
        this.#wakeIfIdle();
      },
      onFailure: (error) => this.fail(error),
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.claimed = new Promise((resolve) => {
      this.#onClaimed = resolve;
    });
    this.forgotten = new Promise((resolve) => {
      this.#onForgotten = resolve;
    });
    this.serving = new Promise((resolve, reject) => {
      this.#onServing = resolve;
      void this.ended.then(reject);
    });
    // The promise may have no listener.
    this.serving.catch(() => undefined);
  }

  get state(): ActorState {
    return this.#state;
  }

  get shard(): ShardName {
    return this.activation.shard;
  }

  get epoch(): number {
    return this.activation.epoch;
  }

  /** The part of a core that its turns take. */
  get load(): number {
    return this.#work.ofCore;
  }

  /** From the activation. */
  get releasedEpoch(): number | undefined {
    return this.#grant.releasedEpoch;
  }

  /** The clock of the deadlines of this activation's commands. */
  get monotonicMs(): number {
    return this.ports.clock.monotonicMs();
  }

  /** The last entry that is certainly stored; undefined before the claim is. */
  get head(): ChainHead | undefined {
    return this.#entries.head;
  }

  /** True once no earlier owner can still be answering reads. */
  get isPastQuiet(): boolean {
    return this.#proof.isPastQuiet;
  }

  /** True while this actor may act as the owner; always, where no other process can own the shard. */
  get holdsLease(): boolean {
    return this.#state !== 'ended' && this.#proof.mayAnswerReads;
  }

  get mailboxBytes(): number {
    return this.#mailbox.bytes;
  }

  get mailboxSize(): number {
    return this.#mailbox.size;
  }

  /** The time from sending the last entry to its acknowledgement; undefined: none in this activation. */
  get lastStoreMs(): number | undefined {
    return this.#entries.lastStoreMs;
  }

  /** The entries that its replay has read. */
  get replayed(): ActivationReplay['counts'] {
    return this.#replay.counts;
  }

  /** When the newest snapshot was made; undefined: there is none, or it is not known yet. */
  get snapshotAtMs(): number | undefined {
    return this.#replay.snapshotAtMs;
  }

  /**
   * True when a command with this id was executed by this activation or an earlier one, as far as ids are remembered.
   */
  wasExecuted(commandId: CommandId): boolean {
    return this.#memory.has(commandId);
  }

  /** Replays the present owner's entries until `start` is called. Errors end the actor. */
  follow(onLevel: () => void): void {
    this.#replay.follow(onLevel).catch((error: unknown) => this.fail(error));
  }

  /** True when it follows the present owner and few entries are left to replay. */
  get isLevel(): boolean {
    return this.#replay.isLevel && !this.isEnded;
  }

  /**
   * Claims, replays, serves. Errors end the actor; see `ended`.
   * @param grant  given to an actor that has followed
   */
  async start(grant: Grant = this.activation): Promise<void> {
    this.#grant = grant;
    try {
      await this.#claim();
      if (this.isEnded) return;
      this.#state = 'replaying';
      const recovery = await this.#replayed();
      if (this.isEnded) return;
      this.#serve(recovery);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Accepts a work. Its `release` or `reject` is called later, never within this call. */
  submit(work: W): void {
    if (this.#state === 'ended' || this.#state === 'draining') {
      const reason = this.#state === 'ended' ? 'has no owner here' : 'is being handed over';
      this.ports.timers.soon(() => work.reject(unavailable(`${this.shard} ${reason}`)));
      return;
    }
    work.enteredAtMs = this.ports.clock.monotonicMs();
    if (this.plane.intercept?.(work) === true) {
      this.ports.timers.soon(() => this.#entries.releaseRead(work));
      return;
    }
    if (!this.#mailbox.push(work)) {
      this.ports.metrics.mailboxFull(this.shard);
      this.ports.timers.soon(() => work.reject(this.#noRoom()));
      return;
    }
    this.#sweepLater();
    this.#drainSoon();
  }

  /** The error of a full mailbox; while the state is loading it names that as the cause. */
  #noRoom(): MillraceError {
    const isLoading = this.#state === 'claiming' || this.#state === 'replaying';
    const reason = `${this.shard} ${isLoading ? 'is still loading, and ' : ''}has too many commands waiting`;
    return isLoading ? unavailable(reason) : new MillraceError('MAILBOX_FULL', reason, { shard: this.shard });
  }

  /** Lets the plane return parked work (its partition has loaded), and check due work. */
  resume(): void {
    this.#drainSoon();
  }

  /** Appends a snapshot entry after the one in flight. Resolves when it is stored. */
  appendSnapshot(manifest: string, digest: Uint8Array, coveredNumber: number): Promise<void> {
    return new Promise((resolve, reject) => {
      void this.ended.then(reject);
      this.#entries.appendSnapshot({ kind: 'snapshot', manifest, digest, coveredNumber }).then(() => {
        this.#replay.snapshotAtMs = this.ports.clock.nowMs();
        resolve();
      }, reject);
    });
  }

  /** Finishes the works in the mailbox, accepts no new ones, ends. Resolves with the last stored entry. */
  async drain(): Promise<ChainHead | undefined> {
    if (this.#state !== 'serving') {
      this.end(new MillraceError('SHUTTING_DOWN', `${this.shard} is being handed over`));
      return undefined;
    }
    this.#state = 'draining';
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      this.ended.then(() => resolve());
      this.#drainSoon();
    });
    const head = this.isEnded ? undefined : this.head;
    this.end(new MillraceError('SHUTTING_DOWN', `${this.shard} was handed over`));
    return head;
  }

  /** Ends the actor because of an error of its plane. */
  fail(error: unknown): void {
    this.end(asFailure(error, this.shard));
  }

  /** A successor is asked from now on. */
  forget(): void {
    this.#onForgotten();
  }

  /** True until the journal is replayed; no command has been executed yet. */
  get isLoading(): boolean {
    return this.#state === 'claiming' || this.#state === 'replaying';
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Drops the state and rejects every caller. Idempotent. */
  end(reason: MillraceError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    if (reason.code === 'FENCED') this.ports.metrics.refused(this.shard);
    this.#tick.cancel();
    this.#holdSweep?.cancel();
    this.#replay.cancel(reason);
    const { inFlight, open, unproven } = this.#entries.end(reason);
    const waiting = [...this.#mailbox.clear(), ...this.plane.abandon(), ...unproven];
    rejectAll(this.shard, { inFlight, open, waiting }, reason);
    this.#end(reason);
    this.ports.timers.after(FORGOTTEN_AFTER_MS, () => this.forget());
  }

  async #claim(): Promise<void> {
    const { journal, appender, clock, random, timers } = this.ports;
    const { shard, epoch } = this.activation;
    const { highWater, quietMs, sighting } = this.#grant;
    const end = await readClaimableEnd(journal, { shard, epoch, highWater });
    const head = { ...end.head, position: end.lastPosition };
    this.#time.follow(head.clockMs);
    const { chunkBytes } = this.limits;
    const yieldToEventLoop = () => timers.yieldToEventLoop();
    const writer = random.bytes(16);
    await this.#entries.claim(new ShardWriter({ appender, shard, epoch, writer, chunkBytes, yieldToEventLoop }, head));
    this.#onClaimed();
    // The same position as before proves that the old owner has had no append acknowledged since.
    const isUnchanged = sighting !== undefined && sighting.position === end.lastPosition;
    this.#proof.quietUntil((isUnchanged ? sighting.atMs : clock.monotonicMs()) + quietMs);
  }

  async #replayed(): Promise<Recovery> {
    const startedAtMs = this.ports.clock.monotonicMs();
    const claim = this.head as ChainHead;
    const recovery = await this.#replay.run(claim, this.#grant);
    if (this.isEnded) return recovery;
    const durationMs = this.ports.clock.monotonicMs() - startedAtMs;
    this.ports.metrics.replayed(durationMs);
    const { entries, afterClaim } = this.replayed;
    const facts = { number: claim.number, durationMs, entries, afterClaim };
    this.ports.log.info('shard.replayed', { shard: this.shard, epoch: this.epoch, ...facts });
    return recovery;
  }

  #serve(recovery: Recovery): void {
    if (this.#state !== 'replaying') return;
    this.#state = 'serving';
    this.#entries.begin(recovery.links());
    this.#onServing();
    this.#drainSoon();
  }

  #drainSoon(): void {
    if (this.#isDrainSoon) return;
    this.#isDrainSoon = true;
    this.ports.timers.soon(() => {
      this.#isDrainSoon = false;
      if (this.#state !== 'serving' && this.#state !== 'draining') return;
      try {
        this.#drain();
      } catch (error) {
        this.fail(error);
      }
    });
  }

  #drain(): void {
    const { clock } = this.ports;
    const pending = this.#entries.open;
    const { turn } = pending;
    const budget = new TurnBudget(this.limits.turn, clock, turn, () => this.#entries.waiting);
    turn.nowMs = this.#time.nowMs();
    for (const work of this.plane.takeParked()) if (!this.#mailbox.push(work)) work.reject(unavailable(this.shard));
    if (this.#mailbox.size > 0) this.#sweepLater();
    let nowMs = budget.startedAtMs;
    while (!budget.isFull && !budget.isSpent) {
      const work = budget.isOver(nowMs) ? undefined : this.#mailbox.next();
      if (work === undefined || (work.isHalfway === true && budget.isSliceOver(nowMs))) break;
      if (isTooLate(work, nowMs)) {
        this.#mailbox.spend(work, 0, 0, true);
        work.reject(tooLate(this.shard, work));
        continue;
      }
      if (this.#entries.isUnanswered && work.isRefusable === true) {
        this.#mailbox.spend(work, 0, 0, true);
        work.reject(unavailable(`${this.shard}: its journal does not answer, nothing was executed`));
        continue;
      }
      const commandsBefore = turn.commands;
      const bytesBefore = turn.effectBytes;
      budget.beginSlice(nowMs);
      const step = this.plane.execute(work, turn, budget.shouldStop);
      const commands = turn.commands - commandsBefore;
      const beganAtMs = nowMs;
      nowMs = clock.monotonicMs();
      const bytes = (step === 'more' ? 0 : work.bytes) + turn.effectBytes - bytesBefore;
      this.#mailbox.spend(work, commands, bytes, step !== 'more', nowMs - beganAtMs);
      if (turn.effectBytes > bytesBefore && work.commandId !== undefined) pending.commandIds.push(work.commandId);
      if (step === 'done') this.#entries.finish(work);
      this.#finishWaiters(pending);
    }
    this.plane.tick(turn);
    this.#finishWaiters(pending);
    if (this.#entries.unproven > 0) this.#sweepLater();
    this.#entries.seal();
    if (this.#mailbox.size > 0 && !budget.isFull) this.#drainSoon();
    if (this.#state === 'serving') this.#tick.schedule(this.plane.nextTickInMs(this.#time.nowMs()));
    this.#wakeIfIdle();
    this.#noteWork(clock.monotonicMs() - budget.startedAtMs);
  }

  #noteWork(ms: number): void {
    this.#work.add(ms);
    this.ports.metrics.drained(ms);
  }

  /** Completes works that left the mailbox to wait and were served in this turn or given up. */
  #finishWaiters(pending: PendingTurn<W>): void {
    for (const work of this.plane.takeFinished?.() ?? []) {
      if (work.hasWritten && work.commandId !== undefined) pending.commandIds.push(work.commandId);
      this.#entries.finish(work);
    }
  }

  #wakeIfIdle(): void {
    if (this.#mailbox.size === 0 && this.#entries.isIdle) this.#whenIdle?.();
  }

  /** Rejects requests that have waited too long for loading state or half-done work. */
  #rejectOverdue(): void {
    this.#holdSweep = undefined;
    if (this.isEnded) return;
    const nowMs = this.ports.clock.monotonicMs();
    const enteredBeforeMs = nowMs - this.limits.holdMs;
    if (this.isLoading) {
      const isOver = (work: W) => work.enteredAtMs <= enteredBeforeMs || isTooLate(work, nowMs);
      for (const work of this.#mailbox.removeWhere(isOver)) work.reject(unavailable(`${this.shard} is still loading`));
    } else {
      const reason = 'another long command is running in its database';
      for (const work of this.#mailbox.takeHeldUp(enteredBeforeMs))
        work.reject(new MillraceError('TENANT_BUSY', reason));
    }
    this.#entries.rejectUnproven(enteredBeforeMs);
    if (this.#mailbox.size + this.#entries.unproven > 0) this.#sweepLater();
  }

  /** Scheduled only while requests wait; an idle shard costs no timer. */
  #sweepLater(): void {
    this.#holdSweep ??= this.ports.timers.after(this.limits.holdMs / 10, () => this.#rejectOverdue());
  }
}

/** True after the deadline of a work that is not half done (SA7). */
function isTooLate(work: Work, nowMs: number): boolean {
  return work.deadlineMs < nowMs && work.isHalfway !== true;
}
