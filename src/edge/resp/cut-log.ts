/** Connections that were cut, in the log: of many for one reason the first, and how many followed in some seconds. */
import type { Clock, Log } from '../../ports/index.js';

const TOGETHER_MS = 10_000;

interface Cuts {
  readonly untilMs: number;
  /** How many followed the one that was logged. */
  others: number;
}

export class CutLog {
  readonly #cutsByReason = new Map<string, Cuts>();

  constructor(private readonly ports: { readonly clock: Clock; readonly log: Log }) {}

  note(reason: string, client: number): void {
    const cuts = this.#cutsByReason.get(reason);
    if (cuts !== undefined) {
      cuts.others += 1;
      return;
    }
    const { clock, log } = this.ports;
    log.info('resp.connection.cut', { reason, client });
    this.#cutsByReason.set(reason, { untilMs: clock.monotonicMs() + TOGETHER_MS, others: 0 });
  }

  /** Nobody was cut whose followers are still counted. */
  get isEmpty(): boolean {
    return this.#cutsByReason.size === 0;
  }

  /** Has to be called now and then, until it is empty: it tells how many have followed. */
  sweep(): void {
    if (this.isEmpty) return;
    const nowMs = this.ports.clock.monotonicMs();
    for (const [reason, { untilMs, others }] of this.#cutsByReason) {
      if (nowMs < untilMs) continue;
      this.#cutsByReason.delete(reason);
      if (others > 0) this.ports.log.info('resp.connections.cut', { reason, connections: others });
    }
  }
}
