/**
 * What ends the parts of a process, the last one first.
 *
 *  LIF1 before anything ends it is said that it will: whoever sends requests here goes elsewhere meanwhile, and what comes
 *       all the same is answered
 */
import type { Check, Timers } from '../../ports/index.js';

interface EndTimes {
  readonly drainNoticeMs: number;
  readonly shutdownMs: number;
}

/** Of the time that an end may take, the part that its notice may have: what is under way and the hand-over come after it. */
const NOTICE_SHARE = 1 / 3;

export class Lifetime {
  readonly #ends: (() => unknown)[] = [];
  readonly #closings: (() => unknown)[] = [];
  readonly #notices: (() => unknown)[] = [];
  isEnding = false;
  #isAnnounced = false;

  /** What `start` begins; when that fails, whatever it had begun is ended again. */
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
   * Told when the end is announced, and closed at the end. Those to whose work there is a bound are closed together, before
   * anything that they stand on.
   */
  closeAtEnd(part: { leave?(): unknown; close(deadline?: AbortSignal): unknown }, withinMs?: number): void {
    this.#notices.push(() => part.leave?.());
    if (withinMs === undefined) this.atEnd(() => part.close());
    else this.#closings.push(() => part.close(AbortSignal.timeout(Math.floor(withinMs))));
  }

  /** For those who ask whether to send requests here. */
  checks(): Record<string, Check> {
    return this.#isAnnounced ? { stop: { ok: false, detail: 'the process is about to end' } } : {};
  }

  /** LIF1. */
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
