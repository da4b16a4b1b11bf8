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
import { CommandMemory } from './command-memory.js';
import { readClaimableEnd } from './journal-end.js';
import { Mailbox } from './mailbox.js';
import { NextTick } from './next-tick.js';
import {
  asFailure,
  NO_TURN,
  newPending,
  outOfTouch,
  type PendingTurn,
  rejectAll,
  tooLate,
  unavailable,
  watchAppends,
} from './pending.js';
import { Following, type Recovery } from './recovery.js';
import { ShardTime } from './shard-time.js';
import { ShardWriter } from './shard-writer.js';
import type { RecoveryStep, ShardPlane, Work } from './work.js';
import { WorkShare } from './work-share.js';

/** How long an ended actor answers callers, unless a successor is there sooner; a claim takes a tenth of it. */
const FORGOTTEN_AFTER_MS = 1000;
/**
 * A write of another tenant takes about four rounds of the event loop; the overhead of a round is a twentieth of this.
 */
const SLICE_MS = 1;

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
  #following: { readonly until: Following; readonly recovered: Promise<Recovery> } | undefined;
  #end: (why: MillraceError) => void = () => {};
  readonly #mailbox: Mailbox<W>;
  readonly #memory: CommandMemory;
  readonly #stop = new AbortController();
  readonly #appends: ReturnType<typeof watchAppends>;
  #writer: ShardWriter | undefined;
  #open: PendingTurn<W>;
  #inFlight: PendingTurn<W> | undefined;
  #lastAppendSentAtMs = Number.NEGATIVE_INFINITY;
  #lastStoreMs: number | undefined;
  /** The append in flight had no answer within its time, and is being repeated. */
  #isUnanswered = false;
  #snapshotAtMs: number | undefined;
  /** On the monotonic clock; known once the claim is stored. */
  #quietUntilMs = Number.POSITIVE_INFINITY;
  readonly #time: ShardTime;
  readonly #work: WorkShare;
  #isDrainSoon = false;
  readonly #tick: NextTick;
  #holdSweep: Timer | undefined;
  #whenIdle: (() => void) | undefined;
  /** Reads that wait for any entry as a proof of ownership. */
  #unproven: W[] = [];
  #afterEntry: (() => Promise<void>)[] = [];

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
    this.#appends = watchAppends(ports, activation.shard);
    this.#open = newPending(1);
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
    return this.#writer?.head;
  }

  /** True once no earlier owner can still be answering reads. */
  get isPastQuiet(): boolean {
    return this.ports.clock.monotonicMs() >= this.#quietUntilMs;
  }

  /** True while this actor may act as the owner; always, where no other process can own the shard. */
  get holdsLease(): boolean {
    return this.#state !== 'ended' && this.activation.mayAnswerReads(this.#lastAppendSentAtMs);
  }

  get mailboxBytes(): number {
    return this.#mailbox.bytes;
  }

  get mailboxSize(): number {
    return this.#mailbox.size;
  }

  /** The time from sending the last entry to its acknowledgement; undefined: none in this activation. */
  get lastStoreMs(): number | undefined {
    return this.#lastStoreMs;
  }

  /**
   * The replay after the newest snapshot: entries read so far, entries to read, and those read after the claim, while
   * requests waited.
   */
  readonly replayed = { entries: 0, bytes: 0, toRead: 0, afterClaim: 0 };
  #coveredNumber = 0;

  /** When the newest snapshot was made; undefined: there is none, or it is not known yet. */
  get snapshotAtMs(): number | undefined {
    return this.#snapshotAtMs;
  }

  /**
   * True when a command with this id was executed by this activation or an earlier one, as far as ids are remembered.
   */
  wasExecuted(commandId: CommandId): boolean {
    return this.#memory.has(commandId);
  }

  /** Replays the present owner's entries until `start` is called. Errors end the actor. */
  follow(onLevel: () => void): void {
    const until = new Following(this.ports.timers, onLevel);
    const recovery = this.ports.follow(this.shard, until);
    const recovered = this.plane.restore(this.#remembering(recovery.steps)).then(() => recovery);
    this.#following = { until, recovered };
    recovered.catch((error: unknown) => this.end(asFailure(error, this.shard)));
  }

  /** True when it follows the present owner and few entries are left to replay. */
  get isLevel(): boolean {
    return this.#following?.until.isLevel === true && !this.isEnded;
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
      await this.#replay();
      if (this.isEnded) return;
      this.#serve();
    } catch (error) {
      this.end(asFailure(error, this.shard));
    }
  }

  /** Accepts a work. Its `release` or `reject` is called later, never within this call. */
  submit(work: W): void {
    if (this.#state === 'ended' || this.#state === 'draining') {
      const why = this.#state === 'ended' ? 'has no owner here' : 'is being handed over';
      this.ports.timers.soon(() => work.reject(unavailable(`${this.shard} ${why}`)));
      return;
    }
    work.enteredAtMs = this.ports.clock.monotonicMs();
    if (this.plane.intercept?.(work) === true) {
      this.ports.timers.soon(() => this.#releaseRead(work));
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
    const why = `${this.shard} ${isLoading ? 'is still loading, and ' : ''}has too many commands waiting`;
    return isLoading ? unavailable(why) : new MillraceError('MAILBOX_FULL', why, { shard: this.shard });
  }

  /** Lets the plane return parked work (its partition has loaded), and check due work. */
  resume(): void {
    this.#drainSoon();
  }

  /** Appends a snapshot entry after the one in flight. Resolves when it is stored. */
  appendSnapshot(manifest: string, digest: Uint8Array, coveredNumber: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#afterEntry.push(async () => {
        try {
          const body = { kind: 'snapshot', manifest, digest, coveredNumber } as const;
          await this.#pen().appendSnapshot(body, this.#time.nowMs(), this.#watch());
          this.#snapshotAtMs = this.ports.clock.nowMs();
          resolve();
        } catch (error) {
          reject(error);
          throw error;
        }
      });
      this.ended.then(reject);
      this.#sealIfReady();
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
  end(why: MillraceError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    if (why.code === 'FENCED') this.ports.metrics.refused(this.shard);
    this.#tick.cancel();
    this.#holdSweep?.cancel();
    this.#stop.abort(why);
    this.#following?.until.cancel(why);
    const inFlight = this.#inFlight?.waiting ?? [];
    const waiting = [...this.#mailbox.clear(), ...this.plane.abandon(), ...this.#unproven.splice(0)];
    rejectAll(this.shard, { inFlight, open: this.#open.waiting, waiting }, why);
    this.#inFlight = undefined;
    this.#open = newPending(NO_TURN);
    this.#end(why);
    this.ports.timers.after(FORGOTTEN_AFTER_MS, () => this.forget());
  }

  async #claim(): Promise<void> {
    const { journal, appender, clock, random, timers } = this.ports;
    const { shard, epoch, clusterId } = this.activation;
    const { highWater, quietMs, sighting } = this.#grant;
    const end = await readClaimableEnd(journal, { shard, epoch, highWater });
    const head = { ...end.head, position: end.lastPosition };
    this.#time.follow(head.clockMs);
    const { chunkBytes } = this.limits;
    const yieldToEventLoop = () => timers.yieldToEventLoop();
    this.#writer = new ShardWriter(
      { appender, shard, epoch, writer: random.bytes(16), chunkBytes, yieldToEventLoop },
      head,
    );
    const sentAtMs = clock.monotonicMs();
    await this.#writer.appendClaim(clusterId, this.#time.nowMs(), this.#watch());
    this.#lastAppendSentAtMs = sentAtMs;
    this.#onClaimed();
    // The same position as before proves that the old owner has had no append acknowledged since.
    const isUnchanged = sighting !== undefined && sighting.position === end.lastPosition;
    this.#quietUntilMs = (isUnchanged ? sighting.atMs : clock.monotonicMs()) + quietMs;
  }

  async #replay(): Promise<void> {
    const startedAtMs = this.ports.clock.monotonicMs();
    const writer = this.#pen();
    const claim = writer.head;
    this.#noteToRead();
    const recovery = await this.#recovered(claim);
    if (this.isEnded) return;
    writer.adoptLinks(recovery.links());
    const durationMs = this.ports.clock.monotonicMs() - startedAtMs;
    this.ports.metrics.replayed(durationMs);
    const { entries, afterClaim } = this.replayed;
    const what = { number: claim.number, durationMs, entries, afterClaim };
    this.ports.log.info('shard.replayed', { shard: this.shard, epoch: this.epoch, ...what });
  }

  #noteToRead(): void {
    this.replayed.toRead = Math.max(0, (this.head?.number ?? 0) - this.#coveredNumber);
  }

  async #recovered(claim: ChainHead): Promise<Recovery> {
    const { highWater } = this.#grant;
    if (this.#following !== undefined) {
      this.#following.until.claimed({ claim, highWater });
      return this.#following.recovered;
    }
    const recovery = this.ports.recover(this.shard, claim, highWater);
    await this.plane.restore(this.#remembering(recovery.steps));
    return recovery;
  }

  async *#remembering(steps: AsyncIterable<RecoveryStep>): AsyncIterable<RecoveryStep> {
    for await (const step of steps) {
      if (this.isEnded) throw new MillraceError('SHUTTING_DOWN', `${this.shard}: the replay was abandoned`);
      if (step.kind === 'manifest') {
        this.#memory.restore(step.recentCommandIds);
        this.#snapshotAtMs = step.manifest?.createdAtMs;
        this.#coveredNumber = step.manifest?.head.number ?? 0;
        this.#noteToRead();
      } else {
        const { entry, totalBytes } = step.read;
        this.replayed.entries += 1;
        this.replayed.bytes += totalBytes;
        if (this.head !== undefined) this.replayed.afterClaim += 1;
        this.#time.follow(entry.clockMs);
        if (entry.body.kind === 'batch') this.#memory.add(entry.body.commandIds, entry.clockMs);
      }
      yield step;
    }
  }

  #serve(): void {
    if (this.#state !== 'replaying') return;
    this.#state = 'serving';
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
        this.end(asFailure(error, this.shard));
      }
    });
  }

  #drain(): void {
    const { clock } = this.ports;
    const { maxCommands, maxEffectBytes, maxMs } = this.limits.turn;
    const pending = this.#open;
    const { turn } = pending;
    const startedAtMs = clock.monotonicMs();
    const deadlineMs = startedAtMs + maxMs;
    turn.nowMs = this.#time.nowMs();
    let sinceLook = 0;
    const stopAt = turn.commands + maxCommands;
    const isFull = () =>
      turn.effects >= maxCommands ||
      turn.effectBytes >= maxEffectBytes ||
      pending.waiting.length + this.#unproven.length >= maxCommands;
    let sliceEndMs = deadlineMs;
    const shouldStop = (isMidway = false) => {
      if (isMidway) return turn.commands >= stopAt || clock.monotonicMs() >= sliceEndMs;
      if (isFull() || turn.commands >= stopAt) return true;
      // Reading the clock costs as much as a command, so it is read every sixteenth time.
      sinceLook += 1;
      return (sinceLook & 15) === 0 && clock.monotonicMs() > deadlineMs;
    };
    for (const work of this.plane.takeParked()) if (!this.#mailbox.push(work)) work.reject(unavailable(this.shard));
    if (this.#mailbox.size > 0) this.#sweepLater();
    let nowMs = startedAtMs;
    while (!isFull() && turn.commands < stopAt) {
      const work = nowMs <= deadlineMs ? this.#mailbox.next() : undefined;
      // A command that has used its slice continues after a round of the event loop (SA8).
      if (work === undefined || (work.isHalfway === true && nowMs >= startedAtMs + SLICE_MS)) break;
      if (isTooLate(work, nowMs)) {
        this.#mailbox.spend(work, 0, 0, true);
        work.reject(tooLate(this.shard, work));
        continue;
      }
      if (this.#isUnanswered && work.isRefusable === true) {
        this.#mailbox.spend(work, 0, 0, true);
        work.reject(unavailable(`${this.shard}: its journal does not answer, nothing was executed`));
        continue;
      }
      const commandsBefore = turn.commands;
      const bytesBefore = turn.effectBytes;
      sliceEndMs = Math.min(deadlineMs, nowMs + SLICE_MS);
      const step = this.plane.execute(work, turn, shouldStop);
      const commands = turn.commands - commandsBefore;
      const beganAtMs = nowMs;
      nowMs = clock.monotonicMs();
      const bytes = (step === 'more' ? 0 : work.bytes) + turn.effectBytes - bytesBefore;
      this.#mailbox.spend(work, commands, bytes, step !== 'more', nowMs - beganAtMs);
      if (turn.effectBytes > bytesBefore && work.commandId !== undefined) pending.commandIds.push(work.commandId);
      if (step === 'done') this.#finish(work);
      this.#finishWaiters(pending);
    }
    this.plane.tick(turn);
    this.#finishWaiters(pending);
    this.#sealIfReady();
    if (this.#mailbox.size > 0 && !isFull()) this.#drainSoon();
    if (this.#state === 'serving') this.#tick.schedule(this.plane.nextTickInMs(this.#time.nowMs()));
    this.#wakeIfIdle();
    this.#noteWork(clock.monotonicMs() - startedAtMs);
  }

  #noteWork(ms: number): void {
    this.#work.add(ms);
    this.ports.metrics.drained(ms);
  }

  /** Completes works that left the mailbox to wait and were served in this turn or given up. */
  #finishWaiters(pending: PendingTurn<W>): void {
    for (const work of this.plane.takeFinished?.() ?? []) {
      if (work.hasWritten && work.commandId !== undefined) pending.commandIds.push(work.commandId);
      this.#finish(work);
    }
  }

  /** Sends the reply now, or with the entry that it depends on (SA1, SA3). */
  #finish(work: W): void {
    const { readsNeedBarrier } = this.activation;
    const waitsFor = readsNeedBarrier ? this.#open.turn.number : work.waitsForTurn;
    if (work.trace !== undefined) this.#traceExecuted(work, waitsFor);
    if (waitsFor === this.#open.turn.number) this.#open.waiting.push(work);
    else if (waitsFor === this.#inFlight?.turn.number) this.#inFlight.waiting.push(work);
    else if (this.activation.mayAnswerReads(this.#lastAppendSentAtMs)) work.release(this.#pen().head.position);
    else {
      this.#unproven.push(work);
      this.#sweepLater();
    }
  }

  #traceExecuted({ trace, hasWritten }: W, waitsFor: number): void {
    const waits = waitsFor === this.#open.turn.number || waitsFor === this.#inFlight?.turn.number;
    trace?.executed(this.shard, waits ? (hasWritten ? 'for-its-entry' : 'for-an-entry') : undefined);
  }

  #releaseRead(work: W): void {
    if (this.activation.mayAnswerReads(this.#lastAppendSentAtMs)) work.release(this.#pen().head.position);
    else work.reject(outOfTouch(this.shard, work));
  }

  #sealIfReady(): void {
    if (this.#inFlight !== undefined || (this.#state !== 'serving' && this.#state !== 'draining')) return;
    const pending = this.#open;
    const extra = this.#afterEntry.shift();
    const isWanted = pending.turn.effects > 0 || pending.waiting.length > 0 || this.#unproven.length > 0;
    if (extra === undefined && !isWanted) return;
    if (extra !== undefined) {
      this.#inFlight = newPending(NO_TURN);
      this.#run(async () => {
        await extra();
        this.#inFlight = undefined;
      });
      return;
    }
    this.#open = newPending(pending.turn.number + 1);
    this.#inFlight = pending;
    this.#run(() => this.#store(pending));
  }

  #run(step: () => Promise<void>): void {
    step().then(
      () => {
        this.#isUnanswered = false;
        this.#sealIfReady();
        if (this.#mailbox.size > 0) this.#drainSoon();
        this.#wakeIfIdle();
      },
      (error: unknown) => this.end(asFailure(error, this.shard)),
    );
  }

  async #store(pending: PendingTurn<W>): Promise<void> {
    const { clock, metrics } = this.ports;
    const { turn } = pending;
    const effects = this.plane.seal(turn);
    const sentAtMs = clock.monotonicMs();
    const head = await this.#pen().appendBatch(pending.commandIds, effects, turn.nowMs, this.#watch());
    if (this.isEnded) return;
    this.#lastAppendSentAtMs = sentAtMs;
    this.#isUnanswered = false;
    this.#appends.answered();
    this.#lastStoreMs = clock.monotonicMs() - sentAtMs;
    metrics.entryStored(this.shard, this.#lastStoreMs, turn.effects, turn.effectBytes);
    this.activation.onStored(head, turn.effectBytes);
    if (!this.isPastQuiet) await this.#untilQuietIsOver();
    if (this.isEnded) return;
    this.#memory.add(pending.commandIds, head.clockMs);
    this.plane.committed(head, this.#pen().links);
    this.#inFlight = undefined;
    const proven = this.#unproven.splice(0);
    // The next entry is sent before the replies of this one are written, so that the disk does not wait for them.
    this.#sealIfReady();
    for (const work of pending.waiting) {
      if (work.hasWritten) work.release(head.position);
      else this.#releaseRead(work);
    }
    for (const work of proven) this.#releaseRead(work);
  }

  /** An old owner may answer reads until its lease is over; until then no new change is visible. */
  async #untilQuietIsOver(): Promise<void> {
    const { clock, timers } = this.ports;
    for (;;) {
      const leftMs = this.#quietUntilMs - clock.monotonicMs();
      if (leftMs <= 0 || this.isEnded) return;
      await timers.pause(leftMs);
    }
  }

  #wakeIfIdle(): void {
    const { turn, waiting } = this.#open;
    if (this.#mailbox.size + this.#unproven.length > 0 || this.#inFlight !== undefined || turn.effects > 0) return;
    if (waiting.length === 0) this.#whenIdle?.();
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
      const why = 'another long command is running in its database';
      for (const work of this.#mailbox.takeHeldUp(enteredBeforeMs)) work.reject(new MillraceError('TENANT_BUSY', why));
    }
    const unproven = this.#unproven.splice(0);
    for (const work of unproven) {
      if (work.enteredAtMs <= enteredBeforeMs) work.reject(outOfTouch(this.shard, work));
      else this.#unproven.push(work);
    }
    if (this.#mailbox.size + this.#unproven.length > 0) this.#sweepLater();
  }

  /** Scheduled only while requests wait; an idle shard costs no timer. */
  #sweepLater(): void {
    this.#holdSweep ??= this.ports.timers.after(this.limits.holdMs / 10, () => this.#rejectOverdue());
  }

  #pen(): ShardWriter {
    if (this.#writer === undefined) throw new MillraceError('DEFECT', `${this.shard} has not been claimed`);
    return this.#writer;
  }

  #watch() {
    const onUnknown = (cause: unknown) => {
      this.#isUnanswered = true;
      this.#appends.unanswered(cause);
    };
    return { signal: this.#stop.signal, onUnknown };
  }
}

/** True after the deadline of a work that is not half done (SA7). */
function isTooLate(work: Work, nowMs: number): boolean {
  return work.deadlineMs < nowMs && work.isHalfway !== true;
}
