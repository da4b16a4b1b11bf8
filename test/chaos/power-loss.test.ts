/**
 * The power fails: every process is frozen, and only the bytes that were synced are on the disk afterwards. Acknowledged
 * writes are present: with the embedded nats-server, also encrypted, and with three, of which all, two or one lose their power.
 *
 * POWER_ROUNDS=10 repeats each case so often; CI has time for one. POWER_DOCUMENTS=50000 is the size of a full-text index,
 * the file of which is not synced. It takes root and loop devices.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect } from 'nats';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { endLedgers, Ledger } from '../support/ledger.js';
import { MillraceCluster } from '../support/millrace-cluster.js';
import {
  embeddedEnvironment,
  endEverything,
  signalPid,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { type NatsCluster, startNatsCluster } from '../support/nats-cluster.js';
import { findNatsServer, type NatsServer, startNatsServer } from '../support/nats-server.js';
import { PowerDisk } from '../support/power-disk.js';
import { seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const ROUNDS = Number(process.env.POWER_ROUNDS ?? '1');
const MS_FOR_A_ROUND = 60_000;
const BACK_TIMEOUT_MS = 50_000;
const ACKED = 100;
const KEY = Buffer.alloc(32, 7).toString('base64');
/** Enough for a file of the index. */
const DOCUMENTS = Number(process.env.POWER_DOCUMENTS ?? '6000');

describe('after a loss of power', function () {
  this.timeout(60_000 + ROUNDS * MS_FOR_A_ROUND);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  const disks: PowerDisk[] = [];
  const readers: KvClient[] = [];
  let servers: NatsCluster | undefined;
  let unsynced: NatsServer | undefined;

  before(async function () {
    if ((await newDisk()) !== undefined) return;
    console.log('      skipped: this takes root and loop devices');
    this.skip();
  });
  after(async () => {
    endLedgers();
    for (const reader of readers) reader.close();
    await endEverything();
    await servers?.stop();
    await unsynced?.stop();
    await Promise.all(disks.map((disk) => disk.unmount()));
  });

  async function newDisk(): Promise<PowerDisk | undefined> {
    const disk = await PowerDisk.mounted(join(await temporaryDirectory(), 'power'));
    if (disk !== undefined) disks.push(disk);
    return disk;
  }
  const disk = async () => (await newDisk()) as PowerDisk;
  function readerOf(url: string): KvClient {
    const reader = new KvClient({ url, token: TOKEN });
    readers.push(reader);
    return reader;
  }

  /** Each word is in a tenth of the documents. */
  async function indexed(kv: KvClient): Promise<void> {
    await kv.ask('SEARCH.CREATE', 'words', 'ON', 'HASH', 'PREFIX', 1, 'doc:', 'SCHEMA', 'text', 'TEXT');
    for (let from = 0; from < DOCUMENTS; from += 1000) {
      const numbers = Array.from({ length: Math.min(1000, DOCUMENTS - from) }, (_, at) => from + at);
      const written = await kv.pipeline(numbers.map((at) => ['HSET', `doc:${at}`, 'text', `word${at % 10} common`]));
      expect(written.kind).to.equal('done');
    }
    expect(await kv.ask('SEARCH.WAITINDEXING', 'words')).to.equal(1);
  }

  /** An answer is an error while the index is built, and otherwise has every document. */
  async function expectIndexed(kv: KvClient): Promise<void> {
    const count = await eventually(() => kv.ask('SEARCH.COUNT', 'words', '{"text":{"$eq":"word7"}}'), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    expect(count).to.equal(DOCUMENTS / 10);
  }

  const filesOf = (dataDir: string) =>
    readdirSync(join(dataDir, 'indexes'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.index'),
    );

  it('a nats-server that does not sync has lost acknowledged messages, so the method shows a loss', async () => {
    const power = await disk();
    unsynced = await startNatsServer({ syncAlways: false, storeDir: join(power.path, 'store') });
    const connection = await connect({ servers: [unsynced.url] });
    await (await jetstreamManager(connection)).streams.add({ name: 'probe', subjects: ['probe'] });
    const stream = jetstream(connection);
    for (let n = 0; n < 100; n += 1) await stream.publish('probe', `message ${n}`);
    await connection.close();
    await power.probe();
    await unsynced.pause();
    await power.losePower(async () => unsynced?.kill());
    await unsynced.start();
    const again = await connect({ servers: [unsynced.url] });
    const names = await (await jetstreamManager(again)).streams.names().next();
    const kept = names.includes('probe')
      ? (await (await jetstreamManager(again)).streams.info('probe')).state.messages
      : 0;
    await again.close();
    expect(kept).to.be.lessThan(100);
  });

  const embedded = (key: Record<string, string>) => async () => {
    const power = await disk();
    const dataDir = join(power.path, 'data');
    const env = { ...(await embeddedEnvironment(dataDir)), MILLRACE_SNAPSHOT_ENTRIES: '400', ...key };
    let millrace = await startMillrace({ dataDir, env });
    const ledger = await Ledger.start({ dir: await temporaryDirectory(), urls: [millrace.kvUrl], token: TOKEN, seed });
    const reader = readerOf(millrace.kvUrl);
    await indexed(millrace.kv);
    await eventually(() => expect(filesOf(dataDir)).to.have.length(1), { timeoutMs: BACK_TIMEOUT_MS });
    for (let round = 0; round < ROUNDS; round += 1) {
      await ledger.progress(ACKED + random.below(ACKED), BACK_TIMEOUT_MS);
      await power.probe();
      await ledger.progress(20, BACK_TIMEOUT_MS);
      const server = await millrace.natsPid();
      signalPid(server, 'SIGSTOP');
      await millrace.freeze();
      await power.losePower(async () => {
        await millrace.kill();
        signalPid(server, 'SIGKILL');
        await eventually(() => expect(() => process.kill(server, 0)).to.throw());
      });
      await ledger.settleUnknown();
      millrace = await startMillrace({ dataDir, env });
      await ledger.check([reader]);
      await expectIndexed(millrace.kv);
    }
    await ledger.stop();
    console.log(`      ${JSON.stringify({ rounds: ROUNDS, ...(await ledger.counts()) })}`);
    await millrace.kill('SIGTERM');
  };
  const WHOLE = 'has every acknowledged write, and a full-text index every document';
  it(`the embedded nats-server ${WHOLE}`, embedded({}));
  it(`encrypted data ${WHOLE}`, embedded({ MILLRACE_ENCRYPTION_KEY: KEY }));

  describe('three nats-servers', () => {
    let cluster: NatsCluster;
    let powers: readonly PowerDisk[];
    let ledger: Ledger;
    let reader: KvClient;

    before(async () => {
      powers = [await disk(), await disk(), await disk()];
      const stores = powers.map(({ path }) => join(path, 'store'));
      cluster = await startNatsCluster(findNatsServer(), { stores });
      servers = cluster;
      const prepared = await MillraceCluster.prepare({ ...cluster, url: cluster.urls.join(',') });
      const { kvUrl } = await prepared.start();
      ledger = await Ledger.start({ dir: await temporaryDirectory(), urls: [kvUrl], token: TOKEN, seed });
      reader = readerOf(kvUrl);
    });

    for (const [lost, count] of [
      ['all three', 3],
      ['two', 2],
      ['one', 1],
    ] as const) {
      it(`of which ${lost} lost their power have every acknowledged write`, async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const first = random.below(powers.length);
          const hit = powers.map((_, at) => at).filter((at) => (at - first + powers.length) % powers.length < count);
          await ledger.progress(ACKED + random.below(ACKED), BACK_TIMEOUT_MS);
          for (const at of hit) await powers[at]?.probe();
          await ledger.progress(20, BACK_TIMEOUT_MS);
          for (const at of hit) cluster.nodes[at]?.freeze();
          await Promise.all(hit.map((at) => powers[at]?.losePower(async () => cluster.nodes[at]?.kill())));
          for (const at of hit) cluster.nodes[at]?.start();
          await eventually(() => Promise.all(cluster.nodes.map((node) => node.expectHealthy())), {
            timeoutMs: BACK_TIMEOUT_MS,
          });
          await ledger.progress(20, BACK_TIMEOUT_MS);
          await ledger.check([reader]);
        }
        console.log(`        ${JSON.stringify({ rounds: ROUNDS, ...(await ledger.counts()) })}`);
      });
    }
  });
});
