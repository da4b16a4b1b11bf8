/**
 * The size of a database in the statistics, in the meter's log and in the history of minutes, over kills and starts.
 * Proves SM2.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, JetStreamMeterLog, Names, NatsBus } from '../../src/adapters/nats/index.js';
import { decodeMeterRecord } from '../../src/codec/control/index.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import type { MeterKvGauge } from '../../src/protocol/index.js';
import { askOverBus, StatisticsClient } from '../../src/query/index.js';
import { eventually } from '../support/eventually.js';
import { endEverything, type MillraceProcess, startMillrace, temporaryDirectory } from '../support/millrace-process.js';

const PIPELINES = 150;
const KEYS_OF_ONE = 1000;
const KEYS = PIPELINES * KEYS_OF_ONE;
const COUNTED = { timeoutMs: 60_000, everyMs: 100 };

describe('the number of keys and the bytes of a database', function () {
  this.timeout(180_000);
  let dataDir: string;
  let millrace: MillraceProcess;
  let database: DatabaseId;

  before(async () => {
    dataDir = await temporaryDirectory();
    millrace = await startMillrace({ dataDir });
    for (let one = 0; one < PIPELINES; one += 1) {
      const sets = Array.from({ length: KEYS_OF_ONE }, (_, key) => ['SET', `key-${one}-${key}`, `value-${key}`]);
      expect((await millrace.kv.pipeline(sets)).kind).to.equal('done');
    }
    await millrace.kv.ask('HSET', 'hash', 'field', 'value');
  });
  after(endEverything);

  async function looking() {
    const file = await readFile(join(dataDir, 'nats/client.json'), 'utf8');
    const { url, user, password } = JSON.parse(file) as Record<'url' | 'user' | 'password', string>;
    const connections = await connect({ servers: [url], user, password });
    const names = new Names('');
    const gauges: MeterKvGauge[] = [];
    const meterLog = new JetStreamMeterLog(connections, names);
    const following = meterLog.follow(1, {
      onMessage: ({ bytes }) => gauges.push(...(decodeMeterRecord(bytes).kvGauges ?? [])),
      onAlive: () => undefined,
    });
    const statistics = new StatisticsClient(askOverBus(new NatsBus(connections, names), 'query', 5000));
    return {
      gauges,
      shown: () => statistics.database(database, '1h', Date.now()),
      close: async () => {
        following.stop();
        await connections.close();
      },
    };
  }

  it('are never reported below their true values while a process loads the database', async () => {
    let look = await looking();
    const { keys, storageBytes } = await eventually(() => {
      const whole = look.gauges.find((gauge) => gauge.keys === KEYS + 1);
      if (whole === undefined) throw new Error(`told: ${JSON.stringify(look.gauges)}`);
      database = whole.database;
      return whole;
    }, COUNTED);
    await eventually(async () => expect((await look.shown()).current.keys).to.equal(keys), COUNTED);
    await look.close();
    const ofDatabase = () => look.gauges.filter((gauge) => gauge.database === database);
    const lastEpoch = Math.max(...ofDatabase().map(({ epoch = 0 }) => epoch));
    await millrace.kill();
    millrace = await startMillrace({ dataDir });
    look = await looking();
    await eventually(async () => {
      const { current } = await look.shown();
      expect(current.keys).to.equal(keys);
      expect(current.storageBytes).to.equal(storageBytes);
      expect(ofDatabase().some(({ epoch = 0 }) => epoch > lastEpoch)).to.equal(true);
    }, COUNTED);
    for (const gauge of ofDatabase().filter(({ epoch = 0 }) => epoch > lastEpoch)) {
      expect(gauge).to.deep.include({ keys, storageBytes });
    }
    const { keys: minutes, storageBytes: bytes, days } = await look.shown();
    expect([minutes.at(-1), bytes.at(-1), days.at(-1)?.storageBytes]).to.deep.equal([keys, storageBytes, storageBytes]);
    await look.close();
  });
});
