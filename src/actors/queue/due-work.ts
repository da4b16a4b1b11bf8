/**
 * Starts work that falls due by time, over all accounts of a shard.
 *
 *  DW1 accounts take turns: each gets its share of the places that a turn and the process still have
 *  DW2 a turn starts a bounded number of attempts, so that its entry stays small and does not delay others
 *  DW3 an account that waits for a place is woken when one is free; one that waits for a time is checked at that time
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
  /** Background work continues only in a turn with fewer effects and bytes than this. */
  readonly turnEffects: number;
  readonly turnEffectBytes: number;
  /** The time that one drain may work, in milliseconds. */
  readonly shareMs: number;
}

/** The longest time until the next check: wall clocks jump, and timers have a maximum. */
const LONGEST_WAIT_MS = 10_000;

export class DueWork {
  #startsOfTurn = 0;
  /** The account that starts first. */
  #first = 0;

  constructor(
    private readonly ports: DueWorkPorts,
    private readonly limits: DueWorkLimits,
    /** Called when a place has become free. */
    private readonly wake: () => void,
  ) {}

  /** An attempt was started in the open turn, by a command or by time. */
  noteStarted(): void {
    this.#startsOfTurn += 1;
  }

  /** The open turn is in flight. */
  noteSealed(): void {
    this.#startsOfTurn = 0;
  }

  hasRoomIn(turn: Turn): boolean {
    return turn.effects < this.limits.turnEffects && turn.effectBytes < this.limits.turnEffectBytes;
  }

  /** Goes over the accounts in rounds until none can do more now. */
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

  /** @returns true when the account has more to do and may do it */
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
    // A place that becomes free anywhere in this process wakes the account.
    room.whenFreed(this.wake);
    return false;
  }

  /** Returns the same function each time, because waiting for a place is registered by function. */
  #lookAgainAt(queue: AccountQueue): () => void {
    queue.lookAgain ??= () => {
      queue.dueAtMs = 0;
      this.wake();
    };
    return queue.lookAgain;
  }

  /** Milliseconds until the next work falls due; undefined: none will. */
  nextInMs(queues: Iterable<AccountQueue>, nowMs: number): number | undefined {
    // A turn that starts no more attempts is stored soon; the next check follows then.
    if (this.#startsOfTurn >= this.limits.startsPerTurn) return undefined;
    let nextMs: number | undefined;
    for (const queue of queues) {
      if (queue.dueAtMs === undefined || queue.terms === undefined || this.#isHeldBack(queue)) continue;
      nextMs = Math.min(nextMs ?? LONGEST_WAIT_MS, Math.max(1, queue.dueAtMs - nowMs));
    }
    return nextMs;
  }

  /** True when waiting changes nothing: the account is woken by a free place. */
  #isHeldBack(queue: AccountQueue): boolean {
    if (queue.isHeld) return true;
    return queue.fold.engine.isBehind && this.ports.room.roomFor(queue.account) === 0;
  }
}
