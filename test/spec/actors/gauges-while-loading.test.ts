import { expect } from 'chai';
import { KvGauges } from '../../../src/actors/kv-shard/index.js';
import type { KvGauge } from '../../../src/ports/index.js';
import { KvClusterStand } from '../../support/kv-cluster-stand.js';
import { KvShardStand } from '../../support/kv-shard-stand.js';

const KEYS = 530;
const HELD_AFTER = 200;

describe('the size gauge of a database while its shard is loading', () => {
  let stand: KvShardStand;
  let told: KvGauge[];
  let gauges: KvGauges;

  beforeEach(async () => {
    stand = new KvShardStand();
    told = [];
    gauges = new KvGauges({
      clock: stand.time,
      timers: stand.time,
      meter: { gaugeKv: (gauge) => told.push(gauge), recordLookups: () => undefined },
      owners: function* () {
        for (const [at, actor] of stand.actors.entries()) {
          const plane = stand.planes[at];
          if (plane !== undefined) yield { actor, plane };
        }
      },
    });
    const before = await stand.serving();
    for (let key = 0; key < KEYS; key += 1) {
      stand.send(before, `SET key-${key} value`);
      await stand.settle();
    }
    before.fail(new Error('killed'));
    await stand.settle();
  });

  afterEach(() => {
    gauges.stop();
    for (const each of stand.actors) each.fail(new Error('the test is over'));
  });

  it('is not reported before the shard serves, and is then reported in full', async () => {
    let letOn = () => {};
    const held = new Promise<void>((resolve) => {
      letOn = resolve;
    });
    const { read } = stand.journal;
    let replayed = 0;
    stand.journal.read = async function* (...range) {
      for await (const message of read(...range)) {
        replayed += 1;
        if (replayed === HELD_AFTER) await held;
        yield message;
      }
    };
    const actor = stand.activate();
    gauges.start();
    const started = actor.start();
    await stand.time.advance(60_000);
    expect([actor.state, replayed]).to.deep.equal(['replaying', HELD_AFTER]);
    expect(stand.planes[1]?.loaded().next().value?.[1].engine.keyspace.size).to.be.within(1, HELD_AFTER);
    expect(told).to.deep.equal([]);
    letOn();
    await started;
    await stand.time.advance(1000);
    expect(told.map(({ keys, epoch }) => ({ keys, epoch }))).to.deep.equal([{ keys: KEYS, epoch: 2 }]);
  });
});

describe('the size gauge of a database during a move of its shard', () => {
  it('is reported by one owner after the other, with rising epochs, and never by a process that lost the shard', async () => {
    const stand = new KvClusterStand();
    const told: (KvGauge & { process: number })[] = [];
    const start = async (number: number) => {
      const process = await stand.start();
      const { time } = stand;
      const gauges = new KvGauges({
        clock: time,
        timers: time,
        meter: { gaugeKv: (gauge) => told.push({ ...gauge, process: number }), recordLookups: () => undefined },
        owners: () => process.owned(),
      });
      gauges.start();
      return { process, gauges };
    };
    const until = async (isSo: () => boolean) => {
      for (let waited = 0; !isSo(); waited += 100) {
        if (waited > 120_000) throw new Error(`told: ${JSON.stringify(told)}`);
        await stand.time.advance(100);
      }
    };
    const first = await start(1);
    await until(() => stand.owners().length === 1);
    for (let key = 0; key < 30; key += 1) await first.process.run(`SET key-${key} value`);
    await until(() => told.at(-1)?.keys === 30);
    const second = await start(2);
    await stand.time.advance(5000);
    const owner = stand.owners()[0] === first.process ? first : second;
    const other = owner === first ? second : first;
    owner.process.disconnect();
    await until(() => stand.owners().includes(other.process));
    const after = told.length;
    for (let key = 30; key < 40; key += 1) await other.process.run(`SET key-${key} value`);
    await until(() => told.at(-1)?.keys === 40);
    await stand.time.advance(30_000);
    const since = told.slice(after);
    expect(since.every(({ keys }) => keys >= 30)).to.equal(true);
    expect(new Set(since.map(({ process }) => process))).to.deep.equal(new Set([other === first ? 1 : 2]));
    const epochs = told.map(({ epoch }) => epoch);
    expect(epochs).to.deep.equal([...epochs].sort((a, b) => a - b));
    expect(new Set(epochs).size).to.be.greaterThan(1);
    for (const { gauges } of [first, second]) gauges.stop();
    stand.end();
  });
});
