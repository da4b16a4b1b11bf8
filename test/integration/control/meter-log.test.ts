/** The meter's log on a real server. */

import { connect, JetStreamJournal, JetStreamMeterLog, Names } from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { meterLogContract } from '../../contract/meter-log.contract.js';
import { startNatsServer } from '../../support/nats-server.js';

meterLogContract('JetStream', async () => {
  const server = await startNatsServer();
  const [here, there] = await Promise.all([connect({ servers: [server.url] }), connect({ servers: [server.url] })]);
  const names = new Names('meter');
  const declaration = declareStreams(names, { kvShards: 1, queueShards: 1, replicas: 1 }).find(
    ({ key }) => key === METER_SHARD,
  );
  if (declaration === undefined) throw new Error('no stream for the meter');
  await new JetStreamApi(here.control).createStream(declaration.config);
  const logOf = (connections: typeof here) =>
    new JetStreamMeterLog(connections, names, new JetStreamJournal(connections, names));
  return {
    logs: [logOf(here), logOf(there)],
    close: async () => {
      await Promise.all([here.close(), there.close()]);
      await server.stop();
    },
  };
});
