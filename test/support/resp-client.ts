/** A test client for Redis connections: sends words and returns the exact bytes of replies. */
import net from 'node:net';
// The index of the folder loads the engine of databases, half a second of the processor for each attacker's process.
import { encodeCommand } from '../../src/codec/resp/command-reader.js';
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

  /** @param where the path of a socket, or a port */
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

  /** Sends a command and returns the raw reply. */
  call(words: readonly ByteString[]): Promise<ByteString> {
    return this.send(encodeCommand(words));
  }

  /** Sends encoded commands and returns the next reply. */
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

  /** Sends all commands in one write. */
  callAll(commands: readonly (readonly ByteString[])[]): Promise<ByteString[]> {
    const replies = commands.map(
      () => new Promise<ByteString>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    );
    this.socket.write(commands.map(encodeCommand).join(''), 'latin1');
    return Promise.all(replies);
  }

  /** Splits bytes into replies. */
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

  /** True if the connection has ended and commands get no reply. */
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

/** The end of the reply that starts at `at`; -1 if it is incomplete. */
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
