/**
 * Node's look for clients that are too slow with a request, while there are clients: each server has a timer of its own for
 * it, and those would wake up a process that nobody asks anything.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** As long as a timer may be. */
const NEVER_MS = 2 ** 31 - 1;

/** @param server one that does not listen yet */
export function lookForSlowClients(server: Server, everyMs: number): void {
  // With this Node begins to look when it listens, and would begin anew, by what the interval is then.
  const [begin] = server.listeners('listening');
  if (begin === undefined) return;
  const lookEvery = (ms: number) => Object.assign(server, { connectionsCheckingInterval: ms });
  let clients = 0;
  lookEvery(NEVER_MS);
  server.prependListener('connection', (socket: Socket) => {
    clients += 1;
    if (clients === 1) {
      lookEvery(everyMs);
      begin.call(server);
    }
    socket.once('close', () => {
      clients -= 1;
      // One that listens no more has ended its look, or will.
      if (clients > 0 || !server.listening) return;
      lookEvery(NEVER_MS);
      begin.call(server);
    });
  });
}
