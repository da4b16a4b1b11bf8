/**
 * The accounts of a shard: judges commands, starts due work, and collects the events of a turn.
 *
 *  QP1 an answer is sent after every event that it was judged by is stored
 *  QP2 a call is made after its `AttemptStarted` is stored, by the activation that stored it, and its outcome counts
 *      in that activation alone
 *  QP3 due work is started fairly over the accounts and in portions, so that no turn becomes long
 *
 * Partitions stay in memory while the shard is owned here, because messages fall due by time. An idle one costs a
 * comparison per turn.
 */
import { encodeQueueEvent } from '../../codec/queue/index.js';
import {
  type AccountTerms,
  type EngineOptions,
  type QueueEvent,
  type QueueReply,
  type QueueSteps,
  rowOf,
} from '../../domain/queue/index.js';
import type { ChainHead } from '../../journal/index.js';
import { assert, type MessageId, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { AccountBook, Clock, Log, Metrics, StorageGauge, Timers } from '../../ports/index.js';
import { entrySections, type ManifestPartition } from '../../protocol/index.js';
import {
  type RecoveryStep,
  type SectionEffects,
  type ShardPlane,
  type ShouldStop,
  type Turn,
  YieldBudget,
} from '../runtime/index.js';
import { AccountQueue, type PartitionBodies, type StartedAttempt } from './account-queue.js';
import { AwaitedAccounts } from './awaited-accounts.js';
import type { DeliveryPlaces } from './delivery-places.js';
import { DueWork, type DueWorkLimits } from './due-work.js';
import type { HeldMessages } from './held-messages.js';
import { QueuePartitionFold } from './queue-fold.js';
import type { QueueWork } from './queue-work.js';
import { withContents } from './reply-contents.js';

/** Makes the calls of one activation. */
export interface AttemptPerformer {
  perform(queue: AccountQueue, terms: AccountTerms, attempt: StartedAttempt): void;
  /** Aborts all calls; no outcome is reported from now on. */
  end(): void;
}

export interface QueuePlanePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly storage: StorageGauge;
  /** Undefined: events are not counted. */
  readonly metrics?: Metrics | undefined;
  readonly accounts: AccountBook;
  readonly room: DeliveryPlaces;
  readonly performer: AttemptPerformer;
  /** Undefined: accounts are not bounded. */
  readonly held?: Pick<HeldMessages, 'boundsOf' | 'noteRefused'> | undefined;
  readonly engine?: EngineOptions;
  createBodies(partition: PartitionName): PartitionBodies;
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: QueuePartitionFold): Promise<void>;
  /** False while the shard is moving: no new work is begun. */
  mayStart(): boolean;
  /** Called when there is work without a new command. */
  onReady?(): void;
}

export interface QueuePlaneLimits extends DueWorkLimits {
  /** How long a command waits for its account to become known. */
  readonly holdMs: number;
}

export const DEFAULT_QUEUE_PLANE_LIMITS: QueuePlaneLimits = {
  startsPerTurn: 256,
  turnEffects: 4096,
  turnEffectBytes: 1024 * 1024,
  shareMs: 4,
  holdMs: 5000,
};

/** Time between two checks for an unknown account. */
const FACTS_POLL_MS = 50;

const NO_WORKS: QueueWork[] = [];

export class QueuePlane implements ShardPlane<QueueWork> {
  readonly #due: DueWork;
  readonly #queuesByPartition = new Map<PartitionName, AccountQueue>();
  readonly #changed = new Set<AccountQueue>();
  #inFlight: AccountQueue[] = [];
  /** Commands that run in steps. */
  readonly #stepping: QueueWork[] = [];
  readonly #finished: QueueWork[] = [];
  readonly #awaited: AwaitedAccounts;
  /** The open turn, and the command that is executed; undefined: due work. */
  #turn: Turn | undefined;
  #current: QueueWork | undefined;
  readonly #yieldBudget: YieldBudget;
  #isLeaving = false;

  constructor(
    private readonly ports: QueuePlanePorts,
    private readonly limits: QueuePlaneLimits = DEFAULT_QUEUE_PLANE_LIMITS,
  ) {
    this.#yieldBudget = new YieldBudget(ports.clock, ports.timers);
    this.#awaited = new AwaitedAccounts(ports, limits.holdMs);
    this.#due = new DueWork(ports, limits, () => this.ports.onReady?.());
  }

  /** A move is about to happen: no attempt is begun from now on. */
  startNoMore(): void {
    this.#isLeaving = true;
  }

  /** The accounts in memory, for metrics and tests. */
  queues(): IterableIterator<AccountQueue> {
    return this.#queuesByPartition.values();
  }

  /** Attempts started here and not concluded. */
  get attemptsInFlight(): number {
    let count = 0;
    for (const { inFlight } of this.queues()) count += inFlight;
    return count;
  }

  /** The number of stored objects: messages, DLQ entries, groups, schedules and so on. */
  get size(): number {
    let size = 0;
    for (const { fold } of this.queues()) size += fold.size;
    return size;
  }

  /**
   * The longest time, in milliseconds, for which an account has had more due than could be started; 0: all is started.
   */
  get lagMs(): number {
    const nowMs = this.ports.clock.monotonicMs();
    let lagMs = 0;
    for (const { behindSinceMs } of this.queues()) lagMs = Math.max(lagMs, nowMs - (behindSinceMs ?? nowMs));
    return lagMs;
  }

  /** Terms of accounts have changed: work that waited for them is checked. */
  accountsChanged(): void {
    for (const queue of this.queues()) queue.dueAtMs = 0;
    this.ports.onReady?.();
  }

  /** A verified snapshot covers the journal up to this position. */
  covered(position: number): void {
    for (const { bodies } of this.queues()) bodies.covered(position);
  }

  execute(work: QueueWork, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused' {
    const queue = this.#queueOf(work.partition);
    if (work.isHalfway) return this.#goOn(work, queue, turn, shouldStop);
    const terms = this.#awaited.termsOf(queue);
    if (terms === undefined) {
      this.#awaited.park(work, queue);
      return 'parked';
    }
    if (this.ports.storage.isFull() && rowOf(work.command).mayGrow?.(work.command)) {
      work.reject(new MillraceError('STORAGE_FULL', 'the disk is nearly full: no new messages are accepted'));
      return 'refused';
    }
    turn.commands += 1;
    if (work.command.type === 'GetPosition') {
      work.waitsForTurn = queue.turnToWaitFor(turn.number);
      return 'done';
    }
    if (work.command.type === 'RecordAttempt') this.#freePlaces(queue, 1);
    this.#turn = turn;
    this.#current = work;
    const context = { nowMs: turn.nowMs, account: terms, boundsFor: queue.boundsFor };
    const outcome = queue.fold.engine.execute(work.command, context, queue.record);
    this.#current = undefined;
    queue.dueAtMs = 0;
    if ('type' in outcome) {
      this.#answer(work, outcome, queue, turn);
      return 'done';
    }
    work.steps = outcome;
    if (outcome.isWhole === true) {
      work.isHalfway = true;
      queue.hold();
      return 'more';
    }
    this.#stepping.push(work);
    return 'parked';
  }

  /** Executes steps of a command; the account does no other work before the last one (QA3). */
  #goOn(work: QueueWork, queue: AccountQueue, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' {
    this.#turn = turn;
    this.#current = work;
    const steps = work.steps as QueueSteps;
    let step = steps.next();
    while (step.done !== true && !shouldStop(true)) step = steps.next();
    this.#current = undefined;
    if (step.done !== true) return 'more';
    work.isHalfway = false;
    for (const bytes of queue.letGo()) this.#note(queue, turn, bytes);
    queue.dueAtMs = 0;
    this.#answer(work, step.value, queue, turn);
    return 'done';
  }

  #answer(work: QueueWork, reply: QueueReply, queue: AccountQueue, turn: Turn): void {
    if (reply.type === 'Rejected' && reply.reason === 'FULL') this.ports.held?.noteRefused(queue.account);
    work.reply = withContents(reply, queue.bodies);
    // The promise has no listener before the answer is sent.
    if (work.reply instanceof Promise) work.reply.catch(() => undefined);
    work.waitsForTurn = queue.turnToWaitFor(turn.number);
  }

  tick(turn: Turn): void {
    this.#turn = turn;
    if (this.#awaited.look()) this.ports.onReady?.();
    this.#advanceSteps(turn);
    if (this.#isLeaving || !this.ports.mayStart()) return;
    for (const queue of this.queues()) if (queue.isDue(turn.nowMs)) this.#awaited.termsOf(queue);
    this.#due.start(turn, this.queues());
  }

  /** One step of each command in turn; other commands run between drains. */
  #advanceSteps(turn: Turn): void {
    const endMs = this.ports.clock.monotonicMs() + this.limits.shareMs;
    while (this.#stepping.length > 0 && this.#due.hasRoomIn(turn) && this.ports.clock.monotonicMs() < endMs) {
      const at = this.#stepping.findIndex(({ partition }) => !this.#queueOf(partition).isHeld);
      if (at === -1) return;
      const [work] = this.#stepping.splice(at, 1) as [QueueWork];
      const queue = this.#queueOf(work.partition);
      this.#current = work;
      const step = (work.steps as QueueSteps).next();
      this.#current = undefined;
      queue.dueAtMs = 0;
      if (step.done !== true) {
        this.#stepping.push(work);
        continue;
      }
      this.#answer(work, step.value, queue, turn);
      this.#finished.push(work);
    }
  }

  nextTickInMs(nowMs: number): number | undefined {
    if (this.#stepping.length > 0) return 0;
    const dueInMs = this.#isLeaving ? undefined : this.#due.nextInMs(this.queues(), nowMs);
    if (this.#awaited.isEmpty) return dueInMs;
    return Math.min(FACTS_POLL_MS, dueInMs ?? FACTS_POLL_MS);
  }

  seal(): SectionEffects[] {
    this.#due.noteSealed();
    this.#inFlight = [...this.#changed];
    this.#changed.clear();
    return this.#inFlight.map((queue) => ({ partition: queue.name, pieces: queue.seal() }));
  }

  committed(head: ChainHead): void {
    const queues = this.#inFlight;
    this.#inFlight = [];
    for (const queue of queues) {
      const attempts = queue.commit(head.position);
      for (const attempt of attempts) this.ports.performer.perform(queue, queue.terms as AccountTerms, attempt);
    }
    // Due work may have waited for the entry with earlier starts.
    if (queues.length > 0) this.ports.onReady?.();
  }

  takeParked(): QueueWork[] {
    return this.#awaited.take();
  }

  takeFinished(): QueueWork[] {
    return this.#finished.length === 0 ? NO_WORKS : this.#finished.splice(0);
  }

  /** The actor has ended, and with it all work that it began (QP2: an outcome counts in one activation alone). */
  abandon(): QueueWork[] {
    this.ports.performer.end();
    const works = [...this.#awaited.take(), ...this.#stepping.splice(0), ...this.#finished.splice(0)];
    for (const queue of this.queues()) {
      works.push(...queue.parked.splice(0));
      this.#freePlaces(queue, queue.inFlight);
      queue.bodies.close();
    }
    return works;
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    let nowMs = this.ports.clock.nowMs();
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        for (const partition of step.manifest?.partitions ?? []) {
          await this.ports.loadPartition(partition, this.#queueOf(partition.name).fold);
        }
        continue;
      }
      for (const { entry, position } of step.reads) {
        nowMs = Math.max(nowMs, entry.clockMs);
        await this.#replay(entrySections(entry), position);
      }
    }
    for (const queue of this.queues()) {
      for (const _ of queue.fold.engine.prepare(nowMs)) if (this.#yieldBudget.isSpent) await this.#yieldBudget.yield();
    }
  }

  async #replay(sections: ReturnType<typeof entrySections>, position: number): Promise<void> {
    for (const { partition, effects } of sections) {
      const queue = this.#queueOf(partition);
      for (const _ of queue.fold.applyInSlices(effects)) if (this.#yieldBudget.isSpent) await this.#yieldBudget.yield();
      queue.bodies.replayedAt(position);
    }
    if (this.#yieldBudget.isSpent) await this.#yieldBudget.yield();
  }

  #queueOf(partition: PartitionName): AccountQueue {
    const known = this.#queuesByPartition.get(partition);
    if (known !== undefined) return known;
    const bodies = this.ports.createBodies(partition);
    const queue: AccountQueue = new AccountQueue(
      partition,
      new QueuePartitionFold(bodies, this.ports.engine),
      bodies,
      (event) => this.#record(queue, event),
    );
    queue.boundsFor = this.ports.held?.boundsOf(queue);
    this.#queuesByPartition.set(partition, queue);
    return queue;
  }

  #record(queue: AccountQueue, event: QueueEvent): void {
    const turn = this.#turn as Turn;
    const bytes = encodeQueueEvent(event);
    queue.add(bytes);
    this.ports.metrics?.counter('millrace_queue_events_total', event.type).add();
    if (!queue.isHeld) this.#note(queue, turn, bytes);
    if (this.#current !== undefined) this.#current.hasWritten = true;
    if (event.type === 'AttemptStarted') this.#noteStarted(queue, event.id);
    else if (event.type === 'DailyLimitReached') this.#noteDailyLimit(queue, event.limit);
  }

  /** Counts effects of the open turn. */
  #note(queue: AccountQueue, turn: Turn, { length }: Uint8Array): void {
    turn.effects += 1;
    turn.effectBytes += length;
    this.#changed.add(queue);
  }

  #noteDailyLimit({ account }: AccountQueue, limit: number): void {
    this.ports.log.warn('account.daily-limit-reached', { account, limit });
  }

  #noteStarted(queue: AccountQueue, id: MessageId): void {
    const attempt = queue.fold.engine.attemptOf(id);
    assert(attempt !== undefined, 'an attempt was started that is not open', { id });
    queue.addStarted(attempt);
    queue.inFlight += 1;
    this.ports.room.take(queue.account, 1);
    this.#due.noteStarted();
  }

  /** The attempt is over in this process, with any outcome. */
  #freePlaces(queue: AccountQueue, count: number): void {
    queue.inFlight -= count;
    this.ports.room.release(queue.account, count);
  }
}
