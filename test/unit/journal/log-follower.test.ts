/** Proves LF1–LF4. */
import { expect } from 'chai';
import { type FollowingReader, followLog, type LogFollowing } from '../../../src/journal/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { ManualTime, MemoryJournal } from '../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;
const RETRY_MS = 1000;

describe('a log follower', () => {
  let time: ManualTime;
  let journal: MemoryJournal;
  let stop: AbortController;
  /** The messages that the reader has taken, and the reported failures. */
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

  /** A reader with its position after the last taken message. */
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

  it('hands out stored and new messages, in order, from the position of the reader', async () => {
    await store(3);
    taken.push(1);
    await begin();
    await store(2);
    expect([taken, failures]).to.deep.equal([[1, 2, 3, 4, 5], []]);
  });

  it('starts again from the position of the reader, after a pause, when the reader failed', async () => {
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

  it('starts again when its start failed', async () => {
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

  it('starts again when the idle callback failed', async () => {
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

  it('hands out no message after it was stopped, not even a received one', async () => {
    await begin();
    await store(1);
    stop.abort();
    await store(1);
    expect([taken, isOver, time.pendingCount]).to.deep.equal([[1], true, 0]);
  });

  it('ends immediately when it is stopped in a pause', async () => {
    await begin({ begin: () => Promise.reject(new Error('no server')) });
    stop.abort();
    await time.advance(0);
    expect([isOver, time.pendingCount]).to.deep.equal([true, 0]);
  });

  it('reports a hole in the log as damage', async () => {
    await store(4);
    await journal.truncateFront(SHARD, 3);
    await begin();
    expect(failures[0]).to.include('messages are missing');
    expect(taken).to.deep.equal([]);
  });

  it('passes over a hole in a log that may lack some messages', async () => {
    await store(4);
    await journal.truncateFront(SHARD, 3);
    await begin({}, { mayLackSome: true });
    expect([taken, failures]).to.deep.equal([[3, 4], []]);
  });

  it('receives no more bytes than may be queued while a batch is processed', async () => {
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
