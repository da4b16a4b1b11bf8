import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect, type NatsConnection } from 'nats';
import { eventually } from '../../support/eventually.js';
import { type NatsCluster, startNatsCluster } from '../../support/nats-cluster.js';
import { testServer } from './test-server.js';

describe('the cluster configuration of infra/nats', function () {
  this.timeout(60_000);
  let binary: string;
  let cluster: NatsCluster;

  before(async function () {
    this.timeout(300_000);
    const found = await testServer();
    if (found.version.startsWith('2.9.')) this.skip();
    binary = found.path;
    cluster = await startNatsCluster(binary);
  });
  after(async () => cluster?.stop());

  it('starts three nodes that sync every write before they acknowledge it', async () => {
    const connection = await connect({ servers: [...cluster.urls], user: cluster.sysUser, pass: cluster.sysPassword });
    const reports = new Map<string, boolean | undefined>();
    const answers = await connection.requestMany('$SYS.REQ.SERVER.PING.VARZ', '', {
      strategy: 'count',
      maxMessages: 3,
      maxWait: 5000,
    });
    for await (const answer of answers) {
      const report = answer.json() as {
        server: { name: string };
        data: { jetstream: { config: { sync_always?: boolean } } };
      };
      reports.set(report.server.name, report.data.jetstream.config.sync_always);
    }
    await connection.close();
    expect([...reports].sort()).to.deep.equal([
      ['millrace-nats-1', true],
      ['millrace-nats-2', true],
      ['millrace-nats-3', true],
    ]);
  });

  it('keeps a stream of three replicas writable when a node is killed, and accepts the node again', async () => {
    const connection = await connected();
    const manager = await jetstreamManager(connection, { timeout: 1000 });
    await eventually(() => manager.streams.add({ name: 'KEPT', subjects: ['kept'], num_replicas: 3 }));
    const publisher = jetstream(connection, { timeout: 1000 });
    await eventually(() => publisher.publish('kept', 'before'), { timeoutMs: 15_000 });
    await cluster.nodes[2]?.kill();
    await eventually(() => publisher.publish('kept', 'after'), { timeoutMs: 20_000 });
    cluster.nodes[2]?.start();
    await eventually(
      async () => {
        const { cluster: raft } = await manager.streams.info('KEPT');
        expect(raft?.replicas?.filter((replica) => replica.current)).to.have.length(2);
      },
      { timeoutMs: 20_000, everyMs: 100 },
    );
    await connection.close();
  });

  it('refuses connections without a password', async () => {
    const refused = await connect({ servers: [...cluster.urls], reconnect: false }).catch((error: unknown) => error);
    expect(String(refused)).to.match(/authoriz/i);
  });

  async function connected(): Promise<NatsConnection> {
    return connect({
      servers: [...cluster.urls],
      user: cluster.user,
      pass: cluster.password,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
    });
  }
});
