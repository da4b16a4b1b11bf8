/** Log of connections that were cut: the first one for a reason, then their number over some seconds. */
import type { Clock, Log } from '../../ports/index.js';

const TOGETHER_MS = 10_000;

interface Cuts {
  readonly untilMs: number;
  /** Number after the logged one. */
  others: number;
}

export class CutLog {
  readonly #cutsByReason = new Map<string, Cuts>();
  readonly #totals = new Map<string, number>();

  constructor(private readonly ports: { readonly clock: Clock; readonly log: Log }) {}

  /** Connections cut for the reason since the process started. */
  totalOf(reason: string): number {
    return this.#totals.get(reason) ?? 0;
  }

  /** Logs a connection on which HTTP was sent, probably by a web page without its user's knowledge. */
  noteHttp(client: number, address: string): void {
    this.note('http', client, () =>
      this.ports.log.warn('resp.security.http', {
        client,
        address,
        warning:
          'POST or Host: was sent to the port of the native protocol: a web page, a proxy or a scanner may be trying to run commands; the connection was closed',
      }),
    );
  }

  note(reason: string, client: number, tell?: () => void): void {
    this.#totals.set(reason, this.totalOf(reason) + 1);
    const cuts = this.#cutsByReason.get(reason);
    if (cuts !== undefined) {
      cuts.others += 1;
      return;
    }
    const { clock, log } = this.ports;
    if (tell !== undefined) tell();
    else log.info('resp.connection.cut', { reason, client });
    this.#cutsByReason.set(reason, { untilMs: clock.monotonicMs() + TOGETHER_MS, others: 0 });
  }

  /** No count is pending. */
  get isEmpty(): boolean {
    return this.#cutsByReason.size === 0;
  }

  /** Logs pending counts; has to be called regularly until `isEmpty`. */
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
