/** An answer that leaves in one write. */
import type { ServerResponse } from 'node:http';

/** Joining costs a copy; beyond this it is more than what is saved. */
const MAX_PIECE_BYTES = 16 * 1024;

/**
 * Node's `end(body)` writes head and body as one string and then an empty one, which makes a vector of two
 * and costs a tenth of a small request. Behind the head the body leaves with it in a plain write. The head
 * is written as Latin-1, so this is for bodies of one byte a character; and where a version of Node keeps
 * its head elsewhere, the ordinary way is taken. docs/adr/0012-one-piece.md has the figures.
 */
export function endInOnePiece(response: ServerResponse, body: string, encoding: BufferEncoding, bytes: number): void {
  const inside = response as unknown as { _header?: unknown };
  const fits = bytes === body.length && bytes < MAX_PIECE_BYTES && response.req.method !== 'HEAD';
  if (!fits || typeof inside._header !== 'string') {
    response.end(body, encoding);
    return;
  }
  inside._header += body;
  response.end();
}
