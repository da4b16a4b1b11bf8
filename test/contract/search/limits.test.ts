/** The limits of a search index, tested one step beyond each, and its counters. Proves SL1–SL3. */
import { expect } from 'chai';
import type { SearchLimits } from '../../../src/domain/control/index.js';
import { searchQueries, searchUpdates } from '../../../src/domain/control/index.js';
import { SEARCH_INDEX, type SearchAnswer, SearchEndpointHarness, WIDE_LIMITS } from '../../support/search-endpoint.js';

const document = (id: string) => ({ id, content: { x: 1 } });
const documents = (count: number, prefix = 'd') => Array.from({ length: count }, (_, at) => document(`${prefix}${at}`));

describe('search data plane: limits', () => {
  let nowMs = Date.UTC(2026, 0, 1, 23, 59, 0);
  let monotonicMs = 1000;
  let face: SearchEndpointHarness;
  const limit = (changed: Partial<SearchLimits>) => {
    face.limits = { ...WIDE_LIMITS, ...changed };
  };
  const refused = (answer: SearchAnswer, status: number, text: string) => {
    expect(answer.body).to.deep.equal({ error: text, status });
    expect(answer.status).to.equal(status);
  };

  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1, 23, 59, 0);
    face = await new SearchEndpointHarness({ clock: { nowMs: () => nowMs, monotonicMs: () => monotonicMs } }).start();
  });
  afterEach(() => face.stop());

  it('max_vector_count: limits the documents of all indexes together', async () => {
    limit({ maxVectorCount: 5 });
    await face.result('upsert-data/a', documents(3));
    await face.result('upsert-data/b', documents(2));
    const text = 'max_vector_count: the limit is 5 documents: there are 5, and the request adds 1';
    refused(await face.call('upsert-data/b', [document('d0'), document('new')]), 403, text);
    refused(await face.call('upsert-data/c', document('d0')), 403, text);
    expect(await face.result('list-namespaces')).to.deep.equal(['a', 'b']);
    await face.result('upsert-data/b', [document('d0'), document('d1')]);
    await face.result('delete/a', { ids: ['d0'] });
    await face.result('upsert-data/b', document('new'));
    expect((await face.result('info')).vectorCount).to.equal(5);
  });

  it('max_vector_count: holds for parallel writes', async () => {
    limit({ maxVectorCount: 50 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => face.call('upsert-data/a', documents(10, `w${at}-`))),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(5);
    expect((await face.result('info')).vectorCount).to.equal(50);
  });

  it('max_writes_per_request: limits the documents of one upsert', async () => {
    limit({ maxWritesPerRequest: 3 });
    await face.result('upsert-data/a', documents(3));
    refused(
      await face.call('upsert-data/a', documents(4)),
      400,
      'max_writes_per_request: at most 3 documents in one request',
    );
    limit({ maxWritesPerRequest: 100_000 });
    refused(
      await face.call('upsert-data/a', documents(1001)),
      400,
      'max_writes_per_request: at most 1000 documents in one request',
    );
    await face.result('upsert-data/a', documents(1000));
    expect((await face.result('info')).vectorCount).to.equal(1000);
  });

  it('max_reads_per_request: limits the results of a query and the ids of a fetch', async () => {
    limit({ maxReadsPerRequest: 3 });
    const text = 'max_reads_per_request: at most 3 documents in one request';
    await face.result('search/a', { query: 'x', topK: 3 });
    refused(await face.call('search/a', { query: 'x', topK: 4 }), 400, text);
    await face.result('fetch/a', { ids: ['1', '2', '3'] });
    refused(await face.call('fetch/a', { ids: ['1', '2', '3', '4'] }), 400, text);
  });

  it('max_writes_per_second: limits documents, and admits more a moment later', async () => {
    limit({ maxWritesPerSecond: 10 });
    await face.result('upsert-data/a', documents(6));
    await face.result('upsert-data/a', documents(4));
    const answer = await face.call('upsert-data/a', document('d'));
    refused(answer, 429, 'max_writes_per_second: at most 10 documents per second');
    expect(answer.headers['retry-after']).to.equal('1');
    monotonicMs += 100;
    await face.result('upsert-data/a', document('d'));
    refused(await face.call('upsert-data/a', document('d')), 429, answer.body.error);
  });

  it('max_writes_per_second: admits one large upsert, and delays the next ones longer', async () => {
    limit({ maxWritesPerSecond: 10 });
    await face.result('upsert-data/a', documents(30));
    monotonicMs += 1900;
    expect((await face.call('upsert-data/a', document('d'))).status).to.equal(429);
    monotonicMs += 300;
    await face.result('upsert-data/a', document('d'));
  });

  it('max_query_per_second: limits queries only', async () => {
    limit({ maxQueryPerSecond: 2 });
    await face.result('search/a', { query: 'x' });
    await face.result('search/b', { query: 'x' });
    refused(await face.call('search/a', { query: 'x' }), 429, 'max_query_per_second: at most 2 queries per second');
    await face.result('fetch/a', { ids: ['x'] });
    await face.result('range/a', {});
    monotonicMs += 500;
    await face.result('search/a', { query: 'x' });
  });

  it('max_daily_updates: limits upserted documents of all processes together', async () => {
    limit({ maxDailyUpdates: 5 });
    await face.result('upsert-data/a', documents(3));
    await face.result('upsert-data/a', documents(2));
    const answer = await face.call('upsert-data/a', document('d0'));
    refused(answer, 429, 'max_daily_updates: the limit of 5 per UTC day is used up');
    expect(answer.headers['retry-after']).to.equal('60');
    expect((await face.result('delete/a', { ids: ['d0'] })).deleted).to.equal(1);
    expect(new Set(face.leased.map(({ database }) => database))).to.deep.equal(new Set([searchUpdates(SEARCH_INDEX)]));
    expect(face.leased.map(({ limits }) => limits.maxRequestsPerDay)).to.deep.equal([5, 5, 5]);
  });

  it('max_daily_queries: limits queries', async () => {
    limit({ maxDailyQueries: 1 });
    await face.result('search/a', { query: 'x' });
    refused(
      await face.call('search/a', { query: 'x' }),
      429,
      'max_daily_queries: the limit of 1 per UTC day is used up',
    );
    expect(face.leased[0]?.database).to.equal(searchQueries(SEARCH_INDEX));
  });

  it('a limit of 0 refuses every request', async () => {
    limit({ maxDailyQueries: 0 });
    expect((await face.call('search/a', { query: 'x' })).status).to.equal(429);
    limit({ maxDailyUpdates: 0 });
    expect((await face.call('upsert-data/a', document('a'))).status).to.equal(429);
    limit({ maxQueryPerSecond: 0 });
    expect((await face.call('search/a', { query: 'x' })).status).to.equal(429);
    limit({ maxVectorCount: 0 });
    expect((await face.call('upsert-data/a', document('a'))).status).to.equal(403);
    expect(face.leased).to.deep.equal([]);
  });

  it('max_monthly_reranks: counts units of 100 documents, and no queries without reranking', async () => {
    limit({ maxMonthlyReranks: 10 });
    face.month.rerankUnits = 9;
    await face.result('search/a', { query: 'x', reranking: true, topK: 100 });
    face.month.rerankUnits = 10;
    const text = 'max_monthly_reranks: the limit of 10 per month is used up';
    refused(await face.call('search/a', { query: 'x', reranking: true }), 429, text);
    await face.result('search/a', { query: 'x' });
    face.month.rerankUnits = 9;
    limit({ maxMonthlyReranks: 10, maxReadsPerRequest: 1000 });
    refused(await face.call('search/a', { query: 'x', reranking: true, topK: 101 }), 429, text);
  });

  it('max_monthly_bandwidth: refuses requests that carry documents; delete and info still work', async () => {
    limit({ maxMonthlyBandwidth: 1000 });
    face.month.bytes = 999;
    await face.result('upsert-data/a', document('a'));
    face.month.bytes = 1000;
    const text = 'max_monthly_bandwidth: the limit of 1000 bytes per month is used up';
    refused(await face.call('upsert-data/a', document('a')), 429, text);
    refused(await face.call('search/a', { query: 'x' }), 429, text);
    refused(await face.call('fetch/a', { ids: ['a'] }), 429, text);
    refused(await face.call('range/a', {}), 429, text);
    expect((await face.result('info')).vectorCount).to.equal(1);
    expect((await face.result('delete/a', { ids: ['a'] })).deleted).to.equal(1);
  });

  it('a refused request counts for no other limit than that of the second (SL1)', async () => {
    const open = { maxWritesPerSecond: 6, maxDailyUpdates: 6, maxWritesPerRequest: 4 };
    const refuse = async (changed: Partial<SearchLimits>, count: number, status: number) => {
      limit({ ...open, ...changed });
      expect((await face.call('upsert-data/a', documents(count))).status).to.equal(status);
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    };
    await refuse({ maxWritesPerRequest: 3 }, 4, 400);
    await refuse({ maxMonthlyBandwidth: 0 }, 4, 429);
    await refuse({ maxWritesPerSecond: 0 }, 4, 429);
    expect(face.leased).to.deep.equal([]);
    expect(face.usages).to.deep.equal([]);
    // The refused requests took none of the second's 6 writes. This one takes 4, and then the limit of the day refuses it.
    await refuse({ maxDailyUpdates: 3 }, 4, 429);
    limit(open);
    await face.result('upsert-data/a', documents(2));
    const answer = await face.call('upsert-data/a', documents(1));
    refused(answer, 429, 'max_writes_per_second: at most 6 documents per second');
    expect((await face.result('info')).vectorCount).to.equal(2);
  });

  it("the day's share is taken last, and not returned when the write is refused for its size (SL2)", async () => {
    limit({ maxDailyUpdates: 5, maxVectorCount: 2 });
    const share = () => face.quotaLeft.get(searchUpdates(SEARCH_INDEX)) ?? 5;
    expect((await face.call('upsert-data/a', documents(3))).status).to.equal(403);
    expect(share()).to.equal(2);
    await face.result('upsert-data/a', documents(2));
    expect(share()).to.equal(0);
    limit({ maxDailyUpdates: 5 });
    refused(
      await face.call('upsert-data/a', document('d0')),
      429,
      'max_daily_updates: the limit of 5 per UTC day is used up',
    );
  });

  it('a changed limit applies from the next request', async () => {
    limit({ maxQueryPerSecond: 1 });
    await face.result('search/a', { query: 'x' });
    expect((await face.call('search/a', { query: 'x' })).status).to.equal(429);
    limit({ maxQueryPerSecond: -1 });
    await face.result('search/a', { query: 'x' });
  });

  it('a search database has at most 10,000 indexes', async () => {
    const names = Array.from({ length: 10_000 }, (_, at) => [`n${at}`, String(at)]).flat();
    const request = { database: SEARCH_INDEX, partition: `kv:${SEARCH_INDEX}:0` as never, mode: 'single' as const };
    await face.gateway.execute({ ...request, commands: [['HSET', 'i', ...names]], bytes: 0 });
    refused(await face.call('upsert-data/new', document('a')), 400, 'a search database has at most 10000 indexes');
    await face.result('upsert-data/n7', document('a'));
  });

  it('an index above 100 MiB is refused before any part of it is written', async () => {
    const request = { database: SEARCH_INDEX, partition: `kv:${SEARCH_INDEX}:0` as never, mode: 'single' as const };
    await face.result('upsert-data/a', document('first'));
    await face.gateway.execute({
      ...request,
      commands: [['HSET', 'b', 'a', String(100 * 1024 * 1024 - 60)]],
      bytes: 0,
    });
    await face.result('upsert-data/a', document('second'));
    const answer = await face.call('upsert-data/a', documents(2));
    expect([answer.status, answer.body.error]).to.deep.equal([
      403,
      'index size: an index holds at most 104857600 bytes of documents: use several indexes',
    ]);
    expect((await face.result('info')).vectorCount).to.equal(2);
  });

  it('meters queries, updates, reranks, bytes and times of successful requests', async () => {
    monotonicMs += 10;
    const body = JSON.stringify(documents(3));
    await face.result('upsert-data/a', body);
    await face.result('search/a', { query: 'x', topK: 100, reranking: true });
    await face.result('delete/a', { ids: ['d0', 'd1', 'none'] });
    await face.call('search/a', {});
    await face.result('fetch/a', { ids: ['d0'] });
    const [upsert, search, removal, fetched, ...more] = face.usages;
    expect(more).to.deep.equal([]);
    expect(upsert).to.deep.equal({
      updates: 3,
      bytesIn: body.length,
      bytesOut: '{"result":"Success"}'.length,
      updateMs: 0,
    });
    expect(search).to.include({ queries: 1, reranks: 1, queryMs: 0, bytesOut: '{"result":[]}'.length });
    expect(removal).to.include({ updates: 2 });
    expect(fetched).to.have.all.keys('bytesIn', 'bytesOut');
  });
});
