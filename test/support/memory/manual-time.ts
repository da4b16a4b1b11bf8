/**
 * A clock and timers that advance only when a test advances them.
 *
 *  MT1 timers run in order of their due time, and in the order of their creation at the same instant
 *  MT2 while a timer runs, the clock shows its due time: no timer runs early or sees a later time
 *  MT3 between two timers every promise that can settle has settled
 */
import { type Clock, type Timer, Timers } from '../../../src/ports/index.js';

/** 2026-01-01T00:00:00Z. A fixed instant makes runs repeatable. */
const DEFAULT_START_MS = 1_767_225_600_000;

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly action: () => void;
}

export class ManualTime extends Timers implements Clock {
  private wallMs: number;
  private elapsedMs = 0;
  private order = 0;
  private readonly pending = new Set<Pending>();

  constructor(startMs: number = DEFAULT_START_MS) {
    super();
    this.wallMs = startMs;
  }

  nowMs(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  override after(delayMs: number, action: () => void): Timer {
    const entry: Pending = { dueMs: this.elapsedMs + Math.max(0, delayMs), order: this.order++, action };
    this.pending.add(entry);
    return { cancel: () => void this.pending.delete(entry) };
  }

  /** Runs without an advance of the clock, after all settled promises have run their reactions. */
  override soon(action: () => void): void {
    setImmediate(action);
  }

  /** Advances the clock by `durationMs`; resolves when all due timers have run. */
  async advance(durationMs: number): Promise<void> {
    const untilMs = this.elapsedMs + durationMs;
    await settled();
    for (let next = this.nextDue(untilMs); next !== undefined; next = this.nextDue(untilMs)) {
      this.moveTo(Math.max(next.dueMs, this.elapsedMs));
      this.pending.delete(next);
      next.action();
      await settled();
    }
    this.moveTo(untilMs);
  }

  /** Changes only the wall clock, as an operator or a time server does; timers are not affected. */
  jumpWallClock(byMs: number): void {
    this.wallMs += byMs;
  }

  /** The number of pending timers; a test can check that none is left. */
  get pendingCount(): number {
    return this.pending.size;
  }

  private moveTo(elapsedMs: number): void {
    this.wallMs += elapsedMs - this.elapsedMs;
    this.elapsedMs = elapsedMs;
  }

  private nextDue(untilMs: number): Pending | undefined {
    let next: Pending | undefined;
    for (const entry of this.pending) {
      if (entry.dueMs > untilMs) continue;
      if (next === undefined || entry.dueMs < next.dueMs || (entry.dueMs === next.dueMs && entry.order < next.order)) {
        next = entry;
      }
    }
    return next;
  }
}

/** Resolves after every promise reaction and every `soon` that is ready now. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
