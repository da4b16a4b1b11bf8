/**
 * A long answer of server-sent events, the last one of its connection.
 *
 *  ES1 the stream ends when its client disconnects, when the server drains, or when its permission is revoked
 *  ES2 a slow client holds up only the producer of its own stream
 *  ES3 no byte is sent before `begin`: until then a call may still be refused
 */
import type { ServerResponse } from 'node:http';
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import { adminRefusalOf } from '../error-map.js';
import { RefusedRequest } from '../http/refused.js';
import type { AdminCall } from './admin-call.js';
import { FEED_EVERY_MS, KEEPALIVE_EVERY_MS } from './admin-limits.js';

export class EventStream {
  readonly #stop = new AbortController();
  #guard: Timer | undefined;
  #quietMs = 0;

  constructor(
    private readonly call: AdminCall,
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

  /** @param json one line. Resolves when there is room for more, or the stream has ended */
  async send(event: string, json: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#quietMs = 0;
    const { response } = this;
    if (response.write(`event: ${event}\ndata: ${json}\n\n`)) return;
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
    this.#guard = this.call.endpoint.parts.timers.after(FEED_EVERY_MS, () => {
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
    this.#quietMs += FEED_EVERY_MS;
    if (this.#quietMs < KEEPALIVE_EVERY_MS || !response.headersSent || response.writableNeedDrain) return;
    this.#quietMs = 0;
    response.write(': keepalive\n\n');
  }
}

/**
 * Opens a stream for a call, and ends it after its work.
 * @param work calls `begin` when it can no longer be refused
 * @throws Refused 503 if too many are open; errors of `work` before `begin`
 */
export async function openStream(call: AdminCall, work: (stream: EventStream) => Promise<void>): Promise<void> {
  const { endpoint, grant } = call;
  const giveBack = endpoint.streams.take(grant.account);
  const response = call.takeOver();
  const stream = new EventStream(call, response);
  try {
    await work(stream);
  } catch (failure) {
    if (!response.headersSent) throw failure;
    if (!isMillraceError(failure)) endpoint.parts.log.error('admin.stream.failed', { error: describeError(failure) });
    const { text } = failure instanceof RefusedRequest ? failure.refusal : adminRefusalOf(failure);
    await stream.send('failed', JSON.stringify({ error: text }));
  } finally {
    giveBack();
    stream.end();
  }
}
