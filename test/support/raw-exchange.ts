/** Sends raw bytes to a port and returns the answer. */
import net from 'node:net';

/** Reads until the server closes or `until` has arrived; a character stands for a byte in both directions. */
export function rawExchange(port: number, bytes: string | Buffer, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let received = '';
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      received += chunk;
      if (until !== undefined && received.includes(until)) finish();
    });
    socket.on('close', finish);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') finish();
      else reject(error);
    });
  });
}
