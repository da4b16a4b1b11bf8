/** A Redis connection of the tests' own: words out, the reply's very bytes back. One command at a time. */
import net from 'node:net';
import { encodeCommand } from '../../src/codec/resp/index.js';
import type { ByteString } from '../../src/kernel/index.js';

export class RespClient {
  #received = Buffer.alloc(0);
  #waiting: { resolve: (reply: ByteString) => void; reject: (error: Error) => void } | undefined;

  private constructor(private readonly socket: net.Socket) {
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  static connect(path: string): Promise<RespClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(path);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RespClient(socket));
      });
    });
  }

  /** The reply as it came over the wire. */
  call(words: readonly ByteString[]): Promise<ByteString> {
    return this.send(encodeCommand(words));
  }

  /** Sends encoded commands; the first reply to come back. */
  send(resp: ByteString): Promise<ByteString> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.socket.write(resp, 'latin1');
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const end = replyEnd(this.#received, 0);
    if (end < 0 || this.#waiting === undefined) return;
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    const reply = this.#received.toString('latin1', 0, end);
    this.#received = this.#received.subarray(end);
    resolve(reply);
  }
}

/** Where the reply that begins at `at` ends; -1 if it is not all there. */
export function replyEnd(bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at);
  if (line < 0) return -1;
  const count = Number(bytes.toString('latin1', at + 1, line));
  const kind = String.fromCharCode(bytes[at] as number);
  let end = line + 2;
  if (kind === '$' && count >= 0) end += count + 2;
  if (kind === '*') for (let i = 0; i < count && end >= 0; i += 1) end = replyEnd(bytes, end);
  return end < 0 || end > bytes.length ? -1 : end;
}
