/**
 * One activation of a shard: claims it, rebuilds its state, then executes what comes in, one turn after
 * the other. It ends for good at the first error it does not understand; a successor starts afresh.
 *
 *  SA1 a reply leaves after everything it depends on is stored, and in an owner's name only
 *  SA2 one entry is in flight; what is executed meanwhile is the next one
 *  SA3 a read of what is not stored yet waits for that entry; any other read is answered at once,
 *      within the read lease. When that is over, an entry without effects shows whether the shard is still ours
 *  SA4 a refused append ends the actor: nothing is repaired in memory
 *  SA5 an unanswered append is sent again until it is answered; callers hear "unknown", never a guess
 *  SA6 nothing is answered before the replay has reached the actor's own claim
 *  SA7 nothing is begun after its deadline, however long it has waited and wherever
 *  SA8 what is long runs for `SLICE_MS` at a time; between two slices come other tenants and the event loop
 */
import type { ChainHead } from '../../journal/index.js';
import { type CommandId, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { Activation, ActorLimits, ActorPorts, ActorState } from './activation.js';
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
import { ShardTime } from './shard-time.js';
import { ShardWriter } from './shard-writer.js';
import type { RecoveryStep, ShardPlane, Work } from './work.js';

/** An end is told to those who ask for so long, unless a successor is there sooner; a claim takes a tenth of it. */
const FORGOTTEN_AFTER_MS = 1000;
/** A write of another tenant goes round the loop some four times; what a round costs beside it is a twentieth of this. */
const SLICE_MS = 1;

export class ShardActor<W extends Work> {
  /** Resolves when the actor has ended, with why. */
  readonly ended: Promise<MillraceError>;
  /** Resolves once nobody asks this activation any more: a successor has claimed the shard, or it has ended for a while. */
  readonly forgotten: Promise<void>;
  #onForgotten: () => void = () => {};
  /** Resolves when its claim is stored: no other owner's entries are from then on. */
  readonly claimed: Promise<void>;
  #onClaimed: () => void = () => {};
  /** Resolves when the actor serves; rejects if it ends before. */
  readonly serving: Promise<void>;
  #onServing: () => void = () => {};
  #state: ActorState = 'claiming';
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
  #snapshotAtMs: number | undefined;
  /** On the monotonic clock; known once the claim is stored. */
  #quietUntilMs = Number.POSITIVE_INFINITY;
  readonly #time: ShardTime;
  #isDrainSoon = false;
  readonly #tick: NextTick;
  #holdSweep: Timer | undefined;
  #whenIdle: (() => void) | undefined;
  /** Reads that wait for an entry, any entry, to show that the shard is still ours. */
  #unproven: W[] = [];
  #afterEntry: (() => Promise<void>)[] = [];

  constructor(
    private readonly ports: ActorPorts,
    private readonly limits: ActorLimits,
    private readonly activation: Activation,
    private readonly plane: ShardPlane<W>,
  ) {
    this.#mailbox = new Mailbox(limits.mailbox);
    this.#tick = new NextTick(ports.timers, ports.clock, () => this.#drainSoon());
    this.#memory = new CommandMemory(limits.commandMemoryMs);
    this.#time = new ShardTime(ports.clock);
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
    // Nobody has to be waiting for it.
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

  /** As the activation has it. */
  get releasedEpoch(): number | undefined {
    return this.activation.releasedEpoch;
  }

  /** What deadlines of commands for this activation are on. */
  get monotonicMs(): number {
    return this.ports.clock.monotonicMs();
  }

  /** The last entry that is definitely stored; undefined before the claim is. */
  get head(): ChainHead | undefined {
    return this.#writer?.head;
  }

  /** True once no owner before this one can still be answering reads. */
  get isPastQuiet(): boolean {
    return this.ports.clock.monotonicMs() >= this.#quietUntilMs;
  }

  /** May anything be said or done in this owner's name right now? Always, where nobody else can own the shard. */
  get holdsLease(): boolean {
    return this.#state !== 'ended' && this.activation.mayAnswerReads(this.#lastAppendSentAtMs);
  }

  get mailboxBytes(): number {
    return this.#mailbox.bytes;
  }

  get mailboxSize(): number {
    return this.#mailbox.size;
  }

  /** From sending the last entry to its acknowledgement; undefined: none of this activation's. */
  get lastStoreMs(): number | undefined {
    return this.#lastStoreMs;
  }

  /** What was read behind the newest snapshot to get the state back, and how many entries there were to be read. */
  readonly replayed = { entries: 0, bytes: 0, toRead: 0 };

  /** When the newest snapshot was made; undefined: there is none, or it is not known yet. */
  get snapshotAtMs(): number | undefined {
    return this.#snapshotAtMs;
  }

  /** Was a command with this id executed, by this activation or one before it, as far as is remembered? */
  wasExecuted(commandId: CommandId): boolean {
    return this.#memory.has(commandId);
  }

  /** Claims, replays, serves. Errors end the actor; see `ended`. */
  async start(): Promise<void> {
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

  /** Puts work in. Its `release` or `reject` is called later, never from within. */
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
      this.ports.timers.soon(() =>
        work.reject(new MillraceError('MAILBOX_FULL', `${this.shard} has too much waiting`, { shard: this.shard })),
      );
      return;
    }
    this.#sweepLater();
    this.#drainSoon();
  }

  /** Lets the plane hand parked work back (its partition has loaded), and look at what fell due. */
  resume(): void {
    this.#drainSoon();
  }

  /** Appends a snapshot entry behind the one in flight. Resolves when it is stored. */
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

  /** Finishes what is in the mailbox, takes nothing new, ends. Resolves with the last stored entry. */
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

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Forgets everything, tells every caller. Idempotent. */
  end(why: MillraceError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    if (why.code === 'FENCED') this.ports.metrics.refused(this.shard);
    this.#tick.cancel();
    this.#holdSweep?.cancel();
    this.#stop.abort(why);
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
    const { shard, epoch, clusterId, quietMs, sighting } = this.activation;
    const end = await readClaimableEnd(journal, this.activation);
    const head = { ...end.head, position: end.lastPosition };
    this.#time.follow(head.clockMs);
    const { chunkBytes } = this.limits;
    const breathe = () => timers.breathe();
    this.#writer = new ShardWriter({ appender, shard, epoch, writer: random.bytes(16), chunkBytes, breathe }, head);
    const sentAtMs = clock.monotonicMs();
    await this.#writer.appendClaim(clusterId, this.#time.nowMs(), this.#watch());
    this.#lastAppendSentAtMs = sentAtMs;
    this.#onClaimed();
    // Behind the same position as then: the old owner has had no append acknowledged since.
    const isUnchanged = sighting !== undefined && sighting.position === end.lastPosition;
    this.#quietUntilMs = (isUnchanged ? sighting.atMs : clock.monotonicMs()) + quietMs;
  }

  async #replay(): Promise<void> {
    const startedAtMs = this.ports.clock.monotonicMs();
    const writer = this.#pen();
    const claim = writer.head;
    const recovery = this.ports.recover(this.shard, claim, this.activation.highWater);
    await this.plane.restore(this.#remembering(recovery.steps));
    if (this.isEnded) return;
    writer.adoptLinks(recovery.links());
    const durationMs = this.ports.clock.monotonicMs() - startedAtMs;
    this.ports.metrics.replayed(durationMs);
    this.ports.log.info('shard.replayed', { shard: this.shard, epoch: this.epoch, number: claim.number, durationMs });
  }

  async *#remembering(steps: AsyncIterable<RecoveryStep>): AsyncIterable<RecoveryStep> {
    for await (const step of steps) {
      if (this.isEnded) throw new MillraceError('SHUTTING_DOWN', `${this.shard}: replay was given up`);
      if (step.kind === 'manifest') {
        this.#memory.restore(step.recentCommandIds);
        this.#snapshotAtMs = step.manifest?.createdAtMs;
        this.replayed.toRead = (this.head?.number ?? 0) - (step.manifest?.head.number ?? 0);
      } else {
        const { entry, totalBytes } = step.read;
        this.replayed.entries += 1;
        this.replayed.bytes += totalBytes;
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
      // Reading the clock costs as much as a command: every sixteenth is often enough.
      sinceLook += 1;
      return (sinceLook & 15) === 0 && clock.monotonicMs() > deadlineMs;
    };
    for (const work of this.plane.takeParked()) if (!this.#mailbox.push(work)) work.reject(unavailable(this.shard));
    if (this.#mailbox.size > 0) this.#sweepLater();
    let nowMs = startedAtMs;
    while (!isFull() && turn.commands < stopAt) {
      const work = nowMs <= deadlineMs ? this.#mailbox.next() : undefined;
      // SA8: one that has had its slice goes on when the loop has been round.
      if (work === undefined || (work.isHalfway === true && nowMs >= startedAtMs + SLICE_MS)) break;
      if (isTooLate(work, nowMs)) {
        this.#mailbox.spend(work, 0, 0, true);
        work.reject(tooLate(this.shard, work));
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
    this.ports.metrics.drained(clock.monotonicMs() - startedAtMs);
  }

  /** Works that had left the mailbox to wait, and have been served in this turn or given up. */
  #finishWaiters(pending: PendingTurn<W>): void {
    for (const work of this.plane.takeFinished?.() ?? []) {
      if (work.hasWritten && work.commandId !== undefined) pending.commandIds.push(work.commandId);
      this.#finish(work);
    }
  }

  /** SA1, SA3: the reply leaves now, or with the entry it depends on. */
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
    // The next entry is on its way before the replies of this one are written: the disk need not wait for them.
    this.#sealIfReady();
    for (const work of pending.waiting) {
      if (work.hasWritten) work.release(head.position);
      else this.#releaseRead(work);
    }
    for (const work of proven) this.#releaseRead(work);
  }

  /** An old owner may answer reads for as long as its lease was good; until then nothing new is visible. */
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

  /** Requests wait so long and no longer: for state that is loading, and for what is half done. */
  #rejectOverdue(): void {
    this.#holdSweep = undefined;
    if (this.isEnded) return;
    const enteredBeforeMs = this.ports.clock.monotonicMs() - this.limits.holdMs;
    if (this.#state === 'claiming' || this.#state === 'replaying') {
      for (const work of this.#mailbox.removeWhere((waiting) => waiting.enteredAtMs <= enteredBeforeMs)) {
        work.reject(unavailable(`${this.shard} is still loading`));
      }
    } else {
      const why = 'something that takes long is under way in its database';
      for (const work of this.#mailbox.takeHeldUp(enteredBeforeMs)) work.reject(new MillraceError('TENANT_BUSY', why));
    }
    const unproven = this.#unproven.splice(0);
    for (const work of unproven) {
      if (work.enteredAtMs <= enteredBeforeMs) work.reject(outOfTouch(this.shard, work));
      else this.#unproven.push(work);
    }
    if (this.#mailbox.size + this.#unproven.length > 0) this.#sweepLater();
  }

  /** While something waits; a shard without work costs nothing. */
  #sweepLater(): void {
    this.#holdSweep ??= this.ports.timers.after(this.limits.holdMs / 10, () => this.#rejectOverdue());
  }

  #pen(): ShardWriter {
    if (this.#writer === undefined) throw new MillraceError('DEFECT', `${this.shard} has not been claimed`);
    return this.#writer;
  }

  #watch() {
    return { signal: this.#stop.signal, onUnknown: this.#appends.unanswered };
  }
}

/** SA7. */
function isTooLate(work: Work, nowMs: number): boolean {
  return work.deadlineMs < nowMs && work.isHalfway !== true;
}
