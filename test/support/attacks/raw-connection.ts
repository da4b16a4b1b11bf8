/** A raw TCP connection that can stop reading while it still writes. */
import net from 'node:net';

/** The number of bytes of an answer that a failed assertion shows. */
export const SHOWN = 300;

export interface RawConnectionOptions {
  readonly port: number;
  /** The source address; every address in 127.0.0.0/8 belongs to this machine. */
  readonly from?: string | undefined;
  /** Called with each piece of data that arrives. */
  readonly onData?: ((piece: string) => void) | undefined;
}

export class RawConnection {
  /** The first characters of the received data. */
  received = '';
  /** The last characters of the received data. */
  receivedTail = '';
  isClosed = false;
  readonly #pendingWrites = new Set<() => void>();

  private constructor(
    private readonly socket: net.Socket,
    onData?: (piece: string) => void,
  ) {
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (this.received.length < SHOWN) this.received = (this.received + piece).slice(0, SHOWN);
      this.receivedTail = (this.receivedTail + piece).slice(-SHOWN);
      onData?.(piece);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      for (const resolve of this.#pendingWrites) resolve();
    });
  }

  static open({ port, from, onData }: RawConnectionOptions): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket, onData));
      });
    });
  }

  stopReading(): void {
    this.socket.pause();
  }

  /** Resolves when the operating system has accepted the bytes or the connection has closed; it may never resolve. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) {
        resolve();
        return;
      }
      this.#pendingWrites.add(resolve);
      this.socket.write(bytes as string, 'latin1', () => {
        this.#pendingWrites.delete(resolve);
        resolve();
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
