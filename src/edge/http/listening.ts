/** How the server of a face begins to listen, and how it ends. */
import { type AddressInfo, Server } from 'node:net';
import type { Timers } from '../../ports/index.js';

/** Clients that are at work ask again within this. */
const SILENCE_MS = 250;
/** So long is silence waited for: many connections that are used seldom would never be silent. */
const MAX_SILENCE_WAIT_MS = 1_000;

export interface Listening {
  readonly port: number;
  readonly host: string;
  /** Connections that wait to be accepted. */
  readonly backlog: number;
  /** A connection could not be accepted later on: the machine has no room for it. */
  acceptFailed(error: Error): void;
}

/** @returns the address that is listened on, with the real port. @throws what `listen` reports: EADDRINUSE … */
export function listen(server: Server, { port, host, backlog, acceptFailed }: Listening): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject);
      // Without a listener it would be thrown.
      server.on('error', acceptFailed);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** How a server ends. */
export interface Closing {
  readonly timers: Timers;
  /** Ends all connections. */
  cut(): void;
  /** When it is aborted they are cut. */
  readonly deadline: AbortSignal | undefined;
}

/** Of a server that lets nobody in: resolves when every connection has ended. */
export interface Closed {
  readonly promise: Promise<void>;
}

/** Nobody is let in any more, and no connection is ended by this. */
export async function stopAccepting(server: Server, { timers, cut, deadline }: Closing): Promise<Closed> {
  // Whoever has connected by now is let in: left to the system, it would read a reset.
  await timers.breathe();
  const promise = new Promise<void>((resolve) => {
    // A server of Node's for HTTP would end idle connections, with requests on their way to them.
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
 * Clients that are at work ask again within moments, and each connection ends with its next answer: resolves when none of
 * them has asked for long enough that those that are left may be ended, or when there are none.
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
  // What has arrived by now is read.
  await timers.breathe();
}
