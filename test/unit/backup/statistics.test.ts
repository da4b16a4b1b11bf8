/** A backup includes the counted usage, also of records that the meter log no longer has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteFiles } from '../../../src/adapters/sqlite/index.js';
import { encodeMeterRecord } from '../../../src/codec/control/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { StatisticsModel } from '../../../src/projections/index.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { CLUSTER } from '../../spec/journal/shard-history.js';
import { eventually } from '../../support/eventually.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';
import { DATABASE, HOUR, kvRow, MINUTE, MONDAY, sessionOf, sum } from '../projections/stats/stats-stand.js';
import { MemoryFiles, MemoryInstallation, verify } from './stand.js';

const NOW = MONDAY + HOUR;

describe('statistics in a backup', () => {
  let folder: string;
  const opened: StatisticsModel[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-backed-up-'));
  });
  afterEach(async () => {
    for (const model of opened.splice(0)) await model.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function open({ memoryJournal: journal, memoryObjects: objects, installation }: MemoryInstallation, name: string) {
    const clock = { nowMs: () => NOW, monotonicMs: () => realTime.monotonicMs() };
    const bodies = { read: async () => new Uint8Array() };
    const ports = { clock, timers: realTime, journal, objects, bodies, log: silentLog };
    const model = new StatisticsModel(ports, new SqliteFiles(join(folder, name)), {
      clusterId: installation.clusterId,
      shards: ['QUEUE_0' as ShardName],
      follower: { lingerMs: 1, retryMs: 10 },
      snapshots: { writer: 'process', maxAgeMs: 0, lookEveryMs: 5 },
    });
    model.start();
    opened.push(model);
    return model;
  }

  async function use(of: MemoryInstallation, number: number): Promise<void> {
    const atMs = MONDAY + number * MINUTE;
    const rows = [kvRow({ commands: number })];
    const day = Math.floor(atMs / (24 * HOUR));
    await of.put(METER_SHARD, encodeMeterRecord({ session: sessionOf('a'), number, day, atMs, connections: 0, rows }));
  }

  it('continue in a restored installation with all earlier counts', async () => {
    const before = new MemoryInstallation(1, 1, CLUSTER);
    const live = open(before, 'before.db');
    for (let number = 1; number <= 6; number += 1) {
      await use(before, number);
      await eventually(async () => {
        const found = await before.memoryObjects.list('statistics/manifest/');
        expect(found.at(-1)?.name).to.match(new RegExp(`0${number}$`));
      });
    }
    await eventually(() => expect(live.status().meterCoveredUpTo).to.equal(5));
    await before.memoryJournal.truncateFront(METER_SHARD, 5);
    await live.stop();
    opened.length = 0;
    await use(before, 7);
    const files = new MemoryFiles();
    await before.backup(files);
    await verify(files);

    const after = new MemoryInstallation(1, 1, 'the-restored');
    await after.restore(files);
    await use(after, 8);
    const { commands } = await open(after, 'after.db').database(DATABASE, '1h', NOW);
    expect(sum(commands)).to.equal(1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  });

  it('that do not read back are reported', async () => {
    const before = new MemoryInstallation(1, 1, CLUSTER);
    open(before, 'before.db');
    await use(before, 1);
    await eventually(async () => {
      expect(await before.memoryObjects.list('statistics/manifest/')).to.have.length(1);
    });
    const files = new MemoryFiles();
    const manifest = await before.backup(files);
    expect(manifest.statistics).to.have.length(1);
    files.files.delete('statistics/objects-00000');
    let refusal = '';
    await verify(files).catch((error: Error) => {
      refusal = error.message;
    });
    expect(refusal).to.contain('statistics/objects-00000 of the backup is missing');
  });
});
