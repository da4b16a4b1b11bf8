/**
 * Processes that start before their NATS is available or prepared, and faults that waiting cannot repair. Proves FIT2,
 * LSK1 and LSK2.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { MillraceCluster, startPlainNats } from '../../support/millrace-cluster.js';
import {
  type Environment,
  endEverything,
  expectServeRefused,
  runMillrace,
  startMillrace,
  temporaryDirectory,
  watchMillrace,
} from '../../support/millrace-process.js';

const BACK_TIMEOUT_MS = 60_000;

describe('serve in a cluster', function () {
  this.timeout(180_000);
  let nats: Awaited<ReturnType<typeof startPlainNats>>;

  beforeEach(async () => {
    nats = await startPlainNats();
  });
  afterEach(async () => {
    await endEverything();
    await nats?.stop();
  });

  it('waits for its NATS server, names it in /readyz, and serves once it is there', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    await nats.kill();
    const { env, probe } = await probed(cluster);
    const starting = startMillrace({ env });
    await eventually(async () => expect((await probe('/readyz')).text).to.contain('no NATS server'));
    expect((await probe('/livez')).status).to.equal(200);
    expect((await probe('/readyz')).status).to.equal(503);
    await nats.start();
    const millrace = await starting;
    await eventually(() => millrace.kv.ask('SET', 'k', 'v'), { timeoutMs: BACK_TIMEOUT_MS });
    await eventually(async () => expect((await probe('/readyz')).status).to.equal(200));
  });

  it('waits for `cluster init` on a NATS that is not prepared', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    const { env, probe } = await probed(cluster, { MILLRACE_NATS_PREFIX: 'later' });
    const starting = startMillrace({ env });
    await eventually(async () => expect((await probe('/readyz')).text).to.contain('millrace cluster init'));
    expect((await runMillrace(['cluster', 'init'], env)).code).to.equal(0);
    const millrace = await starting;
    await eventually(() => millrace.kv.ask('SET', 'k', 'v'), { timeoutMs: BACK_TIMEOUT_MS });
  });

  it('ends in order on SIGTERM while it waits', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    await nats.kill();
    const { env, probe } = await probed(cluster);
    const waiting = watchMillrace(['serve'], env);
    await eventually(async () => expect((await probe('/readyz')).text).to.contain('no NATS server'));
    expect(await waiting.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('is refused with another seal key, and `cluster adopt-key` fetches the shared one', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    await cluster.start();
    const dir = await temporaryDirectory();
    const elsewhere = join(dir, 'seal.key');
    const env = { ...(await cluster.environment(dir)), MILLRACE_SEAL_KEY_FILE: elsewhere };
    await expectServeRefused(env, `there is no seal key`);
    await writeFile(elsewhere, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    await expectServeRefused(env, `${elsewhere} holds seal key`);
    expect((await runMillrace(['cluster', 'adopt-key'], env)).code).to.equal(0);
    const adopted = await startMillrace({ env });
    await eventually(() => adopted.kv.ask('SET', 'k', 'v'), { timeoutMs: BACK_TIMEOUT_MS });
  });

  it('is not ready while a server does not sync every write, and is ready again when it does', async () => {
    const cluster = await MillraceCluster.prepare(nats);
    const { env, probe } = await probed(cluster);
    const millrace = await startMillrace({ env });
    await nats.kill();
    await nats.start({ syncAlways: false });
    await eventually(async () => expect((await probe('/readyz')).text).to.contain('sync_interval: always'));
    expect(millrace.stderr()).to.contain('nats.servers_unfit');
    await nats.kill();
    await nats.start({ syncAlways: true });
    await eventually(async () => expect((await probe('/readyz')).status).to.equal(200));
  });

  async function probed(cluster: MillraceCluster, settings: Environment = {}) {
    const port = await freePort();
    const environment = await cluster.environment(await temporaryDirectory());
    const env = { ...environment, MILLRACE_METRICS_PORT: String(port), ...settings };
    const probe = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    return { env, probe };
  }
});
