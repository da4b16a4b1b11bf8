/** A follower that folds a journal into a file: failures of the fold, and a locked file. Proves SF2, SS3. */

import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteFiles } from '../../../src/adapters/sqlite/index.js';
import { type Log, SqlFailure, type StoredMessage } from '../../../src/ports/index.js';
import type { Checkpoint } from '../../../src/projections/checkpoint.js';
import { StatsStore } from '../../../src/projections/index.js';
import { type FollowedModel, OtherJournal, ShardFollower } from '../../../src/projections/shard-follower.js';
import { CLUSTER, SHARD } from '../../spec/journal/shard-history.js';
import { ManualTime, MemoryJournal, MemoryObjectStore } from '../../support/memory/index.js';
import { MessageLogStand } from '../../support/message-log-stand.js';
import { silentLog } from '../../support/silent-log.js';

const RETRY_MS = 1000;
const NO_BODIES = { read: async () => new Uint8Array() };

class Stand {
  readonly time = new ManualTime();
  readonly journal = new MemoryJournal({ clock: this.time, timers: this.time });
  readonly folded: number[] = [];
  readonly warnings: unknown[] = [];
  readonly stopping = new AbortController();
  checkpoint: Checkpoint | undefined;
  /** Is called before a message is folded. */
  before: (position: number) => void = () => {};
  outcome: { readonly why: string | undefined } | undefined;
  readonly follower: ShardFollower;

  constructor(model: Partial<FollowedModel> = {}) {
    this.journal.createStream(SHARD);
    const log: Log = { ...silentLog, warn: (_, fields) => void this.warnings.push(fields?.reason) };
    const reader = () => (batch: readonly StoredMessage[]) =>
      batch.map(({ position, storedAtMs }) => ({
        storedAtMs,
        apply: (known: Checkpoint) => {
          this.before(position);
          expect(known.position).to.equal(position - 1);
          this.folded.push(position);
          this.checkpoint = { ...known, position };
          return { after: this.checkpoint, rows: 1 };
        },
      }));
    const { time, journal } = this;
    this.follower = new ShardFollower(
      { clock: time, timers: time, log, journal, objects: new MemoryObjectStore(), bodies: NO_BODIES },
      { checkpoint: () => this.checkpoint, setCheckpoint: () => {}, ...model },
      { shard: SHARD, noHash: new Uint8Array(), restore: async (known) => known, reader },
      { model: 'a model', lingerMs: 0, awaitedLingerMs: 0, batchBytes: 1000, maxQueuedBytes: 1000, retryMs: RETRY_MS },
    );
  }

  run(): void {
    void this.follower.run(this.stopping.signal).then((why) => {
      this.outcome = { why };
    });
  }

  async put(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      const { last } = await this.journal.tail(SHARD);
      await this.journal.append(SHARD, Buffer.from('x'), last);
    }
    await this.pass(10);
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1) await this.time.advance(1);
  }
}

describe('a follower with failing folds', () => {
  let stand: Stand;
  beforeEach(() => {
    stand = new Stand();
  });
  afterEach(() => stand.stopping.abort());

  for (const failure of [
    new Error('any other'),
    new SqlFailure('the disk is full', false),
    Object.assign(new Error('the journal is damaged'), { code: 'JOURNAL_DAMAGED' }),
  ]) {
    it(`starts again from its checkpoint after a pause: ${failure.message} (SF2)`, async () => {
      stand.before = (position) => {
        if (position === 3) throw failure;
      };
      stand.run();
      await stand.put(4);
      expect([stand.folded, stand.warnings.length]).to.deep.equal([[1, 2], 1]);
      expect(stand.follower.trouble).to.contain(failure.message);
      stand.before = () => {};
      await stand.pass(RETRY_MS - 20);
      expect(stand.folded).to.deep.equal([1, 2]);
      await stand.pass(40);
      expect([stand.folded, stand.outcome]).to.deep.equal([[1, 2, 3, 4], undefined]);
    });
  }

  for (const failure of [new OtherJournal('it is another one'), new SqlFailure('the file is damaged', true)]) {
    it(`ends with the reason why the file is useless: ${failure.message} (SF2)`, async () => {
      stand.before = (position) => {
        if (position === 3) throw failure;
      };
      stand.run();
      await stand.put(4);
      expect(stand.outcome?.why).to.contain(failure.message);
      stand.before = () => {};
      await stand.pass(2 * RETRY_MS);
      expect(stand.folded).to.deep.equal([1, 2]);
    });
  }

  it('ends when the journal was created again (SF2)', async () => {
    const beginning = { position: 0, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: false };
    stand.checkpoint = { ...beginning, createdAt: 'another day' };
    stand.run();
    await stand.put(1);
    expect(stand.outcome?.why).to.contain('deleted and created again');
  });
});

describe('a follower of a journal with a damaged last message', () => {
  it('reports the position after ten seconds, and continues when the message arrives (LF5)', async () => {
    const stand = new Stand();
    await stand.put(3);
    const { journal } = stand;
    const follow = journal.follow.bind(journal);
    journal.follow = (shard, from, follower) =>
      follow(shard, from, {
        onAlive: () => {},
        onMessage: (message) => message.position < 3 && follower.onMessage(message),
      });
    journal.readAt = async () => undefined;
    stand.run();
    await stand.pass(9000);
    expect([stand.folded, stand.follower.trouble]).to.deep.equal([[1, 2], undefined]);
    await stand.pass(13_000);
    expect(stand.follower.trouble).to.equal('the message at position 3 cannot be read');
    expect(stand.warnings).to.deep.equal(['the message at position 3 cannot be read']);
    stand.stopping.abort();
  });
});

describe('the file of the statistics, while it is held', () => {
  it('is neither changed nor pruned (SS3)', async () => {
    const files = new MessageLogStand();
    const store = new StatsStore(new SqliteFiles(join(files.folder, 'held.db')), silentLog, {
      clusterId: CLUSTER,
      nowMs: () => 0,
    });
    const stand = new Stand({ whenFree: () => store.whenFree() });
    try {
      let letGo = () => {};
      const held = store.hold(
        () =>
          new Promise<void>((resolve) => {
            letGo = resolve;
          }),
      );
      stand.run();
      await stand.put(3);
      await stand.pass(5000);
      expect(stand.folded).to.deep.equal([]);
      expect([store.prune(7, 10), store.giveBack()]).to.deep.equal([7, 0]);
      letGo();
      await held;
      await stand.pass(10);
      expect(stand.folded).to.deep.equal([1, 2, 3]);
      expect(store.prune(7, 10)).to.equal(0);
    } finally {
      stand.stopping.abort();
      store.close();
      await files.end();
    }
  });
});
