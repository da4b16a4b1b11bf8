/** A Redis connection of the tests' own: words out, the replies' very bytes back. */
import net from 'node:net';
import { encodeCommand } from '../../src/codec/resp/index.js';
import type { ByteString } from '../../src/kernel/index.js';

interface Waiting {
  resolve(reply: ByteString): void;
  reject(error: Error): void;
}

export class RespClient {
  #received = Buffer.alloc(0);
  #waiting: Waiting[] = [];
  #ended: Error | undefined;

  private constructor(private readonly socket: net.Socket) {
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('end', () => this.#fail(new Error('the server ended the connection')));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** @param where a socket's path, or a port */
  static connect(where: string | { port: number; host: string }): Promise<RespClient> {
    return new Promise((resolve, reject) => {
      const socket = typeof where === 'string' ? net.connect(where) : net.connect(where);
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
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting.push({ resolve, reject });
      this.socket.write(resp, 'latin1');
    });
  }

  /** A pipeline: all of them sent at once. */
  callAll(commands: readonly (readonly ByteString[])[]): Promise<ByteString[]> {
    const replies = commands.map(
      () => new Promise<ByteString>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    );
    this.socket.write(commands.map(encodeCommand).join(''), 'latin1');
    return Promise.all(replies);
  }

  /** The replies in some bytes, one after the other. */
  static repliesOf(bytes: Buffer): ByteString[] {
    const replies: ByteString[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = replyEnd(bytes, at);
      if (end < 0) throw new Error(`half a reply: ${bytes.toString('latin1', at, at + 200)}`);
      replies.push(bytes.toString('latin1', at, end));
      at = end;
    }
    return replies;
  }

  /** Nothing that is sent now would be answered. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (this.#waiting.length > 0 && at < this.#received.length) {
      const end = replyEnd(this.#received, at);
      if (end < 0) break;
      this.#waiting.shift()?.resolve(this.#received.toString('latin1', at, end));
      at = end;
    }
    this.#received = this.#received.subarray(at);
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** Where the reply that begins at `at` ends; -1 if it is not all there. */
function replyEnd(bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at);
  if (line < 0) return -1;
  const count = Number(bytes.toString('latin1', at + 1, line));
  const kind = String.fromCharCode(bytes[at] as number);
  let end = line + 2;
  if ('$=!'.includes(kind) && count >= 0) end += count + 2;
  const items = '*~>'.includes(kind) ? count : kind === '%' ? count * 2 : 0;
  for (let i = 0; i < items && end >= 0; i += 1) end = replyEnd(bytes, end);
  return end < 0 || end > bytes.length ? -1 : end;
}
