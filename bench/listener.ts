/**
 * One subscriber of one channel, as a bare socket: ten thousand subscribers of a client package would dominate the
 * measurement.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export class Listener {
  /** Called when something arrives. */
  onMessage: () => void = () => {};
  #isListening = false;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    // The end of the server is not an error of the bench.
    socket.on('error', () => undefined);
  }

  static overResp(port: number, password: string, channel: string): Promise<Listener> {
    const bytes = `AUTH ${password}\r\nSUBSCRIBE ${channel}\r\n`;
    return Listener.#open(port, bytes, /:1\r\n$/);
  }

  static overHttp(port: number, token: string, channel: string): Promise<Listener> {
    const head = [
      `GET /subscribe/${channel} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${token}`,
      'accept: text/event-stream',
    ];
    return Listener.#open(port, `${head.join('\r\n')}\r\n\r\n`, /data: subscribe,/);
  }

  /** @throws when the subscription is not confirmed with `confirmation` */
  static async #open(port: number, bytes: string, confirmation: RegExp): Promise<Listener> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const listener = new Listener(socket);
    await new Promise<void>((resolve, reject) => {
      let head = '';
      socket.on('data', (chunk: Buffer) => {
        if (listener.#isListening) return listener.onMessage();
        head += chunk.toString('latin1');
        if (!confirmation.test(head)) return;
        listener.#isListening = true;
        resolve();
      });
      socket.on('close', () => reject(new Error(`not subscribed: ${head.slice(0, 200)}`)));
      socket.write(bytes);
    });
    return listener;
  }

  close(): void {
    this.socket.destroy();
  }
}
