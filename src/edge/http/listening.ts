/** Start and end of an endpoint's server. */
import { type AddressInfo, Server } from 'node:net';
import type { Timers } from '../../ports/index.js';

/** An active client sends its next request within this time. */
const SILENCE_MS = 250;
/** The longest wait for silence: many seldom-used connections together are never silent. */
const MAX_SILENCE_WAIT_MS = 1_000;

export interface Listening {
  readonly port: number;
  readonly host: string;
  /** Connections that wait to be accepted. */
  readonly backlog: number;
  /** A later connection could not be accepted: the system has no resources for it. */
  acceptFailed(error: Error): void;
}

/** @returns the address in use, with the actual port. @throws the error of `listen`, such as EADDRINUSE */
export function listen(server: Server, { port, host, backlog, acceptFailed }: Listening): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject);
      // Without a listener the error would be thrown.
      server.on('error', acceptFailed);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** How to end a server. */
export interface Closing {
  readonly timers: Timers;
  /** Ends all connections. */
  cut(): void;
  /** All connections end when it is aborted. */
  readonly deadline: AbortSignal | undefined;
}

/** A server that accepts no connections; the promise resolves when every connection has ended. */
export interface Closed {
  readonly promise: Promise<void>;
}

/** Stops accepting connections without ending the open ones. */
export async function stopAccepting(server: Server, { timers, cut, deadline }: Closing): Promise<Closed> {
  // Accepts the clients that have already connected: the system would reset them.
  await timers.yieldToEventLoop();
  const promise = new Promise<void>((resolve) => {
    // The close of Node's HTTP server would also end idle connections that may have a request on its way.
    Server.prototype.close.call(server, () => {
      deadline?.removeEventListener('abort', cut);
      resolve();
    });
  });
  if (deadline?.aborted) cut();
  else deadline?.addEventListener('abort', cut, { once: true });
  return { promise };
}

/**
 * Resolves when no request has arrived for `SILENCE_MS`, when the longest wait is over, or when no connection is
 * left. An active client sends its next request within moments, and each connection ends with its next answer; the
 * connections that are left are idle and may be ended.
 */
export async function untilSilent(
  silentForMs: () => number,
  { timers, closed }: { readonly timers: Timers; readonly closed: Closed },
): Promise<void> {
  const isOver = closed.promise.then(() => true);
  for (let waitedMs = 0; waitedMs < MAX_SILENCE_WAIT_MS; ) {
    const leftMs = SILENCE_MS - silentForMs();
    if (leftMs <= 0) break;
    if ((await Promise.race([isOver, timers.pause(leftMs)])) === true) return;
    waitedMs += leftMs;
  }
  // Reads the requests that have arrived.
  await timers.yieldToEventLoop();
}
