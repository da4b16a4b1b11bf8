/**
 * Signs of life of a server of our own, for all that follows it over one connection: a ping and its answer, where each
 * consumer would send heartbeats by itself and wake both processes up for every one of them.
 *
 *  PU1 an answer comes behind whatever the server had sent before, to each who listens
 *  PU2 as often as who wants it most often, and not at all while nobody listens; one ping at a time
 */
import type { Subscription, Timer } from '../../ports/index.js';
import { onTheBeat } from '../node/index.js';
import type { NatsLink } from './link.js';

interface Listener {
  readonly everyMs: number;
  readonly hear: () => void;
}

/** A server that stands still is asked anew after this; an answer that comes later is as good. */
const ANSWER_MS = 5000;

export class Pulse {
  readonly #listeners = new Set<Listener>();
  #timer: Timer | undefined;
  #isAsking = false;

  constructor(private readonly link: Pick<NatsLink, 'flush'>) {}

  /** Calls `hear` at least every `everyMs`, and what an answer takes, while the server answers. */
  listen(everyMs: number, hear: () => void): Subscription {
    const listener = { everyMs, hear };
    this.#listeners.add(listener);
    this.#wait();
    return {
      stop: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#timer?.cancel();
      },
    };
  }

  #wait(): void {
    this.#timer?.cancel();
    if (this.#listeners.size === 0) return;
    const everyMs = Math.min(...Array.from(this.#listeners, (listener) => listener.everyMs));
    this.#timer = onTheBeat(everyMs, () => {
      this.#wait();
      if (!this.#isAsking) void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      await this.link.flush(ANSWER_MS);
      for (const { hear } of [...this.#listeners]) hear();
    } catch {
      // Nobody hears anything, and that says it.
    } finally {
      this.#isAsking = false;
    }
  }
}
