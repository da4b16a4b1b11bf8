/**
 * `millrace cluster init` and `cluster verify` on a NATS of the operator's, and starts on one that was changed. Proves
 * FIT1.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect } from 'nats';
import { connect as connectAll, Names, type NatsOptions } from '../../../src/adapters/nats/index.js';
import { decodeLayout, encodeLayout, LAYOUT_KEY, layoutStore } from '../../../src/adapters/nats/layout-record.js';
import { FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../../support/millrace-cluster.js';
import {
  type Environment,
  endEverything,
  expectServeRefused,
  runMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

describe('millrace cluster', function () {
  this.timeout(90_000);
  let nats: NatsFacts;

  beforeEach(async () => {
    nats = await startPlainNats();
  });
  afterEach(async () => {
    await endEverything();
    await nats?.stop();
  });

  it('init prepares a NATS once, also when it is run twice in parallel', async () => {
    const env = await bareEnvironment();
    const both = await Promise.all([runMillrace(['cluster', 'init'], env), runMillrace(['cluster', 'init'], env)]);
    expect(both.map(({ code, stderr }) => `${code} ${stderr}`)).to.deep.equal(['0 ', '0 ']);
    const [first, second] = both.map(({ stdout }) => stdout.toString());
    expect(first).to.match(/^cluster \S+: 1 kv shards/);
    expect(second).to.equal(first);
    const verified = await runMillrace(['cluster', 'verify'], env);
    expect(verified.code, verified.stdout.toString()).to.equal(0);
    const other = await runMillrace(['cluster', 'init'], { ...env, MILLRACE_KV_SHARDS: '2' });
    expect(other.code).to.equal(1);
  });

  it('verify reports a deleted stream, and serve is refused without it', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    const millrace = await cluster.start();
    await eventually(() => millrace.kv.ask('SET', 'k', 'v'));
    await millrace.kill('SIGTERM');
    await deleteStream('KV_0');
    const verified = await cluster.run(['cluster', 'verify']);
    expect(verified.code).to.equal(1);
    expect(verified.stdout.toString()).to.contain('KV_0');
    await expectServeRefused(await cluster.environment(await temporaryDirectory()), 'KV_0');
  });

  it('verify reports a stream that was deleted and created again, and serve is refused', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    const manager = await connected();
    const { config } = await manager.jetstream.streams.info('KV_0');
    await manager.jetstream.streams.delete('KV_0');
    await manager.jetstream.streams.add(config);
    await manager.close();
    const verified = await cluster.run(['cluster', 'verify']);
    expect(verified.code).to.equal(1);
    await expectServeRefused(await cluster.environment(await temporaryDirectory()), 'KV_0');
  });

  it('serve is refused to a program older than the stored format', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    await raiseFormat(cluster.natsOptions(), FORMAT_LEVEL + 1);
    await expectServeRefused(
      await cluster.environment(await temporaryDirectory()),
      `newer release (level ${FORMAT_LEVEL + 1}, this program reads up to ${FORMAT_LEVEL})`,
    );
  });

  it("init and serve are refused when the servers' sync setting cannot be read", async () => {
    const { MILLRACE_NATS_SYS_USER: _, MILLRACE_NATS_SYS_PASSWORD: __, ...env } = await bareEnvironment();
    const refused = await runMillrace(['cluster', 'init'], env);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.contain('system account');
    const allowed = await runMillrace(['cluster', 'init'], { ...env, MILLRACE_ALLOW_UNSYNCED: 'true' });
    expect(allowed.code, allowed.stderr).to.equal(0);
    await expectServeRefused(env, 'system account');
  });

  async function bareEnvironment(): Promise<Environment> {
    const dir = await temporaryDirectory();
    return {
      MILLRACE_DATA_DIR: dir,
      MILLRACE_NATS_URL: nats.url,
      MILLRACE_NATS_USER: nats.user,
      MILLRACE_NATS_PASSWORD: nats.password,
      MILLRACE_NATS_SYS_USER: nats.sysUser,
      MILLRACE_NATS_SYS_PASSWORD: nats.sysPassword,
      MILLRACE_KV_PORT: '0',
      MILLRACE_METRICS_PORT: '0',
      MILLRACE_QUEUE_PORT: '0',
      MILLRACE_MGMT_PORT: '0',
      MILLRACE_RESP_PORT: '0',
      MILLRACE_KV_SHARDS: '1',
      MILLRACE_QUEUE_SHARDS: '1',
    };
  }

  async function connected() {
    const connection = await connect({ servers: nats.url, user: nats.user, pass: nats.password });
    return { jetstream: await jetstreamManager(connection), close: () => connection.close() };
  }

  async function raiseFormat(options: NatsOptions, format: number): Promise<void> {
    const connections = await connectAll(options);
    const store = layoutStore(connections, new Names(''));
    const found = await store.get(LAYOUT_KEY);
    const record = { ...decodeLayout(found?.value as Uint8Array), format };
    await store.update(LAYOUT_KEY, encodeLayout(record), found?.revision as number);
    await connections.close();
  }

  async function deleteStream(name: string): Promise<void> {
    const manager = await connected();
    await manager.jetstream.streams.delete(name);
    await manager.close();
  }
});
