/**
 * What falls due by itself, over all accounts of a shard.
 *
 *  DW1 accounts take turns: each gets its share of what a turn and the process's room still allow
 *  DW2 a turn starts a bounded number of attempts, so that its entry stays small and none waits long for it
 *  DW3 whoever is held back by room is woken when there is some; whoever waits for time is looked at in time
 */
import type { AccountTerms } from '../../domain/queue/index.js';
import type { Clock } from '../../ports/index.js';
import type { Turn } from '../runtime/index.js';
import type { AccountQueue } from './account-queue.js';
import type { DeliveryPlaces } from './delivery-places.js';

export interface DueWorkPorts {
  readonly clock: Clock;
  readonly room: DeliveryPlaces;
}

export interface DueWorkLimits {
  /** Attempts started in one turn. */
  readonly startsPerTurn: number;
  /** What is done beside commands goes on only in a turn that has fewer effects, and fewer bytes of them. */
  readonly turnEffects: number;
  readonly turnEffectBytes: number;
  /** How long one drain may work, milliseconds. */
  readonly shareMs: number;
}

/** The next look is never further away: wall clocks jump, and timers have a longest time. */
const LONGEST_WAIT_MS = 10_000;

export class DueWork {
  #startsOfTurn = 0;
  /** Whose turn it is to start first. */
  #first = 0;

  constructor(
    private readonly ports: DueWorkPorts,
    private readonly limits: DueWorkLimits,
    /** Called when room has become free. */
    private readonly wake: () => void,
  ) {}

  /** An attempt was started in the open turn, by whatever. */
  noteStarted(): void {
    this.#startsOfTurn += 1;
  }

  /** The open turn is on its way. */
  noteSealed(): void {
    this.#startsOfTurn = 0;
  }

  hasRoomIn(turn: Turn): boolean {
    return turn.effects < this.limits.turnEffects && turn.effectBytes < this.limits.turnEffectBytes;
  }

  /** Rounds over the accounts, until none has more that may be done now. */
  start(turn: Turn, queues: Iterable<AccountQueue>): void {
    let due = [...queues].filter((queue) => queue.isDue(turn.nowMs) && queue.terms !== undefined);
    if (due.length === 0) return;
    const endMs = this.ports.clock.monotonicMs() + this.limits.shareMs;
    this.#first += 1;
    while (due.length > 0) {
      const again: AccountQueue[] = [];
      const share = Math.ceil((this.limits.startsPerTurn - this.#startsOfTurn) / due.length);
      for (let i = 0; i < due.length; i += 1) {
        const queue = due[(i + this.#first) % due.length] as AccountQueue;
        if (!this.hasRoomIn(turn) || this.ports.clock.monotonicMs() >= endMs) return;
        if (this.#startSome(queue, turn, share)) again.push(queue);
      }
      due = again;
    }
  }

  /** True when it has more to do, and may. */
  #startSome(queue: AccountQueue, turn: Turn, share: number): boolean {
    const { engine } = queue.fold;
    const { room, clock } = this.ports;
    const context = { nowMs: turn.nowMs, account: queue.terms as AccountTerms, boundsFor: queue.boundsFor };
    const free = room.roomFor(queue.account);
    const mayStart = Math.max(0, Math.min(share, free, this.limits.startsPerTurn - this.#startsOfTurn));
    const effectsBefore = turn.effects;
    const started = engine.work(context, mayStart, queue.record, free);
    if (!engine.isBehind) {
      queue.behindSinceMs = undefined;
      queue.dueAtMs = engine.nextDueAtMs(context);
      if (engine.waitsForRoom) room.whenFreed(this.#lookAgainAt(queue));
      return false;
    }
    queue.behindSinceMs ??= clock.monotonicMs();
    if (started < free) return started > 0 || turn.effects > effectsBefore;
    // What frees a place in this process wakes it, wherever that is.
    room.whenFreed(this.wake);
    return false;
  }

  /** The same function each time, as whoever waits for room is known by it. */
  #lookAgainAt(queue: AccountQueue): () => void {
    queue.lookAgain ??= () => {
      queue.dueAtMs = 0;
      this.wake();
    };
    return queue.lookAgain;
  }

  /** When something falls due, milliseconds from now; undefined: nothing does. */
  nextInMs(queues: Iterable<AccountQueue>, nowMs: number): number | undefined {
    // A turn that starts no more is about to be stored; after that there is another look.
    if (this.#startsOfTurn >= this.limits.startsPerTurn) return undefined;
    let nextMs: number | undefined;
    for (const queue of queues) {
      if (queue.dueAtMs === undefined || queue.terms === undefined || this.#isHeldBack(queue)) continue;
      nextMs = Math.min(nextMs ?? LONGEST_WAIT_MS, Math.max(0, queue.dueAtMs - nowMs));
    }
    return nextMs;
  }

  /** Is there nothing that time alone would change? A place that becomes free wakes it. */
  #isHeldBack(queue: AccountQueue): boolean {
    if (queue.isHeld) return true;
    return queue.fold.engine.isBehind && this.ports.room.roomFor(queue.account) === 0;
  }
}
