import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect, type NatsConnection } from 'nats';
import { eventually } from '../../support/eventually.js';
import { type NatsCluster, startNatsCluster } from '../../support/nats-cluster.js';
import { freshDirs, testServer } from './test-server.js';

const run = promisify(execFile);

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

  it('makes three nodes that all sync before they acknowledge', async () => {
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

  it('keeps a stream of three replicas writable when a node is killed, and takes the node back', async () => {
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

  it('lets nobody in without a password', async () => {
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

describe('infra/local-cluster.sh', function () {
  this.timeout(90_000);
  const fresh = freshDirs();

  it('starts the three nats-servers alone, says where they are, and stops them', async function () {
    const found = await testServer();
    if (found.version.startsWith('2.9.')) this.skip();
    const port = await freeBasePort();
    const script = (command: string): Promise<{ stdout: string }> =>
      run('infra/local-cluster.sh', [command], {
        env: {
          ...process.env,
          MILLRACE_NATS_SERVER: found.path,
          MILLRACE_CLUSTER_DIR: fresh.dir,
          MILLRACE_CLUSTER_NATS_PORT: String(port),
        },
      });
    try {
      const { stdout } = await script('nats');
      expect(stdout.trim().split('\n')).to.deep.equal(
        [1, 2, 3].map((node) => `nats-${node}: nats://127.0.0.1:${port + node - 1}`),
      );
      const text = await readFile(join(fresh.dir, 'credentials'), 'utf8');
      const pass = /^NATS_APP_PASSWORD=(.*)$/m.exec(text)?.[1] ?? '';
      const connection = await connect({ servers: `127.0.0.1:${port}`, user: 'millrace', pass });
      const manager = await eventually(() => jetstreamManager(connection, { timeout: 1000 }), { timeoutMs: 20_000 });
      const info = await eventually(() => manager.streams.add({ name: 'R3', subjects: ['r3'], num_replicas: 3 }));
      expect(info.config.num_replicas).to.equal(3);
      await connection.close();
      expect((await script('status')).stdout.match(/nats-\d: runs/g)).to.have.length(3);
    } finally {
      await script('stop');
    }
    expect((await script('status')).stdout).not.to.contain(': runs');
  });
});

/** A port below the ephemeral ones such that the script's nine are free: three, and the same 100 and 200 above. */
async function freeBasePort(): Promise<number> {
  const offsets = [0, 1, 2, 100, 101, 102, 200, 201, 202];
  for (;;) {
    const base = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (!free.includes(false)) return base;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const probe = createServer().once('error', () => answer(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => answer(true)));
  });
}
