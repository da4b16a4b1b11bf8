/** The shards of one plane in one process, over its storage in memory. Proves OS1. */
import { expect } from 'chai';
import { KvFold, KvPlane, type KvWork } from '../../../../src/actors/kv-shard/index.js';
import { ClockWatch, GuardedClock, Membership, OwnedShards, Session } from '../../../../src/actors/runtime/index.js';
import { decodeManifest } from '../../../../src/codec/envelope/index.js';
import { KvEngine } from '../../../../src/domain/kv/index.js';
import { DefiniteAppender } from '../../../../src/journal/index.js';
import { type BootTime, ROOMY } from '../../../../src/ports/index.js';
import type { Manifest } from '../../../../src/protocol/index.js';
import { JournalStand } from '../../../spec/journal/journal-stand.js';
import { ALPHA, CLUSTER, SHARD } from '../../../spec/journal/shard-history.js';
import { LIMITS } from '../../../support/kv-shard-stand.js';
import { MemoryLeaseStore, MemoryNetwork } from '../../../support/memory/index.js';
import { NO_LISTENERS } from '../../../support/no-listeners.js';
import { NO_METRICS } from '../../../support/no-metrics.js';
import { silentLog } from '../../../support/silent-log.js';

const NO_BOOT_TIME: BootTime = { bootId: undefined, sinceBootMs: () => undefined };
const TIMES = { heartbeatMs: 500, renewMs: 1000, readLeaseMs: 2000, takeoverMs: 3000, marginMs: 250 };

describe('a shard with a newest snapshot that does not load', () => {
  it('is activated from the snapshot before it, repeatedly (OS1)', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const manifests: Manifest[] = [];
    for (let round = 1; round <= 3; round += 1) {
      await world.history.batch({ [ALPHA]: [`SET round ${round}`, `SET k${round} ${'x'.repeat(100)}`] });
      if (round === 3) break;
      const { manifest } = await world.compact();
      manifests.push(decodeManifest((await world.memoryObjects.get(manifest)) as Uint8Array));
    }
    const [older, newest] = manifests as [Manifest, Manifest];
    const [damaged] = newest.partitions[0]?.segments ?? [];
    world.memoryObjects.damage(damaged?.object as string);

    const { owned, loads } = ownedShards(world);
    owned.start();
    await world.time.advance(10_000);
    const held = () => [...owned.planes()].map(({ actor, plane }) => [actor.state, plane] as const);
    expect(held()[0]?.[0]).to.equal('serving');
    expect(loads).to.deep.equal([newest.head.number, older.head.number]);
    const loaded = [...(held()[0]?.[1].loaded() ?? [])];
    expect(loaded.map(([partition, { size }]) => [partition, size])).to.deep.equal([[ALPHA, 4]]);

    // After any end of the actor, the next one does not read the damaged snapshot again.
    for (const actor of owned.host.actors()) actor.end(new Error('on purpose') as never);
    await world.time.advance(10_000);
    expect(held()[0]?.[0]).to.equal('serving');
    expect(loads.slice(2)).to.deep.equal([older.head.number]);
    void owned.stop();
    await world.time.advance(5000);
  });
});

function ownedShards(world: JournalStand) {
  const { time, journal, objects } = world;
  const leases = new MemoryLeaseStore();
  const random = { bytes: (count: number) => Uint8Array.from({ length: count }, (_, at) => at), float: () => 0.5 };
  const ports = { clock: time, timers: time, random, log: silentLog, journal, leases, objects };
  const membership = new Membership(new MemoryNetwork(time).connect(), time);
  const clock = new GuardedClock(time, NO_BOOT_TIME, { jumpMs: 500, maxSkewMs: 2000 });
  const clocks = new ClockWatch(
    { clock, boot: NO_BOOT_TIME, leases, log: silentLog },
    { maxSkewMs: 2000, takeoverMs: TIMES.takeoverMs, isAlone: true, trustsMachine: true },
    membership,
  );
  const session = new Session({ ...ports, clocks }, TIMES, membership, ['kv', 'queue']);
  /** Numbers of the snapshots that partitions were loaded from, in order. */
  const loads: number[] = [];
  const owned = new OwnedShards<KvWork, KvPlane>(
    {
      ...ports,
      appender: new DefiniteAppender(journal, time, { firstRetryMs: 20, maxRetryMs: 100 }),
      compactor: { compact: async () => Promise.reject(new Error('nothing is to be compacted')) },
      metrics: NO_METRICS,
      session,
      membership,
    },
    {
      clusterId: CLUSTER,
      isExclusive: true,
      readsNeedBarrier: false,
      actor: LIMITS,
      times: {
        ...TIMES,
        lookEveryMs: 250,
        highWaterEveryMs: 1000,
        settleMs: 2000,
        restartBackoffMs: 250,
        followedWithinMs: 6000,
      },
      snapshots: { entries: 1e9, bytes: 1e9, idleMs: 1e9, retainMs: 1e9, retryMs: 1000 },
    },
    {
      shards: [SHARD],
      createPlane: ({ loadPartition }) =>
        new KvPlane(
          {
            clock: time,
            timers: time,
            log: silentLog,
            storage: ROOMY,
            ...NO_LISTENERS,
            createFold: () => new KvFold(new KvEngine(random, { nowMicros: () => 0, info: () => new Map() })),
            loadPartition: (partition, fold) => {
              const [segment] = partition.segments;
              loads.push(Number(/(\d{10,})/.exec(segment?.object ?? '')?.[1]));
              return loadPartition(partition, fold);
            },
          },
          { expiryKeysPerTick: 100, expiryEveryMs: 100, passivateAfterMs: 600_000 },
        ),
      serve: () => {},
    },
  );
  membership.start();
  void session.start();
  return { owned, loads };
}
