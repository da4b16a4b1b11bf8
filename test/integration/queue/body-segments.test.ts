/**
 * Bodies stored with a snapshot, on a real journal and a real object store: large, in chunks, and long after their
 * entry.
 */
import { expect } from 'chai';
import { type CompactionLimits, DEFAULT_COMPACTION_LIMITS, verifyShard } from '../../../src/journal/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { KEEP_NOTHING } from '../../spec/journal/journal-stand.js';
import { BodyStand } from '../../support/body-stand.js';
import { JetStreamStand } from '../../support/jetstream-stand.js';
import { silentLog } from '../../support/silent-log.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const PREFIX = 'bodies';
const MIB = 1024 * 1024;

describe('bodies in snapshots, on JetStream', function () {
  this.timeout(60_000);
  const nats = standOfAllTests(() => JetStreamStand.start(PREFIX, { queueShards: 4 }));
  let shards = 0;

  async function freshWorld(limits: Partial<CompactionLimits> = {}): Promise<BodyStand> {
    const shard = `QUEUE_${shards++}` as ShardName;
    const all = { ...DEFAULT_COMPACTION_LIMITS, retention: KEEP_NOTHING, ...limits };
    const world = new BodyStand(nats.journal, nats.objects, all, { shard });
    await world.history.claim();
    return world;
  }

  it('are read from an entry of several MiB, and from the snapshot when that entry is removed', async () => {
    const world = await freshWorld();
    const texts = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(1.5 * MIB));
    const { numbers, position } = await world.put(...texts);
    const { read } = world.reader();
    for (const [i, number] of numbers.entries()) expect((await read(number, position)) === texts[i]).to.equal(true);
    const manifest = await world.compactAndPurge();
    expect(await nats.journal.readAt(world.history.shard, position)).to.equal(undefined);
    expect(manifest.partitions[0]?.bodySegments).to.have.length(3);
    const later = world.reader();
    for (const [i, number] of numbers.entries())
      expect((await later.read(number, position)) === texts[i]).to.equal(true);
  });

  it('move to other segments as bodies are deleted, and are found by a reader of an older snapshot', async () => {
    const world = await freshWorld({ segmentBytes: 20_000 });
    const { numbers, position } = await world.put(...Array.from({ length: 300 }, (_, i) => `${i} `.repeat(50)));
    const knowing = world.reader();
    knowing.reader.adopt(await world.compactAndPurge());
    const staying = numbers.filter((number) => number % 3 === 0);
    await world.drop(...numbers.filter((number) => number % 3 !== 0));
    await world.compactAndPurge();
    const texts = await Promise.all(staying.map((number) => knowing.read(number, position)));
    expect(texts).to.deep.equal(staying.map((number) => `${number - 1} `.repeat(50)));
    const { findings } = await verifyShard(
      { journal: nats.journal, objects: nats.objects, log: silentLog },
      world.history.shard,
    );
    expect(findings).to.deep.equal([]);
  });
});
