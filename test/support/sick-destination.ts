/** A destination with one kind of misbehaviour, which counts its connections. */
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

export const SICKNESSES = {
  /** Reads the request and sends no answer. */
  hangs: () => {},
  /** Starts a response and continues with one byte per second. */
  drips: (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write('.'), 1000);
    socket.once('close', () => clearInterval(timer));
  },
  'answers garbage': (socket: Socket) => socket.end('\0\xff not a word of HTTP\r\n\r\n', 'latin1'),
  'dies in mid-response': (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome', () => socket.resetAndDestroy());
  },
  'refuses connections': undefined,
  /** Sends interim responses without a final one. */
  'floods interim responses': (socket: Socket) => flood(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'),
  'floods headers': (socket: Socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', 'X-Header: value\r\n'),
  'floods its body': (socket: Socket) => flood(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'body '),
} as const satisfies Record<string, ((socket: Socket) => void) | undefined>;

export type Sickness = keyof typeof SICKNESSES;

/** Sends pieces as fast as the client reads. */
function flood(socket: Socket, begin: string, piece: string): void {
  const pieces = piece.repeat(1000);
  const pour = () => {
    while (socket.writable && socket.write(pieces));
  };
  socket.on('drain', pour);
  socket.write(begin);
  pour();
}

export class SickDestination {
  readonly #sockets = new Set<Socket>();
  #most = 0;
  #requests = 0;

  private constructor(
    readonly port: number,
    private readonly server: Server | undefined,
  ) {}

  static async that(sickness: Sickness): Promise<SickDestination> {
    const fall: ((socket: Socket) => void) | undefined = SICKNESSES[sickness];
    const port = await freePort();
    const server = fall === undefined ? undefined : createServer();
    const destination = new SickDestination(port, server);
    if (fall === undefined || server === undefined) return destination;
    server.on('connection', (socket) => destination.#add(socket, fall));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return destination;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/sick`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** The highest number of open connections. */
  get mostSockets(): number {
    return this.#most;
  }

  get requests(): number {
    return this.#requests;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => (this.server === undefined ? resolve(undefined) : this.server.close(resolve)));
  }

  #add(socket: Socket, fall: (socket: Socket) => void): void {
    this.#sockets.add(socket);
    this.#most = Math.max(this.#most, this.#sockets.size);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      this.#requests += 1;
      fall(socket);
    });
  }
}
