/** Three replicas on three servers: created once, fenced, and writable again after a leader was killed. */
import { expect } from 'chai';
import {
  askServers,
  connect,
  initCluster,
  isAtLeast,
  JetStreamJournal,
  JetStreamLeaseStore,
  Names,
  type NatsConnections,
  SYNC_ALWAYS,
  verifyCluster,
} from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsCluster, startNatsCluster } from '../../support/nats-cluster.js';
import { findNatsServer, natsServerVersion } from '../../support/nats-server.js';

describe('an installation with three replicas', function () {
  /** Elections take up to nine seconds and cannot be made shorter. */
  this.timeout(60_000);

  const shard = 'KV_0' as ShardName;
  const prefix = 'replicated';
  const names = new Names(prefix);
  const counts = { prefix, kvShards: 2, queueShards: 1, replicas: 3 };
  let cluster: NatsCluster;
  let here: NatsConnections;
  let there: NatsConnections;

  before(async function () {
    // The cluster's configuration syncs every write, which older servers do not know.
    if (!isAtLeast(natsServerVersion(), SYNC_ALWAYS)) this.skip();
    cluster = await startNatsCluster(findNatsServer());
    const { urls, user, password, sysUser, sysPassword } = cluster;
    const options = { servers: urls, user, password, system: { user: sysUser, password: sysPassword } };
    [here, there] = await Promise.all([connect(options), connect(options)]);
  });
  after(async () => {
    await Promise.all([here?.close(), there?.close()]);
    await cluster?.stop();
  });

  it('is created once by two processes in parallel, on servers that sync every write', async () => {
    const facts = await askServers(here, 3);
    expect(facts === 'unknown' ? facts : facts.map(({ hasSyncAlways }) => hasSyncAlways)).to.deep.equal([
      true,
      true,
      true,
    ]);
    const [layout, other] = await Promise.all([initCluster(here, counts), initCluster(there, counts)]);
    expect(other).to.deep.equal(layout);
    expect(await verifyCluster(there, prefix)).to.deep.equal({ layout, differences: [] });
  });

  it('stores one of many racing appends and one of many racing lease writes', async () => {
    const journals = [new JetStreamJournal(here, names), new JetStreamJournal(there, names)];
    const tries = Array.from({ length: 12 }, (_, n) =>
      journals[n % 2]!.append('KV_1' as ShardName, Buffer.from('x'), 0),
    );
    const appends = (await Promise.all(tries)).map(({ kind }) => kind);
    expect(appends.filter((kind) => kind === 'stored')).to.have.lengthOf(1);
    const leases = [new JetStreamLeaseStore(here, names), new JetStreamLeaseStore(there, names)];
    const renewals = Array.from({ length: 12 }, (_, n) => leases[n % 2]!.create('shard.KV_1', Buffer.from(`${n}`)));
    const kinds = (await Promise.all(renewals)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'stored')).to.have.lengthOf(1);
  });

  it('keeps every acknowledged entry and every follower when the leader of a stream is killed', async () => {
    const journal = new JetStreamJournal(here, names, { appendTimeoutMs: 1000 });
    const reader = new JetStreamJournal(there, names);
    const seen: number[] = [];
    const follower = { onMessage: ({ position }: { position: number }) => void seen.push(position), onAlive: () => {} };
    const subscription = reader.follow(shard, 1, follower);
    const first = await Promise.all(
      Array.from({ length: 50 }, (_, index) => journal.append(shard, Buffer.from(`${index}`), index)),
    );
    expect(first.every(({ kind }) => kind === 'stored')).to.equal(true);

    const led = await new JetStreamApi(there.control).findStream(names.journalStream(shard));
    const leader = cluster.nodes.find(({ name }) => name === led?.cluster?.leader);
    await leader?.kill();
    // The same bytes and expectation, as an owner repeats them, until the answer is definite.
    const settled = await eventually(
      async () => {
        const outcome = await journal.append(shard, Buffer.from('after'), 50);
        expect(outcome.kind).to.be.oneOf(['stored', 'conflict']);
        return outcome.kind;
      },
      { timeoutMs: 30_000, everyMs: 100 },
    );
    const stored = await eventually(
      async () => {
        const found = await reader.readAt(shard, 51);
        if (found === undefined) throw new Error('position 51 is not shown yet');
        return found;
      },
      { timeoutMs: 15_000 },
    );
    // A conflict can only come from our own earlier try: its outcome was unknown, and it was stored.
    expect(Buffer.from(stored).toString(), settled).to.equal('after');
    const expected = Array.from({ length: 51 }, (_, index) => index + 1);
    await eventually(() => expect(seen).to.deep.equal(expected), { timeoutMs: 30_000 });
    const read: number[] = [];
    for await (const { position } of reader.read(shard, 1, 51)) read.push(position);
    expect(read).to.deep.equal(expected);
    subscription.stop();
  });
});
