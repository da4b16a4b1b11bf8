/**
 * Free loopback ports, for servers that must restart on the same port. They lie below the range of ephemeral ports of
 * the operating system, because a port of that range could be given to another program before the server starts.
 *
 * Test processes run in parallel, and a port is free until its server has started and while that server is down. So
 * each process reserves blocks of ports: it listens on the first port of a block, and gives out only the others. The
 * operating system guarantees one listener per port and closes it with the process.
 */
import { createServer } from 'node:net';

const LOWEST = 12_000;
const BLOCKS = 180;
const BLOCK_PORTS = 100;
/** Ports of the reserved blocks that have not been given out. */
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

/**
 * Reserves a block by listening on its first port until the process ends. The listener does not keep the process
 * alive. @returns false if another process has the block
 */
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
