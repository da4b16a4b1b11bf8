/**
 * A liveness check of this process's own NATS server, shared by all consumers of one connection: one ping and its answer
 * replace the heartbeats of each consumer, which would wake both processes once per consumer.
 *
 *  PU1 an answer arrives after all messages that the server sent before it, at every consumer
 *  PU2 the interval is the shortest of all consumers; without consumers there is no ping; one ping at a time
 */
import type { Subscription, Timer } from '../../ports/index.js';
import { coalescedTimer } from '../node/index.js';
import type { NatsLink } from './link.js';

interface Listener {
  readonly everyMs: number;
  readonly hear: () => void;
}

/** A silent server gets another ping after this time; a late answer to an earlier one counts as well. */
const ANSWER_MS = 5000;

export class ServerPing {
  readonly #listeners = new Set<Listener>();
  #timer: Timer | undefined;
  #isAsking = false;

  constructor(private readonly link: Pick<NatsLink, 'flush'>) {}

  /** While the server answers, calls `hear` at least once in `everyMs` and the time of an answer. */
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
    this.#timer = coalescedTimer(everyMs, () => {
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
      // Without a call of `hear`, the consumers notice the silence.
    } finally {
      this.#isAsking = false;
    }
  }
}
