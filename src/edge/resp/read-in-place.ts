/**
 * Sockets that read into one buffer of the process, instead of a new one for each read (docs/adr/0053).
 *
 *  RIP1 what was read is there until the listener returns: whatever is to stay is copied by then
 *  RIP2 to its server the socket is the one that was accepted: it is counted, and waited for
 *
 * Node.js reads in place for sockets that were made so, and a server makes its own otherwise. So the accepted one, which
 * has not begun to read, hands its connection to another; a socket that keeps its connection elsewhere (TLS) stays.
 */
import { Socket, type SocketConstructorOpts } from 'node:net';

/** As much as Node.js reads at a time. */
const READ_BYTES = 64 * 1024;
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** What Node.js keeps in a socket that a server has accepted. */
interface Accepted {
  _handle: object | null;
  _server: object | null;
}

/** @param accepted is paused, and was never read. @returns the socket to use from now on */
export function readInPlace(accepted: Socket, onBytes: (bytes: Buffer) => void): Socket {
  const from = accepted as unknown as Accepted;
  const handle = from._handle;
  if (handle === null) return accepted;
  const callback = (count: number) => {
    onBytes(buffer.subarray(0, count));
    return true;
  };
  const socket = new Socket({ handle, allowHalfOpen: true, onread: { buffer, callback } } as SocketConstructorOpts);
  (socket as unknown as Accepted)._server = from._server;
  from._handle = null;
  from._server = null;
  return socket;
}
