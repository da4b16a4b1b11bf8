/**
 * HTTP/1.1 directly on sockets, for a client and a server that are both ours: bodies have a length, heads have the exact
 * form that this file and our server write, and a connection has one request at a time. Benches use it for the other end,
 * which must not take the processor that they measure.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

const END_OF_HEAD = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

export interface BareMessage {
  /** The lines of the head, from the first one up to the empty one. */
  readonly head: string;
  readonly body: Buffer;
}

/** Answers each request with the text of `answered`: head and body. */
export function bareServer(answered: (request: BareMessage) => Promise<string>): Server {
  return createServer({ noDelay: true }, (socket) => {
    onMessages(socket, (request) => {
      void answered(request).then((text) => socket.write(text, 'latin1'));
    });
    socket.on('error', () => socket.destroy());
  });
}

/** A pool with one connection per concurrent call. Connections stay open. */
export class BarePool {
  readonly #port: number;
  readonly #hostname: string;
  readonly #host: string;
  readonly #free: BareConnection[] = [];

  constructor(url: string) {
    const { hostname, port, host } = new URL(url);
    this.#hostname = hostname;
    this.#port = Number(port);
    this.#host = host;
  }

  /** @param headers lines, each with its end. @returns the status. @throws when the connection ends before the answer */
  async call(method: string, path: string, headers: string, body: string): Promise<number> {
    const connection = this.#free.pop() ?? new BareConnection(connect(this.#port, this.#hostname));
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    const answer = await connection.ask(
      `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${headers}${length}${END_OF_HEAD}${body}`,
    );
    this.#free.push(connection);
    return Number(answer.head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  }
}

class BareConnection {
  #answered: ((answer: BareMessage) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    onMessages(socket, (answer) => this.#answered?.(answer));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the connection ended without an answer')));
  }

  ask(request: string): Promise<BareMessage> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.socket.write(request, 'utf8');
    });
  }
}

/** Calls `take` with each complete message of a connection. */
function onMessages(socket: Socket, take: (message: BareMessage) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const end = bytes.indexOf(END_OF_HEAD);
      if (end < 0) break;
      const head = bytes.toString('latin1', 0, end);
      const from = end + END_OF_HEAD.length;
      const to = from + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (bytes.length < to) break;
      take({ head, body: bytes.subarray(from, to) });
      bytes = bytes.subarray(to);
    }
    rest = bytes;
  });
}
