/**
 * Loopback ports that nobody listens on, for servers that must come back where they were. They lie below
 * the range from which the operating system gives ports to whoever asks for any: one from that range could
 * be somebody else's before the server that it was found for has started.
 *
 * Test processes run side by side, and a port is free until its server has started, and again while that is down. So each
 * process takes blocks of ports, and nobody else gives out what is in them: a block belongs to whoever listens on its
 * first port, which the system sees to, and which ends with the process.
 */
import { createServer } from 'node:net';

const LOWEST = 12_000;
const BLOCKS = 180;
const BLOCK_PORTS = 100;
/** Of our blocks, and not given yet. */
const left: number[] = [];
let taking: Promise<void> | undefined;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = left.pop();
    if (port === undefined) {
      taking ??= takeBlock();
      await taking;
    } else if (await isFree(port)) return port;
  }
}

async function takeBlock(): Promise<void> {
  for (;;) {
    const first = LOWEST + BLOCK_PORTS * Math.floor(Math.random() * BLOCKS);
    if (!(await isTaken(first))) continue;
    for (let port = first + 1; port < first + BLOCK_PORTS; port += 1) left.push(port);
    taking = undefined;
    return;
  }
}

/** Listens for as long as this process lives, and does not keep it alive. */
function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const holder = createServer((socket) => socket.destroy()).unref();
    holder.once('error', () => resolve(false));
    holder.listen(port, '127.0.0.1', () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
