/**
 * One answer that does not end by itself: server-sent events, the last answer of its connection.
 *
 *  ES1 the stream ends when its reader goes, when the server drains, and when its permission is gone
 *  ES2 a reader that does not keep up holds up whoever writes to it, and nobody else
 *  ES3 nothing is answered before `begin`: until then a call may still be refused
 */
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

  constructor(private readonly call: AdminCall) {
    const { signal } = call;
    if (signal.aborted) this.#stop.abort();
    else signal.addEventListener('abort', () => this.#ended(), { once: true });
    this.#guardLater();
  }

  /** Aborted when the stream is over. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  begin(): void {
    const { response } = this.call;
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

  /** @param json one line. Resolves when there is room for more, or the stream is over */
  async send(event: string, json: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#quietMs = 0;
    const { response } = this.call;
    if (response.write(`event: ${event}\ndata: ${json}\n\n`)) return;
    await this.#untilDrained();
  }

  /** Resolves after that time, or when the stream is over. */
  pause(ms: number): Promise<void> {
    return this.call.face.parts.timers.pause(ms, this.#stop.signal);
  }

  end(): void {
    this.#ended();
    const { response } = this.call;
    if (!response.headersSent) return;
    // Whoever has not read until now is not waited for: a stop of the server would wait too.
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }

  #untilDrained(): Promise<void> {
    const { response } = this.call;
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
    this.#guard = this.call.face.parts.timers.after(FEED_EVERY_MS, () => {
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
      return !this.call.face.isDraining && this.call.isStillGranted();
    } catch {
      // Nobody can say whether the permission is still there.
      return false;
    }
  }

  /** Keeps whoever is in between from closing a quiet stream. */
  #keepAlive(): void {
    const { response } = this.call;
    this.#quietMs += FEED_EVERY_MS;
    if (this.#quietMs < KEEPALIVE_EVERY_MS || !response.headersSent || response.writableNeedDrain) return;
    this.#quietMs = 0;
    response.write(': keepalive\n\n');
  }
}

/**
 * Opens a stream for a call, and ends it when its work is done or has failed.
 * @param work begins the stream when nothing can be refused any more
 * @throws Refused 503 when too many are open; what `work` throws before it begins the stream
 */
export async function openStream(call: AdminCall, work: (stream: EventStream) => Promise<void>): Promise<void> {
  const { face, grant, response } = call;
  const giveBack = face.streams.take(grant.account);
  const stream = new EventStream(call);
  try {
    await work(stream);
  } catch (failure) {
    if (!response.headersSent) throw failure;
    if (!isMillraceError(failure)) face.parts.log.error('admin.stream.failed', { error: describeError(failure) });
    const { text } = failure instanceof RefusedRequest ? failure.refusal : adminRefusalOf(failure);
    await stream.send('failed', JSON.stringify({ error: text }));
  } finally {
    giveBack();
    stream.end();
  }
}
