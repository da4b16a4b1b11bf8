/** A replayed database on a separate port. Proves RS2. */
import { expect } from 'chai';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import { keyedKvFold, type ReplayServer, serveReplay } from '../../../src/replay/index.js';
import { effects } from '../../spec/journal/shard-history.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const PARTITION = `kv:${DATABASE}:0` as PartitionName;
const AT_MS = 1_790_000_000_000;
const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };
const LIVE_TOKEN = 'opens-the-database-now';

describe('a replayed database on a port', () => {
  let server: ReplayServer;
  afterEach(() => server.close());

  it('charges no limit of the database, for any token (RS2)', async () => {
    // Limits of one command a day and a second: code that counts would refuse or slow the next one.
    const limits = { maxCommandBytes: 1000, maxRequestsPerDay: 1, maxCommandsPerSecond: 1, maxBytesPerMonth: 1 };
    const live: KvGrant = { database: DATABASE, partitions: [PARTITION], role: 'standard', user: 'default', limits };
    const asked: string[] = [];
    const access = {
      grantFor: (token: string) => {
        asked.push(token);
        return token === LIVE_TOKEN ? live : undefined;
      },
    };
    const fold = keyedKvFold(RANDOM, () => AT_MS);
    fold.apply(effects('SET k v'));
    const part = { partition: PARTITION, fold, position: 7, index: 1, hash: new Uint8Array(32) };
    server = await serveReplay(
      { clock: realTime, timers: realTime, random: RANDOM, log: silentLog, access },
      DATABASE,
      { atMs: AT_MS, shards: [], parts: [part] },
      { host: '127.0.0.1', port: 0, maxCommandBytes: 1000 },
    );
    for (const token of [LIVE_TOKEN, server.token]) {
      for (let time = 0; time < 20; time += 1) {
        const answer = await fetch(`${server.url}/get/k`, { headers: { Authorization: `Bearer ${token}` } });
        expect([answer.status, await answer.json()], token).to.deep.equal([200, { result: 'v' }]);
      }
    }
    // The replay server only checks access to the live database: it has no port that could count commands.
    expect(new Set(asked)).to.deep.equal(new Set([LIVE_TOKEN]));
  });
});
