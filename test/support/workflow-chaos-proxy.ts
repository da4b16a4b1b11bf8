/** A TCP proxy with a fixed address in front of a server that restarts. It can drop answers. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class CuttingProxy {
  readonly #open = new Set<Socket>();
  cuts = 0;

  /** @param cuts returns true if the arriving answer and its connection are to be dropped */
  private constructor(
    private readonly listener: Server,
    private readonly port: number,
    private readonly cutsAnswer: () => boolean,
  ) {
    listener.on('connection', (client) => this.#join(client));
  }

  static async start(target: string, cutsAnswer: () => boolean = () => false): Promise<CuttingProxy> {
    const listener = createServer({ noDelay: true });
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    return new CuttingProxy(listener, Number(new URL(target).port), cutsAnswer);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((done) => this.listener.close(done));
  }

  #join(client: Socket): void {
    const server = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#open.add(socket);
      socket.on('error', end).on('close', () => {
        this.#open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => void server.write(bytes));
    server.on('data', (bytes) => {
      if (this.cutsAnswer()) {
        this.cuts += 1;
        end();
      } else client.write(bytes);
    });
  }
}
