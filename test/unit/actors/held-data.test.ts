/** Proves HM1–HM4. */
import { expect } from 'chai';
import { DATABASE_SHARE, HeldData } from '../../../src/actors/kv-shard/index.js';
import { RESERVED_MEMORY } from '../../../src/actors/runtime/index.js';
import { KEY_OVERHEAD_BYTES, KvEngine } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import { kvPartition } from '../../../src/protocol/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

const LIMIT_BYTES = 100_000;
/** The bytes that a key of one character takes in addition to its value. */
const OVERHEAD = KEY_OVERHEAD_BYTES + 1;

function newEngine(): KvEngine {
  return new KvEngine({ bytes: (count) => new Uint8Array(count), float: () => 0 }, undefined as never);
}

describe('the data in the memory of a process', () => {
  let time: ManualTime;
  let loaded: (readonly [PartitionName, KvEngine])[];
  let held: HeldData;
  let log: MemoryLog;

  beforeEach(() => {
    time = new ManualTime();
    loaded = [];
    log = new MemoryLog();
    held = new HeldData(LIMIT_BYTES, { timers: time, log, loaded: () => loaded });
    held.start();
  });
  afterEach(() => held.stop());

  function database(letter: string, bytes: number, index = 0) {
    const id = `db-${letter.repeat(16)}` as DatabaseId;
    const name = kvPartition(id, index);
    const engine = newEngine();
    loaded.push([name, engine]);
    put(engine, bytes);
    return { id, engine };
  }

  /** The partition holds exactly this much. */
  function put(engine: KvEngine, bytes: number): void {
    engine.replay(['SET', 'k', 'x'.repeat(bytes - OVERHEAD)]);
  }

  const room = ({ id, engine }: ReturnType<typeof database>) => {
    const before = held.maxBytesOf(id, engine);
    return before - engine.bounds.countedBytes;
  };

  it('is bounded for one database by its share, in all its partitions together', () => {
    const share = LIMIT_BYTES * DATABASE_SHARE;
    const [first, second] = [database('a', share - 1000), database('a', 500, 1)];
    room(second);
    expect(room(first)).to.equal(500);
    put(second.engine, 1001);
    expect(room(second)).to.equal(-1);
  });

  it('leaves the reserved part to databases below an even share', () => {
    const large = database('a', 60_000);
    const small = database('b', 30_001);
    room(small);
    expect(room(large)).to.equal(LIMIT_BYTES * (1 - RESERVED_MEMORY) - 90_001);
    expect(room(small)).to.equal(LIMIT_BYTES - 90_001);
  });

  it('counts stored data of any size, and refuses growth of every database above the whole', () => {
    const one = database('a', 70_000);
    const other = database('b', 45_000);
    room(one);
    expect(room(other)).to.be.lessThan(0);
    expect(held.usedBytes).to.equal(115_000);
    put(one.engine, 20_000);
    room(one);
    expect(held.usedBytes).to.equal(65_000);
    expect(room(other)).to.be.greaterThan(0);
  });

  it('counts partitions that were passivated or loaded without a request within a second', async () => {
    const one = database('a', 10_000);
    room(one);
    loaded.splice(0);
    const other = database('b', 5000);
    await time.advance(1100);
    expect(held.usedBytes).to.equal(5000);
    expect(held.bytesOf('db-aaaaaaaaaaaaaaaa' as DatabaseId)).to.equal(0);
    room(other);
    expect(held.usedBytes, 'counted once').to.equal(5000);
  });

  it('is logged once a minute when little room is left', async () => {
    database('a', LIMIT_BYTES * (1 - RESERVED_MEMORY) + 1);
    await time.advance(59_000);
    expect(log.lines.filter(({ event }) => event === 'kv.memory-full')).to.have.length(1);
    await time.advance(10_000);
    expect(log.lines.filter(({ event }) => event === 'kv.memory-full')).to.have.length(2);
  });

  it('is a bound of the engine: commands that grow data are refused, and no others', () => {
    const one = database('a', 1000);
    const { engine } = one;
    engine.bounds.processMaxBytes = 1000;
    expect(engine.removal.makeRoom(0)).to.equal(undefined);
    put(engine, 1001);
    expect(engine.removal.makeRoom(0)?.text).to.equal("OOM command not allowed when used memory > 'maxmemory'.");
    expect(engine.bounds.leaveNoRoom).to.equal(true);
    expect(engine.bounds.shownBytes).to.equal(1000);
  });
});
