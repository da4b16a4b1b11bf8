/** The partitions that a turn looks at for expired keys. */
import { expect } from 'chai';
import { KvEngine } from '../../../src/domain/kv/index.js';
import type { PartitionName, SessionId } from '../../../src/kernel/index.js';
import { KvShardStand } from '../../support/kv-shard-stand.js';

const partition = (n: number) => `kv:db-aaaaaaaaaaaaaaaa:${n}` as PartitionName;

/** Counts how often each engine is asked for its expiries. */
function countLooks(engines: ReadonlyMap<PartitionName, KvEngine>): ReadonlyMap<PartitionName, number> {
  const looks = new Map<PartitionName, number>();
  for (const [name, engine] of engines) {
    looks.set(name, 0);
    Object.defineProperty(engine, 'hasExpiries', {
      get: () => {
        looks.set(name, (looks.get(name) ?? 0) + 1);
        return Reflect.get(KvEngine.prototype, 'hasExpiries', engine);
      },
    });
  }
  return looks;
}

describe('expired keys of a shard with many partitions', () => {
  it('are looked for only in partitions with keys that expire', async () => {
    const stand = new KvShardStand();
    const actor = await stand.serving();
    const set = (n: number, ...more: string[]) =>
      stand.ask(actor, { partition: partition(n), commands: [['SET', 'key', 'value', ...more]] });
    for (let n = 0; n < 50; n += 1) set(n);
    await stand.settle();
    set(7, 'PX', '500');
    await stand.time.advance(200);
    const engines = new Map([...stand.planes[0]!.loaded()].map(([name, { engine }]) => [name, engine]));
    const looks = countLooks(engines);
    for (let round = 0; round < 10; round += 1) {
      set(0);
      await stand.time.advance(100);
    }
    expect(looks.get(partition(1))).to.equal(0);
    expect(looks.get(partition(7))).to.be.above(0);
    expect(engines.get(partition(7))?.keyspace.size).to.equal(0);
  });

  it('are removed after a restart in partitions without a command', async () => {
    const stand = new KvShardStand();
    const first = await stand.serving();
    stand.ask(first, { partition: partition(1), commands: [['SET', 'key', 'value', 'PX', '500']] });
    await stand.settle();
    await first.drain();
    await stand.serving();
    await stand.time.advance(1000);
    const sizes = [...stand.planes[1]!.loaded()].map(([, { engine }]) => engine.keyspace.size);
    expect(sizes).to.deep.equal([0]);
  });

  it('do not keep silent listeners of partitions without expiries', async () => {
    const stand = new KvShardStand();
    const actor = await stand.serving();
    const edge = 'node-a/1' as SessionId;
    const listen = { edge, isWhole: true, counts: [['channel', 'news', 1]] as const };
    stand.ask(actor, { mode: 'listen', listen });
    await stand.settle();
    const receivers = async () => {
      const { replies } = await settled(stand, stand.send(actor, 'PUBLISH news hello'));
      return replies?.[0];
    };
    expect(await receivers()).to.equal(1);
    await stand.time.advance(16_000);
    await receivers();
    expect(await receivers()).to.equal(0);
  });
});

async function settled<T>(stand: KvShardStand, outcome: T): Promise<T> {
  await stand.time.advance(200);
  return outcome;
}
