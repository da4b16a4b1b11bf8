/** Proves LF1–LF4. */
import { expect } from 'chai';
import { type FollowingReader, followLog, type LogFollowing } from '../../../src/journal/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { ManualTime, MemoryJournal } from '../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;
const RETRY_MS = 1000;

describe('following a log', () => {
  let time: ManualTime;
  let journal: MemoryJournal;
  let stop: AbortController;
  /** What the reader has taken, and what was told of failures. */
  let taken: number[];
  let failures: string[];
  let isOver: boolean;

  beforeEach(() => {
    time = new ManualTime();
    journal = new MemoryJournal({ clock: time, timers: time });
    journal.createStream(SHARD);
    stop = new AbortController();
    taken = [];
    failures = [];
    isOver = false;
  });

  afterEach(() => stop.abort());

  async function store(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      const { last } = await journal.tail(SHARD);
      await journal.append(SHARD, new Uint8Array(10), last);
    }
    await time.advance(0);
  }

  /** A reader that stands behind what it has taken. */
  async function begin(reader: Partial<FollowingReader> = {}, following: Partial<LogFollowing> = {}): Promise<void> {
    const whole: FollowingReader = {
      follow: (from, follower) => journal.follow(SHARD, from, follower),
      begin: async () => taken.at(-1) ?? 0,
      take: (batch) => void taken.push(...batch.map(({ position }) => position)),
      failed: (error) => failures.push(String(error)) > 0,
      ...reader,
    };
    const options = { shard: SHARD, maxQueuedBytes: 1000, retryMs: RETRY_MS, ...following };
    void followLog(time, whole, options, stop.signal).then(() => {
      isOver = true;
    });
    await time.advance(0);
  }

  it('hands out what is there and what comes, in order, from where the reader stands', async () => {
    await store(3);
    taken.push(1);
    await begin();
    await store(2);
    expect([taken, failures]).to.deep.equal([[1, 2, 3, 4, 5], []]);
  });

  it('begins again from where the reader then stands, after a pause, when something failed', async () => {
    await store(3);
    let fails = 1;
    await begin({
      take: (batch) => {
        for (const { position } of batch) {
          if (position === 2 && fails-- > 0) throw new Error('not now');
          taken.push(position);
        }
      },
    });
    expect([taken, failures]).to.deep.equal([[1], ['Error: not now']]);
    await time.advance(RETRY_MS - 1);
    expect(taken).to.deep.equal([1]);
    await time.advance(1);
    expect(taken).to.deep.equal([1, 2, 3]);
  });

  it('begins again when it could not even begin', async () => {
    await store(1);
    let fails = 1;
    await begin({
      begin: async () => {
        if (fails-- > 0) throw new Error('no server');
        return 0;
      },
    });
    await time.advance(RETRY_MS);
    expect([taken, failures]).to.deep.equal([[1], ['Error: no server']]);
  });

  it('begins again when it failed at hearing that there is nothing newer', async () => {
    let idles = 0;
    await begin({
      idle: () => {
        idles += 1;
        if (idles === 1) throw new Error('no ear for it');
      },
    });
    await time.advance(RETRY_MS + 1000);
    expect([failures, idles > 1]).to.deep.equal([['Error: no ear for it'], true]);
  });

  it('ends when the reader gives up', async () => {
    await store(1);
    await begin({
      take: () => {
        throw new Error('of no use');
      },
      failed: () => false,
    });
    expect(isOver).to.equal(true);
    expect(time.pendingCount).to.equal(0);
  });

  it('hands out nothing any more once it was stopped, not even what has arrived', async () => {
    await begin();
    await store(1);
    stop.abort();
    await store(1);
    expect([taken, isOver, time.pendingCount]).to.deep.equal([[1], true, 0]);
  });

  it('ends at once when it is stopped in a pause', async () => {
    await begin({ begin: () => Promise.reject(new Error('no server')) });
    stop.abort();
    await time.advance(0);
    expect([isOver, time.pendingCount]).to.deep.equal([true, 0]);
  });

  it('takes a hole in the log for damage', async () => {
    await store(4);
    await journal.truncateFront(SHARD, 3);
    await begin();
    expect(failures[0]).to.include('messages are missing');
    expect(taken).to.deep.equal([]);
  });

  it('passes over a hole in a log that may lack some', async () => {
    await store(4);
    await journal.truncateFront(SHARD, 3);
    await begin({}, { mayLackSome: true });
    expect([taken, failures]).to.deep.equal([[3, 4], []]);
  });

  it('listens no further than what may wait, while a batch is worked off', async () => {
    let goOn = () => {};
    const batches: number[][] = [];
    await begin(
      {
        take: (batch) => {
          batches.push(batch.map(({ position }) => position));
          return new Promise((resolve) => {
            goOn = resolve;
          });
        },
      },
      { maxQueuedBytes: 25 },
    );
    await store(8);
    expect(batches).to.deep.equal([[1, 2, 3]]);
    for (let at = 0; at < 2; at += 1) {
      goOn();
      await time.advance(0);
    }
    expect(batches).to.deep.equal([
      [1, 2, 3],
      [4, 5, 6],
      [7, 8],
    ]);
    stop.abort();
    goOn();
  });
});
