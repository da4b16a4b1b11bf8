/** The intake on a real server that is killed and restarted. */
import { connect, JetStreamIntakeLog, Names } from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { intakeLogContract } from '../../contract/intake-log.contract.js';
import { startNatsServer } from '../../support/nats-server.js';

const SHARDS = 12;

intakeLogContract(
  'JetStream',
  async () => {
    const server = await startNatsServer();
    const [here, there] = await Promise.all([connect({ servers: [server.url] }), connect({ servers: [server.url] })]);
    const names = new Names('intake');
    const api = new JetStreamApi(here.control);
    for (const { key, config } of declareStreams(names, { kvShards: 1, queueShards: SHARDS, replicas: 1 })) {
      if (key.startsWith('INTAKE_')) await api.createStream(config);
    }
    let made = 0;
    return {
      logs: [new JetStreamIntakeLog(here, names), new JetStreamIntakeLog(there, names)],
      freshShard: async () => `QUEUE_${made++}` as ShardName,
      restart: async () => {
        await server.kill();
        await server.start();
      },
      close: async () => {
        await Promise.all([here.close(), there.close()]);
        await server.stop();
      },
    };
  },
  true,
);
