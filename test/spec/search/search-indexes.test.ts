/** The parts of the journal that can be searched, and when. Proves QT1, QT2, SI1–SI3, SFO1, SFO2, SK1, SK2, VO1. */
import { expect } from 'chai';
import { HashedNgrams, MAX_QUERY_CHARACTERS, MAX_TOP_K } from '../../../src/domain/search/index.js';
import { SnapshotStore } from '../../../src/journal/index.js';
import { type DatabaseId, isMillraceError, MillraceError } from '../../../src/kernel/index.js';
import type { ObjectStore } from '../../../src/ports/index.js';
import { MAX_WAITING_QUERIES, SearchIndexes } from '../../../src/projections/index.js';
import { ShardFold } from '../../../src/projections/search-index/shard-fold.js';
import { kvPartition } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { ManualTime } from '../../support/memory/index.js';
import { realTime } from '../../support/real-time.js';
import { LIBRARY, SearchJournalStand, SHOP } from '../../support/search-journal-stand.js';
import { PLAIN_QUERY } from '../../support/search-stand.js';
import { silentLog } from '../../support/silent-log.js';
import { SHARD } from '../journal/shard-history.js';

describe('search indexes', () => {
  let stand: SearchJournalStand;
  beforeEach(() => {
    stand = new SearchJournalStand();
  });
  afterEach(() => stand.end());

  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('follow documents that are stored, changed and deleted', async () => {
    await stand.storeTexts(SHOP, 'shoes', { '1': 'red boots', '2': 'blue sandals' });
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }]);
    expect(await stand.ids(indexes, SHOP, 'shoes', 'boots')).to.deep.equal(['1']);
    await stand.storeTexts(SHOP, 'shoes', { '1': 'green sandals', '3': 'brown boots' });
    await stand.untilCounted(indexes, SHOP, { shoes: 3 });
    expect(await stand.ids(indexes, SHOP, 'shoes', 'boots')).to.deep.equal(['3']);
    await stand.write(SHOP, ['HDEL', 'd:shoes', '3'], ['ZREM', 'o:shoes', '3']);
    await stand.untilCounted(indexes, SHOP, { shoes: 2 });
    await stand.write(SHOP, ['RENAME', 'd:shoes', 'd:sale'], ['RENAME', 'o:shoes', 'o:sale']);
    await stand.untilCounted(indexes, SHOP, { sale: 2 });
    await stand.write(SHOP, ['FLUSHALL']);
    await stand.untilCounted(indexes, SHOP, {});
  });

  it('keep index names and databases apart', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    await stand.storeTexts(SHOP, 'b', { '2': 'word' });
    await stand.storeTexts(LIBRARY, 'a', { '3': 'word' });
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }, { id: LIBRARY }]);
    expect(await stand.ids(indexes, SHOP, 'a', 'word')).to.deep.equal(['1']);
    expect(await stand.ids(indexes, SHOP, 'b', 'word')).to.deep.equal(['2']);
    expect(await stand.ids(indexes, LIBRARY, 'a', 'word')).to.deep.equal(['3']);
    expect(await stand.ids(indexes, LIBRARY, 'b', 'word')).to.deep.equal([]);
  });

  it('start from a snapshot when the front of the journal was truncated', async () => {
    await stand.storeTexts(
      SHOP,
      'a',
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`d${at}`, `word n${at}`])),
    );
    await stand.storeTexts(LIBRARY, 'a', { '1': 'word' });
    await stand.compactAndPurge();
    await stand.storeTexts(SHOP, 'a', { later: 'word' });
    expect((await stand.journal.tail(SHARD)).first).to.be.greaterThan(1);
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 301 });
    expect(await stand.ids(indexes, SHOP, 'a', 'n250')).to.deep.equal(['d250']);
    expect(indexes.status()).to.include({ isCaughtUp: true, documents: 301, indexes: 1, unreadable: 0 });
  });

  it('give the same answers before and after a rebuild', async () => {
    for (let round = 0; round < 20; round += 1) {
      const texts = Array.from({ length: 20 }, (_, at) => [`d${(round * 7 + at) % 60}`, `text ${round} word${at % 5}`]);
      await stand.storeTexts(SHOP, 'a', Object.fromEntries(texts));
      await stand.write(SHOP, ['HDEL', 'd:a', `d${round}`]);
      if (round === 12) await stand.compactAndPurge();
    }
    const lived = stand.open();
    lived.setIndexes([{ id: SHOP }]);
    const query = { ...PLAIN_QUERY, text: 'text word3 19', topK: 100, includeData: true };
    const before = await lived.search(SHOP, 'a', query);
    lived.rebuild();
    expect(await lived.search(SHOP, 'a', query)).to.deep.equal(before);
    await stand.compactAndPurge();
    const fresh = stand.open();
    fresh.setIndexes([{ id: SHOP }]);
    expect(await fresh.search(SHOP, 'a', query)).to.deep.equal(before);
  });

  it('are available as soon as they are announced, with all documents stored until then', async () => {
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }]);
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    await stand.storeTexts(LIBRARY, 'a', { '1': 'word' });
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    const asked = stand.ids(indexes, LIBRARY, 'a', 'word');
    indexes.setIndexes([{ id: SHOP }, { id: LIBRARY }]);
    expect(await asked).to.deep.equal(['1']);
    expect(await stand.ids(indexes, SHOP, 'a', 'word')).to.deep.equal(['1']);
  });

  it('that are added start to be followed without a reload of the others', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    let loads = 0;
    const objects: ObjectStore = {
      put: (name, bytes) => stand.objects.put(name, bytes),
      get: (name) => stand.objects.get(name),
      delete: (name) => stand.objects.delete(name),
      list: (prefix) => {
        loads += 1;
        return stand.objects.list(prefix);
      },
    };
    const indexes = stand.open({}, { objects });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    const before = loads;
    indexes.setIndexes([{ id: SHOP }, { id: LIBRARY }]);
    await stand.storeTexts(LIBRARY, 'a', { '1': 'word' });
    await stand.untilCounted(indexes, LIBRARY, { a: 1 });
    expect(loads).to.equal(before);
  });

  it('are dropped when they are removed from the list, and rebuilt when they are added again', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    const indexes = stand.open({ waitMs: 20 });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    indexes.setIndexes([]);
    expect(isMillraceError(await failureOf(indexes.info(SHOP)), 'SHARD_UNAVAILABLE')).to.equal(true);
    expect(indexes.status()).to.include({ documents: 0, indexes: 0 });
    await stand.storeTexts(SHOP, 'a', { '2': 'word' });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 2 });
  });

  it('that are unknown make a question wait for a bounded time (SI2)', async () => {
    const { journal, objects } = stand;
    const time = new ManualTime();
    const options = { kvShards: 1, waitMs: 2000, fold: { lingerMs: 1 } };
    const indexes = new SearchIndexes({ journal, objects, timers: time, clock: time, log: silentLog }, options);
    const outcomes: string[] = [];
    const ask = (name: string) =>
      void failureOf(indexes.info(SHOP)).then((failure) =>
        outcomes.push(`${name} ${isMillraceError(failure) ? failure.code : 'answered'}`),
      );
    ask('first');
    await time.advance(1000);
    ask('second');
    await time.advance(999);
    expect(outcomes).to.deep.equal([]);
    await time.advance(1);
    expect(outcomes).to.deep.equal(['first SHARD_UNAVAILABLE']);
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    indexes.setIndexes([{ id: SHOP }]);
    await eventually(async () => {
      await time.advance(1);
      expect(outcomes).to.deep.equal(['first SHARD_UNAVAILABLE', 'second answered']);
    });
    const stopped = indexes.stop();
    await time.advance(1);
    await stopped;
  });

  it('skip the sections of other databases without reading them, and record that there were some (SFO1)', async () => {
    const old = 'db-cccccccccccccccc' as DatabaseId;
    for (const database of [SHOP, LIBRARY, old]) await stand.storeTexts(database, 'a', { '1': 'word' });
    await stand.compactAndPurge();
    // Reading this section would fail.
    const section = stand.history.section(kvPartition(LIBRARY, 0), Buffer.from('these are no effects'));
    await stand.history.append({ kind: 'batch', commandIds: [], sections: [section] });
    await stand.storeTexts(SHOP, 'a', { '2': 'word' });
    const read: string[] = [];
    const objects: ObjectStore = Object.assign(Object.create(stand.objects) as ObjectStore, {
      get: (name: string) => {
        read.push(name);
        return stand.objects.get(name);
      },
    });
    const newest = await new SnapshotStore(stand.objects, silentLog).newest(SHARD);
    const segments = (database: DatabaseId) =>
      newest?.manifest.partitions.find(({ name }) => name === kvPartition(database, 0))?.segments ?? [];
    const fold = new ShardFold(
      { journal: stand.journal, objects, timers: realTime, clock: realTime, log: silentLog },
      SHARD,
      { embedding: new HashedNgrams(), lingerMs: 1, maxQueuedBytes: 1000 },
      [{ id: SHOP }],
    );
    const { signal } = new AbortController();
    const position = await fold.load(signal);
    expect(read).to.include.members(segments(SHOP).map(({ object }) => object));
    for (const { object } of [...segments(LIBRARY), ...segments(old)]) expect(read).not.to.include(object);
    const { last } = await stand.journal.tail(SHARD);
    const batch = [];
    for await (const message of stand.journal.read(SHARD, position + 1, last)) batch.push(message);
    await fold.take(batch, signal, () => {});
    expect(fold.documents).to.equal(2);
    // Only a new fold can contain the entries that were skipped here.
    const never = 'db-dddddddddddddddd' as DatabaseId;
    expect([LIBRARY, old, never].map((id) => fold.join({ id }))).to.deep.equal([false, false, true]);
  });

  it('follow no journal without an index on it', async () => {
    let followed = 0;
    const journal = {
      tail: (shard: typeof SHARD) => stand.journal.tail(shard),
      readAt: (shard: typeof SHARD, position: number) => stand.journal.readAt(shard, position),
      follow: (...args: Parameters<typeof stand.journal.follow>) => {
        const subscription = stand.journal.follow(...args);
        followed += 1;
        return {
          stop: () => {
            followed -= 1;
            subscription.stop();
          },
        };
      },
    };
    const indexes = stand.open({}, { journal });
    indexes.setIndexes([]);
    expect(followed).to.equal(0);
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    indexes.setIndexes([{ id: SHOP }, { id: LIBRARY }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    expect(followed).to.equal(1);
    indexes.setIndexes([]);
    await eventually(() => expect(followed).to.equal(0));
  });

  it('keep answering while they are rebuilt, and after the journal failed', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    let fails = false;
    const journal = {
      tail: async (shard: typeof SHARD) => {
        if (fails) throw new MillraceError('JOURNAL_UNAVAILABLE', 'on purpose');
        return stand.journal.tail(shard);
      },
      readAt: (shard: typeof SHARD, position: number) => stand.journal.readAt(shard, position),
      follow: (...args: Parameters<typeof stand.journal.follow>) => stand.journal.follow(...args),
    };
    const indexes = stand.open({}, { journal });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    fails = true;
    indexes.rebuild();
    await eventually(() => expect(indexes.status().troubles).to.deep.equal([[SHARD, 'on purpose']]));
    expect(await stand.ids(indexes, SHOP, 'a', 'word')).to.deep.equal(['1']);
    fails = false;
    await eventually(() => expect(indexes.status().troubles).to.deep.equal([]));
    expect(await stand.ids(indexes, SHOP, 'a', 'word')).to.deep.equal(['1']);
  });

  it('are rebuilt when the front of the journal is truncated while they follow it', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    indexes.setIndexes([]);
    await stand.storeTexts(SHOP, 'a', { '2': 'word' });
    await stand.compactAndPurge();
    await stand.storeTexts(SHOP, 'a', { '3': 'word' });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 3 });
  });

  it('report the reason when entries between snapshot and journal are missing', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    await stand.storeTexts(SHOP, 'a', { '2': 'word' });
    await stand.journal.truncateFront(SHARD, 2);
    const indexes = stand.open({ waitMs: 20 });
    indexes.setIndexes([{ id: SHOP }]);
    await eventually(() => expect(indexes.status().troubles[0]?.[1]).to.contain('are missing'));
    expect(indexes.status().isCaughtUp).to.equal(false);
    expect(isMillraceError(await failureOf(indexes.info(SHOP)), 'SHARD_UNAVAILABLE')).to.equal(true);
  });

  it('refuse questions beyond their limits', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    const text = 'x'.repeat(MAX_QUERY_CHARACTERS);
    expect(await indexes.search(SHOP, 'a', { ...PLAIN_QUERY, text, topK: MAX_TOP_K })).to.have.length(1);
    for (const changes of [
      { text: `${text}x` },
      { topK: MAX_TOP_K + 1 },
      { topK: 0 },
      { semanticWeight: 1.1 },
      { semanticWeight: Number.NaN },
      { vector: [] },
      { filter: 'a =' },
    ]) {
      const failure = await failureOf(indexes.search(SHOP, 'a', { ...PLAIN_QUERY, ...changes }));
      expect(isMillraceError(failure, 'INVALID'), JSON.stringify(changes)).to.equal(true);
    }
  });

  it('run queries to one database one after the other, and to other databases in parallel', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    await stand.storeTexts(LIBRARY, 'a', { '1': 'word' });
    const indexes = stand.open();
    indexes.setIndexes([{ id: SHOP }, { id: LIBRARY }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    const running = 2;
    const all = Array.from({ length: running + MAX_WAITING_QUERIES + 1 }, () =>
      stand.ids(indexes, SHOP, 'a', 'word').catch((error: unknown) => error),
    );
    const other = stand.ids(indexes, LIBRARY, 'a', 'word');
    const answers = await Promise.all(all);
    expect(isMillraceError(answers.pop(), 'MAILBOX_FULL')).to.equal(true);
    expect(answers).to.deep.equal(answers.map(() => ['1']));
    expect(await other).to.deep.equal(['1']);
    expect(await stand.ids(indexes, SHOP, 'a', 'word')).to.deep.equal(['1']);
  });

  it('end a query that takes too long', async () => {
    await stand.storeTexts(SHOP, 'a', { '1': 'word' });
    const indexes = stand.open({ searchMs: 0 });
    indexes.setIndexes([{ id: SHOP }]);
    await stand.untilCounted(indexes, SHOP, { a: 1 });
    expect(isMillraceError(await failureOf(stand.ids(indexes, SHOP, 'a', 'word')), 'TIMED_OUT')).to.equal(true);
  });

  it('answer no question once they are stopped', async () => {
    const indexes = stand.open();
    const asked = failureOf(indexes.info(SHOP));
    await indexes.stop();
    expect(isMillraceError(await asked, 'SHARD_UNAVAILABLE')).to.equal(true);
  });
});
