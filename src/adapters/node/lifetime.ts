/**
 * Ends the parts of a process, the last one first.
 *
 *  LIF1 before any part ends, the process reports that it is not ready, so that load balancers use other processes;
 *       requests that still arrive are answered
 */
import type { Check, Timers } from '../../ports/index.js';

interface EndTimes {
  readonly drainNoticeMs: number;
  readonly shutdownMs: number;
}

/** The part of the shutdown time for this notice; requests in progress and moves of shards come after it. */
const NOTICE_SHARE = 1 / 3;

export class Lifetime {
  readonly #ends: (() => unknown)[] = [];
  readonly #closings: (() => unknown)[] = [];
  readonly #notices: (() => unknown)[] = [];
  isEnding = false;
  #isAnnounced = false;

  /** Runs `start`; after a failure all parts that it started are ended. */
  static async begin<T>(start: (life: Lifetime) => Promise<T>): Promise<T> {
    const life = new Lifetime();
    try {
      return await start(life);
    } catch (error) {
      await life.end();
      throw error;
    }
  }

  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Starts a part, which is stopped at the end. */
  async run(part: { start(): unknown; stop(): unknown }): Promise<void> {
    await part.start();
    this.atEnd(() => part.stop());
  }

  /**
   * The part is told of the announced end, and closed at the end. Parts with a time bound are closed together, before
   * the parts that they use.
   */
  closeAtEnd(part: { leave?(): unknown; close(deadline?: AbortSignal): unknown }, withinMs?: number): void {
    this.#notices.push(() => part.leave?.());
    if (withinMs === undefined) this.atEnd(() => part.close());
    else this.#closings.push(() => part.close(AbortSignal.timeout(Math.floor(withinMs))));
  }

  /** The readiness check that fails after the announcement. */
  checks(): Record<string, Check> {
    return this.#isAnnounced ? { stop: { ok: false, detail: 'the process is about to end' } } : {};
  }

  /** Announces the end, waits, and ends all parts (LIF1). */
  async endAfter({ drainNoticeMs, shutdownMs }: EndTimes, timers: Pick<Timers, 'pause'>): Promise<void> {
    this.#isAnnounced = true;
    const noticeMs = Math.min(drainNoticeMs, Math.floor(shutdownMs * NOTICE_SHARE));
    if (noticeMs > 0) {
      for (const tell of this.#notices.splice(0)) await tell();
      await timers.pause(noticeMs);
    }
    await this.end();
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await Promise.all(this.#closings.splice(0).map((close) => close()));
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
