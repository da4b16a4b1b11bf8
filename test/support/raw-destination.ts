/** A destination that answers with any bytes that a test sets, valid HTTP or not. */
import { createServer, type Server, type Socket } from 'node:net';

export class RawDestination {
  readonly requests: string[] = [];
  connections = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(readonly server: Server) {}

  /** @param answer called with each piece of data of a socket */
  static async listening(answer: (socket: Socket, text: string) => void): Promise<RawDestination> {
    const server = createServer();
    const destination = new RawDestination(server);
    server.on('connection', (socket) => {
      destination.connections += 1;
      destination.#sockets.add(socket);
      socket.on('close', () => destination.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        destination.requests.push(text);
        answer(socket, text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return destination;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  url(path = '/hook', host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
