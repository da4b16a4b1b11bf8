/**
 * A long answer of server-sent events, the last one of its connection.
 *
 *  ES1 the stream ends when its client disconnects, when the server drains, or when its permission is revoked
 *  ES2 a slow client holds up only the producer of its own stream
 *  ES3 no byte is sent before `begin`: until then a call may still be refused
 */
import type { ServerResponse } from 'node:http';
import type { Timer, Timers } from '../../ports/index.js';

/** Interval of checks of the stream's permission. */
const CHECK_EVERY_MS = 1_000;
/** Silence after which a stream sends a keepalive. */
const KEEPALIVE_EVERY_MS = 15_000;

/** The call that a stream answers. */
export interface StreamedCall {
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  readonly endpoint: { readonly isDraining: boolean; readonly parts: { readonly timers: Timers } };
  /** Whether the credentials are still valid. @throws CONTROL_STALE */
  isStillGranted(): boolean;
}

export class EventStream {
  readonly #stop = new AbortController();
  #guard: Timer | undefined;
  #quietMs = 0;

  constructor(
    private readonly call: StreamedCall,
    private readonly response: ServerResponse,
  ) {
    const { signal } = call;
    if (signal.aborted) this.#stop.abort();
    else signal.addEventListener('abort', () => this.#ended(), { once: true });
    this.#guardLater();
  }

  /** Aborted when the stream has ended. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  begin(): void {
    const { response } = this;
    if (response.destroyed) return;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Accel-Buffering': 'no',
      Connection: 'close',
    });
    response.flushHeaders();
  }

  /**
   * Resolves when there is room for more, or the stream has ended.
   * @param json one line
   * @param id sent back by a client that connects again
   */
  async send(event: string, json: string, id?: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#quietMs = 0;
    const { response } = this;
    if (response.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`)) return;
    await this.#untilDrained();
  }

  /** Resolves after that time, or when the stream has ended. */
  pause(ms: number): Promise<void> {
    return this.call.endpoint.parts.timers.pause(ms, this.#stop.signal);
  }

  end(): void {
    this.#ended();
    const { response } = this;
    if (!response.headersSent) return;
    // A slow client is cut off: waiting for it would delay the server's stop.
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }

  #untilDrained(): Promise<void> {
    const { response } = this;
    const { signal } = this.#stop;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      response.once('drain', done);
      signal.addEventListener('abort', done);
    });
  }

  #ended(): void {
    this.#guard?.cancel();
    this.#stop.abort();
  }

  #guardLater(): void {
    if (this.#stop.signal.aborted) return;
    this.#guard = this.call.endpoint.parts.timers.after(CHECK_EVERY_MS, () => {
      if (!this.#mayGoOn()) {
        this.#ended();
        return;
      }
      this.#keepAlive();
      this.#guardLater();
    });
  }

  #mayGoOn(): boolean {
    try {
      return !this.call.endpoint.isDraining && this.call.isStillGranted();
    } catch {
      // The grants are not current, so the permission is unknown.
      return false;
    }
  }

  /** Keeps proxies from closing a quiet stream. */
  #keepAlive(): void {
    const { response } = this;
    this.#quietMs += CHECK_EVERY_MS;
    if (this.#quietMs < KEEPALIVE_EVERY_MS || !response.headersSent || response.writableNeedDrain) return;
    this.#quietMs = 0;
    response.write(': keepalive\n\n');
  }
}
