/** A raw TCP connection that can stop reading while it still writes. */
import net from 'node:net';

/** The number of bytes of an answer that a failed assertion shows. */
export const SHOWN = 300;

export interface RudeConnectionOptions {
  readonly port: number;
  /** The source address; every address in 127.0.0.0/8 belongs to this machine. */
  readonly from?: string | undefined;
  /** Called with each piece of data that arrives. */
  readonly onHeard?: ((piece: string) => void) | undefined;
}

export class RudeConnection {
  /** The first characters of the received data. */
  heard = '';
  /** The last characters of the received data. */
  heardLast = '';
  isClosed = false;
  readonly #unsaid = new Set<() => void>();

  private constructor(
    private readonly socket: net.Socket,
    onHeard?: (piece: string) => void,
  ) {
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (this.heard.length < SHOWN) this.heard = (this.heard + piece).slice(0, SHOWN);
      this.heardLast = (this.heardLast + piece).slice(-SHOWN);
      onHeard?.(piece);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      for (const resolve of this.#unsaid) resolve();
    });
  }

  static open({ port, from, onHeard }: RudeConnectionOptions): Promise<RudeConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RudeConnection(socket, onHeard));
      });
    });
  }

  stopReading(): void {
    this.socket.pause();
  }

  /** Resolves when the operating system has accepted the bytes or the connection has closed; it may never resolve. */
  say(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) {
        resolve();
        return;
      }
      this.#unsaid.add(resolve);
      this.socket.write(bytes as string, 'latin1', () => {
        this.#unsaid.delete(resolve);
        resolve();
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
