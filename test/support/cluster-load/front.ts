/**
 * A TCP forwarder with a fixed address, for clients that accept only one address. Each connection is forwarded to a
 * process that the balancer chooses, and closes with the connection to that process.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Backend, Entrance } from './balancer.js';

export class Front {
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(
    private readonly server: Server,
    private readonly balancer: Entrance,
    private readonly face: string,
  ) {}

  static async listening(balancer: Entrance, face: string): Promise<Front> {
    const server = createServer({ noDelay: true });
    const front = new Front(server, balancer, face);
    server.on('connection', (client) => {
      front.#turn += 1;
      front.#keep(client);
      front.#join(client, new Set());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return front;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, tried: Set<Backend>): void {
    const backend = this.balancer.pick(this.#turn, tried);
    if (backend === undefined) {
      client.destroy();
      return;
    }
    tried.add(backend);
    const { hostname: host, port } = new URL(backend.process.addresses[this.face] as string);
    const upstream = connect({ host, port: Number(port), noDelay: true });
    this.#keep(upstream);
    const refused = (): void => {
      this.balancer.leave(backend);
      this.#join(client, tried);
    };
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
