/** How the server of a face begins to listen, and how it ends. */
import type { AddressInfo, Server } from 'node:net';

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

/** Resolves when every connection has ended: by itself, or because `deadline` was aborted and `cut` has ended it. */
export function close(server: Server, cut: () => void, deadline: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      deadline?.removeEventListener('abort', cut);
      resolve();
    });
    if (deadline?.aborted) cut();
    else deadline?.addEventListener('abort', cut, { once: true });
  });
}
