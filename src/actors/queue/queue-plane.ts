/**
 * A shard's accounts: judges commands, starts what is due, collects the events of a turn.
 *
 *  QP1 an answer leaves after every event that it was judged by is stored
 *  QP2 a call is made after its `AttemptStarted` is stored, by the activation that stored it, and its
 *      outcome counts in that activation alone
 *  QP3 what falls due is started fairly over the accounts, and in portions: no turn grows long by it
 *
 * Partitions stay in memory while their shard is owned here: messages fall due by themselves. One with
 * nothing to do costs a comparison a turn.
 */
import { encodeQueueEvent } from '../../codec/queue/index.js';
import {
  type AccountFacts,
  type EngineOptions,
  type QueueEvent,
  type QueueReply,
  type QueueSteps,
  rowOf,
} from '../../domain/queue/index.js';
import type { ChainHead } from '../../journal/index.js';
import { assert, type MessageId, MillraceError, type PartitionName } from '../../kernel/index.js';
import { entrySections, type ManifestPartition } from '../../messages/index.js';
import type { AccountBook, Clock, Log, StorageGauge, Timers } from '../../ports/index.js';
import { Breathing, type RecoveryStep, type SectionEffects, type ShardPlane, type Turn } from '../runtime/index.js';
import { AwaitedAccounts } from './awaited-accounts.js';
import type { DeliveryRoom } from './delivery-room.js';
import { DueWork, type DueWorkLimits } from './due-work.js';
import type { HeldMessages } from './held-messages.js';
import { QueueFold } from './queue-fold.js';
import { type PartitionBodies, QueueSlot, type StartedAttempt } from './queue-slot.js';
import type { QueueWork } from './queue-work.js';
import { withContents } from './reply-contents.js';

/** Makes the calls of one activation. */
export interface AttemptPerformer {
  perform(slot: QueueSlot, facts: AccountFacts, attempt: StartedAttempt): void;
  /** Aborts all calls at once; no outcome is reported from now on. */
  end(): void;
}

export interface QueuePlanePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly storage: StorageGauge;
  readonly accounts: AccountBook;
  readonly room: DeliveryRoom;
  readonly performer: AttemptPerformer;
  /** Left out: an account may hold what it likes. */
  readonly held?: Pick<HeldMessages, 'boundsOf' | 'noteRefused'> | undefined;
  readonly engine?: EngineOptions;
  createBodies(partition: PartitionName): PartitionBodies;
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: QueueFold): Promise<void>;
  /** False while the shard is being handed over: nothing new is begun. */
  mayStart(): boolean;
  /** Called when there is something to do though nothing came in. */
  onReady?(): void;
}

export interface QueuePlaneLimits extends DueWorkLimits {
  /** How long a command waits for its account to be heard of. */
  readonly holdMs: number;
}

export const DEFAULT_QUEUE_PLANE_LIMITS: QueuePlaneLimits = {
  startsPerTurn: 256,
  turnEffects: 4096,
  turnEffectBytes: 1024 * 1024,
  shareMs: 4,
  holdMs: 5000,
};

/** Between two looks for an account that has not been heard of. */
const FACTS_POLL_MS = 50;

const NO_WORKS: QueueWork[] = [];

export class QueuePlane implements ShardPlane<QueueWork> {
  readonly #due: DueWork;
  readonly #slotsByPartition = new Map<PartitionName, QueueSlot>();
  readonly #changed = new Set<QueueSlot>();
  #inFlight: QueueSlot[] = [];
  /** Commands that run in steps. */
  readonly #stepping: QueueWork[] = [];
  readonly #finished: QueueWork[] = [];
  readonly #awaited: AwaitedAccounts;
  /** The turn that is being filled, and the command that fills it; undefined: what is due by itself. */
  #turn: Turn | undefined;
  #current: QueueWork | undefined;
  readonly #breathing: Breathing;
  #isLeaving = false;

  constructor(
    private readonly ports: QueuePlanePorts,
    private readonly limits: QueuePlaneLimits = DEFAULT_QUEUE_PLANE_LIMITS,
  ) {
    this.#breathing = new Breathing(ports.clock, ports.timers);
    this.#awaited = new AwaitedAccounts(ports, limits.holdMs);
    this.#due = new DueWork(ports, limits, () => this.ports.onReady?.());
  }

  /** The shard is about to be handed over: no attempt is begun from now on. */
  startNoMore(): void {
    this.#isLeaving = true;
  }

  /** For metrics and tests: the accounts in memory. */
  slots(): IterableIterator<QueueSlot> {
    return this.#slotsByPartition.values();
  }

  /** Attempts started here and not concluded. */
  get attemptsInFlight(): number {
    let count = 0;
    for (const { inFlight } of this.slots()) count += inFlight;
    return count;
  }

  /** Messages, DLQ entries, groups, schedules and what else there is. */
  get size(): number {
    let size = 0;
    for (const { fold } of this.slots()) size += fold.size;
    return size;
  }

  /** For how long some account has had more due than could be started, milliseconds; 0: all is started. */
  get lagMs(): number {
    const nowMs = this.ports.clock.monotonicMs();
    let lagMs = 0;
    for (const { behindSinceMs } of this.slots()) lagMs = Math.max(lagMs, nowMs - (behindSinceMs ?? nowMs));
    return lagMs;
  }

  /** What accounts may do has changed: what was waiting for that is looked at. */
  accountsChanged(): void {
    for (const slot of this.slots()) slot.dueAtMs = 0;
    this.ports.onReady?.();
  }

  /** A verified snapshot covers the journal up to this position. */
  covered(position: number): void {
    for (const { bodies } of this.slots()) bodies.covered(position);
  }

  execute(work: QueueWork, turn: Turn): 'done' | 'parked' | 'refused' {
    const slot = this.#slotOf(work.partition);
    const facts = this.#awaited.factsOf(slot);
    if (facts === undefined) {
      this.#awaited.park(work, slot);
      return 'parked';
    }
    if (this.ports.storage.isFull() && rowOf(work.command).mayGrow?.(work.command)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: nothing new is taken'));
      return 'refused';
    }
    turn.commands += 1;
    if (work.command.type === 'GetPosition') {
      work.waitsForTurn = slot.turnToWaitFor(turn.number);
      return 'done';
    }
    if (work.command.type === 'RecordAttempt') this.#freePlaces(slot, 1);
    this.#turn = turn;
    this.#current = work;
    const context = { nowMs: turn.nowMs, account: facts, boundsFor: slot.boundsFor };
    const outcome = slot.fold.engine.execute(work.command, context, slot.record);
    this.#current = undefined;
    slot.dueAtMs = 0;
    if ('type' in outcome) {
      this.#answer(work, outcome, slot, turn);
      return 'done';
    }
    work.steps = outcome;
    this.#stepping.push(work);
    return 'parked';
  }

  #answer(work: QueueWork, reply: QueueReply, slot: QueueSlot, turn: Turn): void {
    if (reply.type === 'Rejected' && reply.reason === 'FULL') this.ports.held?.noteRefused(slot.account);
    work.reply = withContents(reply, slot.bodies);
    // Nobody listens before the answer leaves.
    if (work.reply instanceof Promise) work.reply.catch(() => undefined);
    work.waitsForTurn = slot.turnToWaitFor(turn.number);
  }

  tick(turn: Turn): void {
    this.#turn = turn;
    if (this.#awaited.look()) this.ports.onReady?.();
    this.#advanceSteps(turn);
    if (this.#isLeaving || !this.ports.mayStart()) return;
    for (const slot of this.slots()) if (slot.isDue(turn.nowMs)) this.#awaited.factsOf(slot);
    this.#due.start(turn, this.slots());
  }

  /** Each step of each command in turn; other commands run between drains. */
  #advanceSteps(turn: Turn): void {
    const endMs = this.ports.clock.monotonicMs() + this.limits.shareMs;
    while (this.#stepping.length > 0 && this.#due.hasRoomIn(turn) && this.ports.clock.monotonicMs() < endMs) {
      const work = this.#stepping.shift() as QueueWork;
      const slot = this.#slotOf(work.partition);
      this.#current = work;
      const step = (work.steps as QueueSteps).next();
      this.#current = undefined;
      slot.dueAtMs = 0;
      if (step.done !== true) {
        this.#stepping.push(work);
        continue;
      }
      this.#answer(work, step.value, slot, turn);
      this.#finished.push(work);
    }
  }

  nextTickInMs(nowMs: number): number | undefined {
    if (this.#stepping.length > 0) return 0;
    const dueInMs = this.#isLeaving ? undefined : this.#due.nextInMs(this.slots(), nowMs);
    if (this.#awaited.isEmpty) return dueInMs;
    return Math.min(FACTS_POLL_MS, dueInMs ?? FACTS_POLL_MS);
  }

  seal(): SectionEffects[] {
    this.#due.noteSealed();
    this.#inFlight = [...this.#changed];
    this.#changed.clear();
    return this.#inFlight.map((slot) => ({ partition: slot.name, effects: slot.seal() }));
  }

  committed(head: ChainHead): void {
    const slots = this.#inFlight;
    this.#inFlight = [];
    for (const slot of slots) {
      const attempts = slot.commit(head.position);
      for (const attempt of attempts) this.ports.performer.perform(slot, slot.facts as AccountFacts, attempt);
    }
    // What is due may have waited for the entry with what was started before.
    if (slots.length > 0) this.ports.onReady?.();
  }

  takeParked(): QueueWork[] {
    return this.#awaited.take();
  }

  takeFinished(): QueueWork[] {
    return this.#finished.length === 0 ? NO_WORKS : this.#finished.splice(0);
  }

  /** QP2: the actor is over, and so is everything that was begun in its name. */
  abandon(): QueueWork[] {
    this.ports.performer.end();
    const works = [...this.#awaited.take(), ...this.#stepping.splice(0), ...this.#finished.splice(0)];
    for (const slot of this.slots()) {
      works.push(...slot.parked.splice(0));
      this.#freePlaces(slot, slot.inFlight);
      slot.bodies.close();
    }
    return works;
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    let nowMs = this.ports.clock.nowMs();
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        for (const partition of step.manifest?.partitions ?? []) {
          await this.ports.loadPartition(partition, this.#slotOf(partition.name).fold);
        }
        continue;
      }
      const { entry, position } = step.read;
      nowMs = Math.max(nowMs, entry.clockMs);
      await this.#replay(entrySections(entry), position);
    }
    for (const slot of this.slots()) {
      for (const _ of slot.fold.engine.prepare(nowMs)) if (this.#breathing.isDue) await this.#breathing.take();
    }
  }

  async #replay(sections: readonly SectionEffects[], position: number): Promise<void> {
    for (const { partition, effects } of sections) {
      const slot = this.#slotOf(partition);
      for (const _ of slot.fold.applyInSlices(effects)) if (this.#breathing.isDue) await this.#breathing.take();
      slot.bodies.replayedAt(position);
    }
    if (this.#breathing.isDue) await this.#breathing.take();
  }

  #slotOf(partition: PartitionName): QueueSlot {
    const known = this.#slotsByPartition.get(partition);
    if (known !== undefined) return known;
    const bodies = this.ports.createBodies(partition);
    const slot: QueueSlot = new QueueSlot(partition, new QueueFold(bodies, this.ports.engine), bodies, (event) =>
      this.#record(slot, event),
    );
    slot.boundsFor = this.ports.held?.boundsOf(slot);
    this.#slotsByPartition.set(partition, slot);
    return slot;
  }

  #record(slot: QueueSlot, event: QueueEvent): void {
    const turn = this.#turn as Turn;
    const bytes = encodeQueueEvent(event);
    slot.add(bytes);
    turn.effects += 1;
    turn.effectBytes += bytes.length;
    this.#changed.add(slot);
    if (this.#current !== undefined) this.#current.hasWritten = true;
    if (event.type === 'AttemptStarted') this.#noteStarted(slot, event.id);
    else if (event.type === 'DailyLimitReached') this.#noteDailyLimit(slot, event.limit);
  }

  #noteDailyLimit({ account }: QueueSlot, limit: number): void {
    this.ports.log.warn('account.daily-limit-reached', { account, limit });
  }

  #noteStarted(slot: QueueSlot, id: MessageId): void {
    const attempt = slot.fold.engine.attemptOf(id);
    assert(attempt !== undefined, 'an attempt was started that is not open', { id });
    slot.addStarted(attempt);
    slot.inFlight += 1;
    this.ports.room.take(slot.account, 1);
    this.#due.noteStarted();
  }

  /** The attempt is over here, whatever became of it. */
  #freePlaces(slot: QueueSlot, count: number): void {
    slot.inFlight -= count;
    this.ports.room.release(slot.account, count);
  }
}
