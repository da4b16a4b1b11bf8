/** A connection that sends one very large command at a time, and reads the reply as bytes without parsing it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const CR_LF = '\r\n';
/** Written in one piece; a million small ones would take the bench's time, not the server's. */
const PIECE_CHARACTERS = 64 * 1024;

export type Words = readonly (string | Buffer)[];

export class LargeLink {
  #chunks: Buffer[] = [];
  #marker: Buffer | undefined;
  #done: (() => void) | undefined;
  #asked = 0;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async open(port: number, password: string): Promise<LargeLink> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const link = new LargeLink(socket);
    await link.ask('AUTH', password);
    return link;
  }

  /** @returns the reply as it was sent. @throws when it is an error */
  async ask(...words: Words): Promise<Buffer> {
    return (await this.send(encoded(words)))();
  }

  /** Sends an encoded command. @returns once it is answered, a function that returns the reply */
  async send(command: Buffer): Promise<() => Buffer> {
    this.#asked += 1;
    const marker = `answered-${this.#asked}`;
    // The marker's answer is known, so the end of the reply is found without parsing the reply.
    this.#marker = Buffer.from(`$${marker.length}${CR_LF}${marker}${CR_LF}`);
    const whole = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    this.socket.write(command);
    this.socket.write(encoded(['PING', marker]));
    await whole;
    const [chunks, tail] = [this.#chunks, this.#marker.length];
    this.#chunks = [];
    if (chunks[0]?.[0] === '-'.charCodeAt(0)) throw new Error(chunks[0].toString('latin1', 0, 200));
    return () => {
      const bytes = Buffer.concat(chunks);
      return bytes.subarray(0, bytes.length - tail);
    };
  }

  close(): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    const marker = this.#marker as Buffer;
    const last = chunk.length >= marker.length ? chunk : Buffer.concat(this.#chunks.slice(-2));
    if (last.subarray(-marker.length).equals(marker)) this.#done?.();
  }
}

export function encoded(words: Words): Buffer {
  const pieces: Buffer[] = [];
  let text = `*${words.length}${CR_LF}`;
  for (const word of words) {
    text += `$${word.length}${CR_LF}`;
    if (typeof word === 'string') text += word;
    else {
      pieces.push(Buffer.from(text, 'latin1'), word);
      text = '';
    }
    text += CR_LF;
    if (text.length < PIECE_CHARACTERS) continue;
    pieces.push(Buffer.from(text, 'latin1'));
    text = '';
  }
  pieces.push(Buffer.from(text, 'latin1'));
  return Buffer.concat(pieces);
}

/** The content of a bulk string reply. */
export function bulkOf(reply: Buffer): Buffer {
  return reply.subarray(reply.indexOf(CR_LF) + CR_LF.length, -CR_LF.length);
}
