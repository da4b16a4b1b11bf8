/** A stream that is written as a journal is: each entry expects its position. */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from 'nats';
import { type NatsServer, startNatsServer } from '../test/support/nats-server.js';

const TIMEOUT_MS = 10_000;

/** A nats-server that syncs each write, and a connection to it. */
export class EntryServer {
  private constructor(
    private readonly server: NatsServer,
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
  ) {}

  static async start(): Promise<EntryServer> {
    const server = await startNatsServer({ syncAlways: true });
    const connection = await connect({ servers: server.url });
    return new EntryServer(server, connection, await jetstreamManager(connection));
  }

  async stream(name: string): Promise<EntryStream> {
    await this.manager.streams.add({ name, subjects: [name], num_replicas: 1 });
    return new EntryStream(this.connection, name);
  }

  /** Frees the disk; the position of the next entry stays. */
  async purge(name: string): Promise<void> {
    await this.manager.streams.purge(name);
  }

  async stop(): Promise<void> {
    await this.connection.close();
    await this.server.stop();
  }
}

export class EntryStream {
  #last = 0;

  constructor(
    private readonly connection: NatsConnection,
    readonly name: string,
  ) {}

  /** Appends for a time, with so many entries in flight. @returns stored entries a second */
  async rate(payload: Uint8Array, { inFlight, forMs }: { inFlight: number; forMs: number }): Promise<number> {
    const beganMs = performance.now();
    const asked: Promise<void>[] = [];
    let stored = 0;
    while (performance.now() - beganMs < forMs) {
      while (asked.length < inFlight) asked.push(this.#append(payload));
      await asked.shift();
      stored += 1;
    }
    const passedMs = performance.now() - beganMs;
    await Promise.all(asked);
    return (stored * 1000) / passedMs;
  }

  async #append(payload: Uint8Array): Promise<void> {
    const expected = headers();
    expected.set('Nats-Expected-Last-Sequence', String(this.#last));
    this.#last += 1;
    const answer = await this.connection.request(this.name, payload, { headers: expected, timeout: TIMEOUT_MS });
    const { error } = answer.json<{ error?: { description: string } }>();
    if (error !== undefined) throw new Error(error.description);
  }
}
