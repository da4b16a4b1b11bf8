/**
 * A connection of the native protocol, with only the parts that the benches need: it sends commands, counts replies and
 * reads plain ones. Other replies are not parsed, so that the client does not dominate the measurement.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type Plain = string | number | null;

export class RespLink {
  #unread = '';
  #waiting: ((reply: Plain) => void)[] = [];
  /** Called with data that arrives while no reply is expected. */
  onPush: (bytes: string) => void = () => {};

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
  }

  static async open(port: number, password?: string): Promise<RespLink> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const link = new RespLink(socket);
    if (password !== undefined) await link.ask('AUTH', password);
    return link;
  }

  /** One command with a plain reply. @throws when that is an error */
  async ask(...words: string[]): Promise<Plain> {
    const [reply] = await this.pipeline([words]);
    return reply as Plain;
  }

  /** Commands with plain replies only, no lists. @throws on the first error */
  pipeline(commands: readonly (readonly string[])[]): Promise<Plain[]> {
    return new Promise((resolve, reject) => {
      const replies: Plain[] = [];
      for (const _ of commands) {
        this.#waiting.push((reply) => {
          if (typeof reply === 'string' && reply.startsWith('-')) reject(new Error(reply));
          if (replies.push(reply) === commands.length) resolve(replies);
        });
      }
      this.socket.write(commands.map(encoded).join(''), 'latin1');
    });
  }

  /** Sends a command; its reply goes to `onPush`. */
  send(...words: string[]): void {
    this.socket.write(encoded(words), 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  #read(chunk: string): void {
    if (this.#waiting.length === 0) {
      this.onPush(chunk);
      return;
    }
    this.#unread += chunk;
    let at = 0;
    let answered = 0;
    while (answered < this.#waiting.length) {
      const end = this.#unread.indexOf('\r\n', at);
      if (end < 0) break;
      const line = this.#unread.slice(at, end);
      let reply: Plain = line.startsWith('+') ? line.slice(1) : line;
      let next = end + 2;
      if (line.startsWith(':')) reply = Number(line.slice(1));
      else if (line === '$-1') reply = null;
      else if (line.startsWith('$')) {
        next = end + 2 + Number(line.slice(1)) + 2;
        if (next > this.#unread.length) break;
        reply = this.#unread.slice(end + 2, next - 2);
      }
      at = next;
      (this.#waiting[answered] as (reply: Plain) => void)(reply);
      answered += 1;
    }
    this.#waiting.splice(0, answered);
    this.#unread = this.#unread.slice(at);
  }
}

function encoded(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}
