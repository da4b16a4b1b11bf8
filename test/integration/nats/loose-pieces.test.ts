/** Pieces of incomplete objects are removed. Proves JO4. */
import { expect } from 'chai';
import { connect, JetStreamObjectStore, Names, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { declareObjectStore } from '../../../src/adapters/nats/streams.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

describe('pieces of objects without a description', () => {
  let server: NatsServer;
  let connections: NatsConnections;
  const names = new Names('loose');

  beforeEach(async () => {
    server = await startNatsServer();
    connections = await connect({ servers: [server.url] });
    await new JetStreamApi(connections.control).createStream(declareObjectStore(names, 1).config);
  });
  afterEach(async () => {
    await connections.close();
    await server.stop();
  });

  it('are removed at the second sweep, and every object stays complete', async () => {
    const store = new JetStreamObjectStore(connections, names);
    const api = new JetStreamApi(connections.control);
    const bytes = new Uint8Array(500_000).fill(3);
    await store.put('one', bytes);
    await store.put('two', bytes);
    const { chunks, descriptions } = names.objectSubjects();
    const stream = names.objectStream();
    // Remains of a writer that died before its description, and of one that died while it deleted.
    await connections.control.request(names.objectChunkSubject('lost'), new Uint8Array(1000), {
      timeoutMs: 2000,
    });
    const description = names.objectDescriptionSubject('two');
    await api.purge(stream, { filter: description });
    expect((await api.subjects(stream, chunks)).size).to.equal(3);

    expect(await store.sweepLoose()).to.equal(0);
    await store.put('three', bytes);
    expect(await store.sweepLoose()).to.equal(2);
    expect(await store.sweepLoose()).to.equal(0);
    const sizes = [(await api.subjects(stream, chunks)).size, (await api.subjects(stream, descriptions)).size];
    expect(sizes).to.deep.equal([2, 2]);
    for (const name of ['one', 'three']) expect(await store.get(name)).to.deep.equal(bytes);
  });
});
