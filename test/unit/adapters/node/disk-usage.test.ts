/** The bytes of each part, as `/metrics` shows them. Proves DU1. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { DiskUsage } from '../../../../src/adapters/node/disk-usage.js';
import { PromMetrics } from '../../../../src/adapters/node/index.js';
import { realTime } from '../../../support/real-time.js';
import { silentLog } from '../../../support/silent-log.js';
import { directoryOf } from '../../../support/stand-hooks.js';

describe('the disk usage metrics', () => {
  const dataDir = directoryOf('each test');

  function put(path: string, bytes: number): void {
    mkdirSync(dirname(join(dataDir.path, path)), { recursive: true });
    writeFileSync(join(dataDir.path, path), new Uint8Array(bytes));
  }

  async function shown(streams: Readonly<Record<string, number>>, total: number, isAway = false) {
    const metrics = new PromMetrics({ withProcess: false });
    const streamSizes = () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(Object.entries(streams)));
    const parts = {
      dataDir: dataDir.path,
      streamSizes,
      total: { bytes: total },
      metrics,
      timers: realTime,
      log: silentLog,
    };
    const usage = new DiskUsage(parts);
    await usage.start();
    const { text } = await metrics.page();
    usage.stop();
    const lines = text.split('\n').filter((line) => /^millrace_(disk|journal)_/.test(line));
    return Object.fromEntries(
      lines.map((line) => {
        const [name = '', value] = line.split(' ');
        return [/part="([^"]+)"/.exec(name)?.[1] ?? name, Number(value)];
      }),
    );
  }

  it('show the bytes of streams by content, and of files below the data directory', async () => {
    put('nats/store/jetstream/APP/streams/KV_0/msgs/1.blk', 1000);
    put('nats/nats.log', 20);
    put('nats/nats.log.2026.01.01', 30);
    put('nats/client.json', 5);
    put('read-models/messages.db', 400);
    put('read-models/messages.db-wal', 40);
    put('read-models/messages.db.next', 4);
    put('read-models/stats.db', 300);
    put('credentials.env', 7);
    const streams = { KV_0: 10, KV_1: 20, QUEUE_0: 40, CONTROL: 5, INTAKE_0: 6, METER: 7, leases: 8, layout: 1 };
    const {
      millrace_disk_free_bytes: free,
      millrace_disk_size_bytes: size,
      ...bytes
    } = await shown({ ...streams, snapshots: 90 }, 70);
    expect(free).to.be.within(0, size as number);
    expect(bytes).to.deep.equal({
      'journals-kv': 30,
      'journals-queue': 40,
      'journal-control': 5,
      intakes: 6,
      meter: 7,
      leases: 9,
      objects: 90,
      'jetstream-files': 1000,
      'server-log': 50,
      'message-log': 444,
      statistics: 300,
      other: 12,
      millrace_journal_total_bytes: 70,
      millrace_journal_excess_bytes: 5,
    });
  });

  it('are empty without a data directory, and unknown while NATS does not answer', async () => {
    rmSync(dataDir.path, { recursive: true });
    const bytes = await shown({ KV_0: 10 }, 10);
    expect([bytes['journals-kv'], bytes['jetstream-files'], bytes.millrace_journal_excess_bytes]).to.deep.equal([
      10, 0, 0,
    ]);
    expect(bytes).not.to.have.property('millrace_disk_free_bytes');
    expect((await shown({}, 10, true))['journals-kv']).to.equal(0);
  });
});
