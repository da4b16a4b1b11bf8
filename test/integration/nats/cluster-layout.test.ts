/** Creating the streams of an installation once, and reporting later changes of them. Proves CL1–CL4. */
import { DiscardPolicy } from '@nats-io/jetstream';
import { expect } from 'chai';
import {
  askServers,
  checkReplication,
  connect,
  initCluster,
  isAtLeast,
  Names,
  type NatsConnections,
  readLayout,
  SYNC_ALWAYS,
  verifyCluster,
} from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { JetStreamLeaseStore } from '../../../src/adapters/nats/jetstream-lease-store.js';
import { differingSettings, forbiddenSettings } from '../../../src/adapters/nats/streams.js';
import { isMillraceError, type MillraceError } from '../../../src/kernel/index.js';
import { type NatsServer, natsServerVersion, startNatsServer } from '../../support/nats-server.js';

const COUNTED = { kvShards: 2, queueShards: 1, replicas: 1 };
const SMALL = { ...COUNTED, allowUnsynced: true };

describe('the layout of an installation', () => {
  let server: NatsServer;
  let here: NatsConnections;
  let there: NatsConnections;
  let api: JetStreamApi;
  let made = 0;
  let prefix = '';

  before(async () => {
    server = await startNatsServer();
    [here, there] = await Promise.all([connect({ servers: [server.url] }), connect({ servers: [server.url] })]);
    api = new JetStreamApi(here.control);
  });
  after(async () => {
    await Promise.all([here?.close(), there?.close()]);
    await server?.stop();
  });
  beforeEach(() => {
    made += 1;
    prefix = `layout${made}`;
  });

  const streams = async (): Promise<string[]> => {
    const found = await api.ask(({ streams: all }) => all.names().next());
    return found.filter((name) => name.includes(`${prefix}_`)).sort();
  };

  it('is created with a stream for each shard, the buckets and the object store', async () => {
    const layout = await initCluster(here, { prefix, ...SMALL });
    expect(layout).to.include({ version: 1, complete: true, ...COUNTED });
    expect(await streams()).to.deep.equal(
      [
        ...['CONTROL', 'INTAKE_0', 'KV_0', 'KV_1', 'METER', 'QUEUE_0'].map((name) => `${prefix}_${name}`),
        `KV_${prefix}_layout`,
        `KV_${prefix}_leases`,
        `OBJ_${prefix}_snapshots`,
      ].sort(),
    );
    expect(await verifyCluster(there, prefix)).to.deep.equal({ layout, differences: [] });
  });

  it('has the same streams, buckets and verification without a prefix', async () => {
    const layout = await initCluster(here, { prefix: '', ...SMALL });
    expect(await verifyCluster(here, '')).to.deep.equal({ layout, differences: [] });
    expect((await api.findStream('KV_0'))?.config.subjects).to.deep.equal(['millrace.log.KV_0']);
    expect((await api.findStream('KV_leases'))?.config.subjects).to.deep.equal(['$KV.leases.>']);
  });

  it('is one layout when several processes create it in parallel', async () => {
    const layouts = await Promise.all(
      [here, there, here, there].map((connections) => initCluster(connections, { prefix, ...SMALL })),
    );
    expect(new Set(layouts.map((layout) => layout.clusterId)).size).to.equal(1);
    for (const layout of layouts) expect(layout).to.deep.equal(layouts[0]);
    expect((await verifyCluster(here, prefix)).differences).to.deep.equal([]);
  });

  it('is unchanged when it is created again', async () => {
    const first = await initCluster(here, { prefix, ...SMALL });
    expect(await initCluster(there, { prefix, ...SMALL })).to.deep.equal(first);
  });

  it('is refused with other numbers of shards', async () => {
    await initCluster(here, { prefix, ...SMALL });
    expect((await failureOf(initCluster(there, { prefix, ...SMALL, kvShards: 3 }))).code).to.equal('CONFLICT');
  });

  it('is completed by the next initialisation after one died halfway', async () => {
    const whole = await initCluster(here, { prefix, ...SMALL });
    const names = new Names(prefix);
    const store = new JetStreamLeaseStore(here, names, 'layout');
    const found = await store.get('cluster');
    const half = { ...whole, complete: false, attempt: 'of a dead process', streams: { KV_0: whole.streams.KV_0 } };
    await store.update('cluster', Buffer.from(JSON.stringify(half)), found?.revision ?? 0);
    await api.ask(({ streams }) => streams.delete(`${prefix}_KV_1`));
    expect((await verifyCluster(here, prefix)).differences.map(({ kind }) => kind)).to.deep.equal([
      'layout-incomplete',
    ]);
    const finished = await initCluster(there, { prefix, ...SMALL, stalledAfterMs: 100 });
    expect(finished.clusterId).to.equal(whole.clusterId);
    expect((await verifyCluster(here, prefix)).differences).to.deep.equal([]);
  });

  it('is not created again when journals exist without it', async () => {
    await initCluster(here, { prefix, ...SMALL });
    await api.ask(({ streams }) => streams.delete(`KV_${prefix}_layout`));
    expect(await readLayout(here, prefix)).to.equal(undefined);
    expect((await verifyCluster(here, prefix)).differences.map(({ kind }) => kind)).to.deep.equal(['no-layout']);
    expect((await failureOf(initCluster(there, { prefix, ...SMALL }))).code).to.equal('JOURNAL_DAMAGED');
  });

  it('reports a deleted stream, and does not create it again', async () => {
    await initCluster(here, { prefix, ...SMALL });
    await api.ask(({ streams }) => streams.delete(`${prefix}_KV_1`));
    const { differences } = await verifyCluster(there, prefix);
    expect(differences.map(({ kind, stream }) => [kind, stream])).to.deep.equal([['stream-missing', `${prefix}_KV_1`]]);
    await initCluster(there, { prefix, ...SMALL });
    expect(await streams()).to.not.include(`${prefix}_KV_1`);
  });

  it('reports a stream that was deleted and created again', async () => {
    await initCluster(here, { prefix, ...SMALL });
    const before = await api.ask(({ streams }) => streams.info(`${prefix}_CONTROL`));
    await api.ask(({ streams }) => streams.delete(`${prefix}_CONTROL`));
    await api.createStream({ ...before.config, name: `${prefix}_CONTROL` });
    const { differences } = await verifyCluster(there, prefix);
    expect(differences.map(({ kind, stream }) => [kind, stream])).to.deep.equal([
      ['stream-recreated', `${prefix}_CONTROL`],
    ]);
  });

  it('reports changed settings of a stream by their names', async () => {
    await initCluster(here, { prefix, ...SMALL });
    const { config } = await api.ask(({ streams }) => streams.info(`${prefix}_KV_0`));
    const altered = { ...config, max_age: 3_600_000_000_000, discard: DiscardPolicy.Old, allow_direct: true };
    await api.ask(({ streams }) => streams.update(`${prefix}_KV_0`, altered));
    const { differences } = await verifyCluster(there, prefix);
    expect(differences.map(({ kind }) => kind)).to.deep.equal(['stream-altered']);
    for (const name of ['max_age', 'discard', 'allow_direct']) expect(differences[0]?.detail).to.include(name);
  });

  it('reports settings that no stream may have, and treats absent ones as zero', () => {
    expect(forbiddenSettings({})).to.deep.equal([]);
    expect(
      forbiddenSettings({ persist_mode: 'async', republish: { src: '>', dest: 'copy.>' } } as object),
    ).to.deep.equal(['republish', 'persist_mode']);
    const declared = { name: 'S', subjects: ['a', 'b'], max_age: 0, deny_delete: true };
    expect(differingSettings(declared, { name: 'S', subjects: ['b', 'a'], deny_delete: true })).to.deep.equal([]);
    expect(differingSettings(declared, { name: 'S', subjects: ['b'] })).to.deep.equal(['subjects', 'deny_delete']);
  });

  it('refuses three replicas on one server', async () => {
    const failure = await failureOf(initCluster(here, { prefix, ...SMALL, replicas: 3, allowUnsynced: true }));
    // Servers before 2.9.21 are refused before they are asked for anything.
    expect(failure.code).to.equal('BAD_CONFIG');
    expect(await streams()).to.deep.equal([]);
  });

  it('refuses invalid numbers of shards and replicas in one line', async () => {
    for (const wrong of [{ kvShards: 0 }, { queueShards: 1.5 }, { replicas: 2 }]) {
      expect((await failureOf(initCluster(here, { prefix, ...SMALL, ...wrong }))).code).to.equal('BAD_CONFIG');
    }
  });
});

describe('the state of the nats-servers', () => {
  it('gives versions and whether every write is synced, through the system account', async function () {
    if (!isAtLeast(natsServerVersion(), SYNC_ALWAYS)) this.skip();
    const server = await startNatsServer({ syncAlways: true, user: 'app', password: 'p', systemPassword: 's' });
    const options = { servers: [server.url], user: 'app', password: 'p' };
    const connections = await connect({ ...options, system: { user: 'sys', password: 's' } });
    const without = await connect(options);
    try {
      const [facts] = (await askServers(connections)) as Array<{ version: string; hasSyncAlways: boolean }>;
      expect(facts?.version).to.equal(connections.serverVersions()[0]);
      expect(facts?.hasSyncAlways).to.equal(true);
      expect(await askServers(without)).to.equal('unknown');
    } finally {
      await Promise.all([connections.close(), without.close()]);
      await server.stop();
    }
  });

  it('is not read with a wrong password, which is refused without a retry', async () => {
    const server = await startNatsServer({ user: 'app', password: 'right' });
    try {
      const failure = await failureOf(connect({ servers: [server.url], user: 'app', password: 'wrong' }));
      expect(failure.code).to.equal('JOURNAL_UNAVAILABLE');
    } finally {
      await server.stop();
    }
  });

  const synced = (version: string) => ({ name: version, version, hasSyncAlways: true });
  const question = { replicas: 3, atLeast: 3, connectedVersions: ['2.15.1'], allowUnsynced: false };

  it('permits replicas when each server is new enough and syncs every write', () => {
    const servers = ['2.15.1', '2.15.1', '2.10.27'].map(synced);
    expect(() => checkReplication({ ...question, servers })).to.not.throw();
  });

  it('is required for a single replica too', () => {
    const single = { ...question, replicas: 1, atLeast: 1 };
    expect(() => checkReplication({ ...single, servers: [synced('2.15.1')] })).to.not.throw();
    expect(() => checkReplication({ ...single, servers: 'unknown' })).to.throw('system account');
  });

  it('permits a start with the servers that are up', () => {
    expect(() => checkReplication({ ...question, atLeast: 1, servers: [synced('2.15.1')] })).to.not.throw();
  });

  it('forbids a server that is too old, also with allowUnsynced', () => {
    const servers = ['2.15.1', '2.15.1', '2.9.20'].map(synced);
    expect(() => checkReplication({ ...question, servers, allowUnsynced: true })).to.throw('2.9.20');
    const connectedVersions = ['2.9.10'];
    const unasked = { ...question, connectedVersions, servers: 'unknown' as const, allowUnsynced: true };
    expect(() => checkReplication(unasked)).to.throw('2.9.10');
  });

  it('forbids a server that does not sync or cannot be asked, unless the operator allows it', () => {
    const lazy = [...['2.15.1', '2.15.1'].map(synced), { name: 'lazy', version: '2.15.1', hasSyncAlways: false }];
    for (const servers of [lazy, lazy.slice(0, 2), 'unknown' as const]) {
      expect(() => checkReplication({ ...question, servers })).to.throw();
      expect(() => checkReplication({ ...question, servers, allowUnsynced: true })).to.not.throw();
    }
    expect(() => checkReplication({ ...question, servers: lazy })).to.throw('lazy');
  });

  it('compares versions by their numbers', () => {
    expect(isAtLeast('2.10.0', '2.9.21')).to.equal(true);
    expect(isAtLeast('2.9.21', '2.9.21')).to.equal(true);
    expect(isAtLeast('2.9.9', '2.9.21')).to.equal(false);
    expect(isAtLeast('2.10.0-RC.1', '2.10.0')).to.equal(false);
    expect(isAtLeast('nonsense', '2.9.21')).to.equal(false);
  });
});

async function failureOf(promise: Promise<unknown>): Promise<MillraceError> {
  const outcome = await promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  if (!isMillraceError(outcome)) throw new Error(`expected a MillraceError, not: ${String(outcome)}`);
  return outcome;
}
