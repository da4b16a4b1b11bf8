/**
 * When response headers become too large, the parser closes the socket, but goes on through all that it has been
 * given and makes an error for each further header: tens of thousands, whose stack traces hold the loop for a second.
 * A destination that floods headers would stop everybody's deliveries so. Therefore the parser is given little at a
 * time, and nothing once the socket is closed. What a parser that pauses gives back is read again before the rest.
 */
import type { Socket } from 'node:net';

/** The headers of most responses fit; beyond an overflow a few hundred of four bytes are looked at. */
const PIECE_BYTES = 1024;

/**
 * This is called before the socket is read from, by `read()` until it gives null.
 *
 * @param received told of each piece before the parser has it; it may destroy the socket, and the piece is dropped
 */
export function readInPieces(socket: Socket, received: (bytes: number) => void): void {
  const { read, unshift } = socket;
  let rest: Buffer | null = null;
  socket.read = (size?: number) => {
    if (socket.destroyed) return null;
    const chunk: Buffer | null = rest ?? read.call(socket, size);
    if (chunk === null) return null;
    rest = chunk.length > PIECE_BYTES ? chunk.subarray(PIECE_BYTES) : null;
    received(Math.min(chunk.length, PIECE_BYTES));
    if (socket.destroyed) return null;
    return rest === null ? chunk : chunk.subarray(0, PIECE_BYTES);
  };
  socket.unshift = (back: Buffer) => {
    if (rest === null) unshift.call(socket, back);
    else rest = Buffer.concat([back, rest]);
  };
}
