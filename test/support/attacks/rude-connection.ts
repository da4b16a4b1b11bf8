/** A connection that says things, and reads nothing once it was told not to. */
import net from 'node:net';

/** Bytes of an answer that are shown in a failure. */
export const SHOWN = 300;

export interface RudeConnectionOptions {
  readonly port: number;
  /** All of 127.0.0.0/8 are this machine's. */
  readonly from?: string | undefined;
  /** Each piece that it reads. */
  readonly onHeard?: ((piece: string) => void) | undefined;
}

export class RudeConnection {
  /** The beginning of what it read. */
  heard = '';
  /** And the end of it. */
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

  /** Resolves when the system has taken it, or the connection is closed; it may wait for ever. */
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
