/** The waiting time of a batch: none when it is full or has enough bytes. */
import { expect } from 'chai';
import { type Follow, inBatches } from '../../../src/journal/index.js';
import type { Linger } from '../../../src/journal/log-batches.js';
import type { StoredMessage } from '../../../src/ports/index.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { MemoryJournal } from '../../support/memory/index.js';
import { realTime } from '../../support/real-time.js';

/** Longer than any test. */
const FOR_EVER_MS = 3_600_000;

describe('a log feed with a long gathering time', () => {
  let journal: MemoryJournal;
  let stop: AbortController;
  let batches: (readonly StoredMessage[])[];
  let running: Promise<void>;
  let subscriptions: number;

  beforeEach(() => {
    journal = new MemoryJournal({ clock: realTime, timers: realTime, aliveEveryMs: 20 });
    journal.createStream(METER_SHARD);
    stop = new AbortController();
    batches = [];
    subscriptions = 0;
  });

  afterEach(async () => {
    stop.abort();
    await running;
  });

  function begin(awaited?: Linger['awaited'], enoughBytes?: number): void {
    const linger = { timers: realTime, ms: FOR_EVER_MS, awaited, enoughBytes };
    const options = { shard: METER_SHARD, linger, maxQueuedBytes: 100 };
    const follow: Follow = (from, follower) => {
      subscriptions += 1;
      return journal.follow(METER_SHARD, from, follower);
    };
    running = (async () => {
      for await (const batch of inBatches(follow, 1, options, stop.signal)) batches.push(batch);
    })();
  }

  async function store(...sizes: readonly number[]): Promise<void> {
    for (const size of sizes) {
      const { last } = await journal.tail(METER_SHARD);
      await journal.append(METER_SHARD, new Uint8Array(size), last);
    }
  }

  it('hands out its batch as soon as it is full, and continues after it', async () => {
    begin();
    await store(40, 40, 40, 10, 95);
    await eventually(() => expect(batches.flat()).to.have.length(5));
    expect(batches.map((batch) => batch.map(({ position }) => position))).to.deep.equal([
      [1, 2, 3],
      [4, 5],
    ]);
    stop.abort();
    await running;
  });

  it('hands out its batch as soon as it has enough bytes, and keeps listening', async () => {
    begin(undefined, 50);
    await store(40, 40);
    await eventually(() => expect(batches.flat()).to.have.length(2));
    await store(10, 40);
    await eventually(() => expect(batches.flat()).to.have.length(4));
    expect(subscriptions).to.equal(1);
    stop.abort();
    await running;
  });

  it('hands out its batch once a reader waits for it', async () => {
    let isAwaited = false;
    begin({ everyMs: 1, is: () => isAwaited });
    await store(10, 10);
    expect(batches).to.deep.equal([]);
    isAwaited = true;
    await eventually(() => expect(batches.flat()).to.have.length(2));
  });

  it('ends immediately when it is stopped, without its gathered messages', async () => {
    begin();
    await store(10);
    stop.abort();
    await running;
    expect(batches).to.deep.equal([]);
  });
});
