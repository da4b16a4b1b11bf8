/** Bytes as they are to a port, and what comes back. */
import net from 'node:net';

/** Reads until the server closes, or until `until` is in what came; both ways a character is a byte. */
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
