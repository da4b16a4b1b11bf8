/**
 * Loopback ports that nobody listens on, for servers that must come back where they were. They lie below
 * the range from which the operating system gives ports to whoever asks for any: one from that range could
 * be somebody else's before the server that it was found for has started.
 */
import { createServer } from 'node:net';

const LOWEST = 12_000;
const HIGHEST = 29_999;
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
