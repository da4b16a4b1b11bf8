/** A nats-server with the streams of a cluster, and the connections and stores of a process on it. */
import {
  connect,
  initCluster,
  JetStreamJournal,
  JetStreamObjectStore,
  Names,
  type NatsConnections,
} from '../../src/adapters/nats/index.js';
import { type NatsServer, startNatsServer } from './nats-server.js';

export class JetStreamStand {
  readonly names: Names;
  readonly journal: JetStreamJournal;
  readonly objects: JetStreamObjectStore;

  private constructor(
    readonly server: NatsServer,
    readonly connections: NatsConnections,
    prefix: string,
  ) {
    this.names = new Names(prefix);
    this.journal = new JetStreamJournal(connections, this.names);
    this.objects = new JetStreamObjectStore(connections, this.names);
  }

  static async start(prefix: string, { kvShards = 1, queueShards = 1 } = {}): Promise<JetStreamStand> {
    const server = await startNatsServer();
    const connections = await connect({ servers: [server.url] });
    await initCluster(connections, { prefix, kvShards, queueShards, replicas: 1, allowUnsynced: true });
    return new JetStreamStand(server, connections, prefix);
  }

  async stop(): Promise<void> {
    await this.connections.close();
    await this.server.stop();
  }
}
