/** The files of the read models stay as large as their contents, for any amount of writes. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DatabaseId } from '../../../src/kernel/index.js';
import type { Checkpoint } from '../../../src/projections/checkpoint.js';
import { MessageLogStore } from '../../../src/projections/message-log/index.js';
import { StatsReader } from '../../../src/projections/stats/stats-reader.js';
import type { StatsCheckpoint } from '../../../src/projections/stats/stats-store.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { CLUSTER } from '../../spec/journal/shard-history.js';
import { eventually } from '../../support/eventually.js';
import {
  ACCOUNT,
  ANYTHING,
  accepted,
  bodyOf,
  delivered,
  MessageLogStand,
  QUEUE_SHARD,
  T0,
} from '../../support/message-log-stand.js';
import { silentLog } from '../../support/silent-log.js';
import { DAY, kvRow, MINUTE, MONDAY, StatsStand, sessionOf } from './stats/stats-stand.js';

const MIB = 1024 * 1024;
/** The bound of a write-ahead log: the bytes before a checkpoint, and some of the largest transactions. */
const WAL_BYTES = 24 * MIB;

function bytesOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

describe('the files of the read models', () => {
  it("bound the message log's write-ahead log while lists are read, one of them half-way", async () => {
    const stand = new MessageLogStand();
    const store = new MessageLogStore(stand.files(), silentLog, {
      clusterId: CLUSTER,
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 100 },
    });
    let at: Checkpoint = { createdAt: '', position: 0, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: false };
    const halfWay = [];
    try {
      for (let round = 0; round < 48; round += 1) {
        const ids = Array.from({ length: 50 }, (_, index) => `msg_${round}_${index}`);
        await stand.store(
          ids.flatMap((id) => [
            accepted(id, { atMs: T0 + round, body: bodyOf(id.padEnd(12_000, '.')) }),
            delivered(id, T0 + round),
          ]),
        );
        at = store.apply(QUEUE_SHARD, stand.reads().slice(-1), at).after;
        const list = store.reader.events(ACCOUNT, { ...ANYTHING, filter: { messageId: ['msg_0_1'] } }, () => false);
        list.next();
        halfWay.push(list);
        store.reader.events(ACCOUNT, ANYTHING, () => false).next();
        while (store.isPruneDue) store.prune(T0 + round);
      }
      expect(bytesOf(join(stand.folder, 'messages.db-wal'))).to.be.below(WAL_BYTES);
      expect(halfWay).to.have.length(48);
    } finally {
      store.close();
      await stand.end();
    }
  });

  it('shrink the message log after retention has removed rows', async () => {
    const stand = new MessageLogStand();
    try {
      for (let round = 0; round < 20; round += 1) {
        const ids = Array.from({ length: 50 }, (_, index) => `msg_${round}_${index}`);
        await stand.store(ids.flatMap((id) => [accepted(id, { body: bodyOf(id.padEnd(12_000, '.')) }), delivered(id)]));
      }
      const models = stand.open();
      await eventually(() => {
        if (!models.status().isCaughtUp) throw new Error('not folded yet');
      });
      models.limitEvents([[ACCOUNT, 10]]);
      await stand.untilPruned(models, 10);
      const path = join(stand.folder, 'messages.db');
      await eventually(async () => {
        await models.events(ACCOUNT, ANYTHING, 0);
        const pages = bytesOf(path);
        if (pages > 8 * MIB) throw new Error(`${pages} bytes for ten events`);
      });
    } finally {
      await stand.end();
    }
  });

  it("bound the statistics' write-ahead log while they are queried", async () => {
    const stand = new StatsStand();
    const store = stand.newStore();
    const reader = new StatsReader(store);
    const commandCounts = Array.from({ length: 40 }, (_, index) => [`COMMAND-${index}`, 1] as const);
    const databases = Array.from({ length: 300 }, (_, index) => `db-${String(index).padStart(16, 'a')}` as DatabaseId);
    let at: StatsCheckpoint = {
      createdAt: '',
      position: 0,
      entry: 0,
      hash: new Uint8Array(),
      clockMs: 0,
      hasGap: false,
      dlqFrom: 0,
    };
    try {
      for (let number = 1; number <= 45; number += 1) {
        const rows = databases.map((database) => kvRow({ database, commands: 40, latencies: [40], commandCounts }));
        const atMs = MONDAY + number * MINUTE;
        const record = { session: sessionOf('a'), number, day: Math.floor(atMs / DAY), atMs, connections: 0, rows };
        at = store.applyMeter(METER_SHARD, [{ position: number, record }], at).after;
        reader.database(databases[number] as DatabaseId, '1h', stand.nowMs);
      }
      expect(bytesOf(join(stand.queue.folder, 'stats.db-wal'))).to.be.below(WAL_BYTES);
    } finally {
      store.close();
      await stand.end();
    }
  });
});
