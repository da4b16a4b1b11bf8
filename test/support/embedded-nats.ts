/** A connection to the embedded nats-server of a running process, with the credentials in its data directory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type NatsConnection } from 'nats';

export async function withEmbeddedNats<T>(dataDir: string, work: (nats: NatsConnection) => Promise<T>): Promise<T> {
  const { url, user, password } = JSON.parse(await readFile(join(dataDir, 'nats/client.json'), 'utf8')) as {
    url: string;
    user: string;
    password: string;
  };
  const connection = await connect({ servers: url, user, pass: password, reconnect: false });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
