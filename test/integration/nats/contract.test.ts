/** The NATS adapters under the contract suites of their ports. */
import {
  connect,
  JetStreamJournal,
  JetStreamLeaseStore,
  JetStreamObjectStore,
  Names,
  NatsBus,
} from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { busContract } from '../../contract/bus.contract.js';
import { journalContract } from '../../contract/journal.contract.js';
import { leaseStoreContract } from '../../contract/lease-store.contract.js';
import { objectStoreContract } from '../../contract/object-store.contract.js';
import { startNatsServer } from '../../support/nats-server.js';

const ONE_SHARD = { kvShards: 1, queueShards: 1, replicas: 1 };

async function openWorld(isOwn = false) {
  const server = await startNatsServer();
  const options = { servers: [server.url], isOwn };
  const [here, there] = await Promise.all([connect(options), connect(options)]);
  const names = new Names('contract');
  const api = new JetStreamApi(here.control);
  const declared = (key: string) => {
    const declaration = declareStreams(names, ONE_SHARD).find((stream) => stream.key === key);
    if (declaration === undefined) throw new Error(`no stream ${key}`);
    return declaration.config;
  };
  const close = async () => {
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  };
  return { server, here, there, names, api, declared, close };
}

for (const isOwn of [false, true]) {
  journalContract(
    isOwn ? 'JetStream on a server of our own' : 'JetStream',
    async () => {
      const { server, here, there, names, api, declared, close } = await openWorld(isOwn);
      const options = { appendTimeoutMs: 1000, readTimeoutMs: 1000 };
      let made = 0;
      return {
        journal: new JetStreamJournal(here, names, options),
        other: new JetStreamJournal(there, names, options),
        freshShard: async () => {
          const shard = `KV_${made++}` as ShardName;
          const name = names.journalStream(shard);
          await api.createStream({ ...declared('KV_0'), name, subjects: [names.journalSubject(shard)] });
          return shard;
        },
        missingShard: 'KV_999' as ShardName,
        stall: async () => {
          await server.pause();
          return async () => server.resume();
        },
        close,
      };
    },
    true,
  );
}

leaseStoreContract('JetStream', async () => {
  const { here, there, names, api, declared, close } = await openWorld();
  await api.createStream(declared('leases'));
  return { store: new JetStreamLeaseStore(here, names), other: new JetStreamLeaseStore(there, names), close };
});

objectStoreContract(
  'JetStream',
  async () => {
    const { here, there, names, api, declared, close } = await openWorld();
    await api.createStream(declared('snapshots'));
    return {
      store: new JetStreamObjectStore(here, names),
      other: new JetStreamObjectStore(there, names),
      damage: async (name) => {
        const stream = names.objectStream();
        const described = await api.message(stream, {
          last_by_subj: names.objectDescriptionSubject(name),
        });
        const { nuid, size } = JSON.parse(Buffer.from(described?.data ?? []).toString('utf8'));
        const subject = names.objectChunkSubject(nuid);
        await api.purge(stream, { filter: subject });
        await here.control.request(subject, Buffer.alloc(size, 0x21), { timeoutMs: 5000 });
      },
      close,
    };
  },
  true,
);

busContract('NATS', async () => {
  const { here, there, names, close } = await openWorld();
  return { bus: new NatsBus(here, names), other: new NatsBus(there, names), close };
});
