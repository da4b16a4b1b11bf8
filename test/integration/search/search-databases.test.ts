/** Search databases of a real process over restarts, and changes of them through the management API. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';
import {
  createSearchDatabase,
  databaseOf,
  manage,
  SEARCH_ENVIRONMENT,
  type SearchDatabase,
  searchCall,
} from '../../support/search-process.js';

const LONG_MS = { timeoutMs: 20_000 };

describe('search indexes: databases', function () {
  this.timeout(90_000);
  let process: MillraceProcess;
  before(async () => {
    process = await startMillrace({ env: SEARCH_ENVIRONMENT });
  });
  after(endEverything);

  const documents = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => ({ id: `${prefix}${at}`, content: { text: `word${at} of ${prefix}` } }));
  const finds = (database: SearchDatabase, query: string, id: string) =>
    eventually(async () => {
      const { body } = await searchCall(database, 'search/notes', { query, topK: 1, semanticWeight: 0 });
      expect(body.result?.[0]?.id, JSON.stringify(body)).to.equal(id);
    }, LONG_MS);

  it('separate the tokens and documents of databases', async () => {
    const [one, other] = [await createSearchDatabase(process, 'one'), await createSearchDatabase(process, 'other')];
    expect((await searchCall(one, 'upsert-data/notes', documents(3, 'a'))).status).to.equal(200);
    expect((await searchCall(other, 'list-namespaces')).body).to.deep.equal({ result: [] });
    expect((await searchCall({ ...other, token: one.token }, 'info')).status).to.equal(401);
    await finds(one, 'word2', 'a2');
    expect((await searchCall(other, 'search/notes', { query: 'word2' })).body).to.deep.equal({ result: [] });
  });

  it('have every document after a kill, for fetch and for search', async () => {
    const database = await createSearchDatabase(process, 'durable');
    for (const letter of ['a', 'b', 'c']) await searchCall(database, 'upsert-data/notes', documents(100, letter));
    await searchCall(database, 'delete/notes', { ids: ['a7', 'b7'] });
    const { dataDir } = process;
    await process.kill('SIGKILL');
    process = await startMillrace({ dataDir, env: SEARCH_ENVIRONMENT });
    const again = databaseOf(await manage(process, 'GET', `/v2/search/${database.id}`));
    expect(again.token).to.equal(database.token);
    const info = await eventually(async () => {
      const { body } = await searchCall(again, 'info');
      expect(body.result?.pendingVectorCount, JSON.stringify(body)).to.equal(0);
      return body.result;
    }, LONG_MS);
    expect(info.namespaces).to.deep.equal({ notes: { vectorCount: 298, pendingVectorCount: 0 } });
    await finds(again, 'word99 of c', 'c99');
    const { body } = await searchCall(again, 'fetch/notes', { ids: ['a7', 'c99'], includeData: true });
    expect(body.result).to.deep.equal([null, { id: 'c99', content: { text: 'word99 of c' } }]);
  });

  it('accept new tokens immediately after a reset, and refuse the old ones', async () => {
    const database = await createSearchDatabase(process, 'locked');
    await searchCall(database, 'upsert-data/notes', documents(1, 'a'));
    expect(await manage(process, 'POST', `/v2/search/${database.id}/reset-password`)).to.equal('OK');
    expect((await searchCall(database, 'info')).status).to.equal(401);
    expect((await searchCall({ ...database, token: database.readOnlyToken }, 'info')).status).to.equal(401);
    const renewed = databaseOf(await manage(process, 'GET', `/v2/search/${database.id}`));
    expect((await searchCall(renewed, 'list-namespaces')).body).to.deep.equal({ result: ['notes'] });
  });

  it('are deleted with their documents', async () => {
    const database = await createSearchDatabase(process, 'doomed');
    await searchCall(database, 'upsert-data/notes', documents(5, 'a'));
    expect(await manage(process, 'DELETE', `/v2/search/${database.id}`)).to.equal('OK');
    expect((await searchCall(database, 'info')).status).to.equal(401);
    expect(await manage(process, 'GET', '/v2/search')).to.not.deep.include({ id: database.id });
  });

  it('refuse requests above the limits of their plan', async () => {
    const database = await createSearchDatabase(process, 'limited');
    const record = await manage(process, 'GET', `/v2/search/${database.id}`);
    const { max_writes_per_request: writes, max_reads_per_request: reads } = record;
    const upsert = await searchCall(database, 'upsert-data/notes', documents(writes + 1, 'a'));
    expect([upsert.status, upsert.body.error]).to.deep.equal([
      400,
      `max_writes_per_request: at most ${writes} documents in one request`,
    ]);
    const search = await searchCall(database, 'search/notes', { query: 'x', topK: reads + 1 });
    expect([search.status, search.body.error]).to.deep.equal([
      400,
      `max_reads_per_request: at most ${reads} documents in one request`,
    ]);
  });

  it('count queries, updates and documents in their statistics', async () => {
    const database = await createSearchDatabase(process, 'counted');
    await searchCall(database, 'upsert-data/notes', documents(30, 'a'));
    await searchCall(database, 'search/notes', { query: 'word1' });
    await searchCall(database, 'search/notes', { query: 'word2', reranking: true });
    await searchCall(database, 'delete/notes', { ids: ['a1', 'a2'] });
    await eventually(async () => {
      const stats = await manage(process, 'GET', `/v2/search/${database.id}/stats?period=1h`);
      expect(stats.daily_query_count, JSON.stringify(stats)).to.equal(2);
      expect(stats.daily_update_count).to.equal(32);
      expect(stats.daily_rerank_count).to.equal(1);
      expect(stats.current_vector_count).to.equal(28);
      expect(stats.storage_usage).to.be.greaterThan(0);
      expect(stats.monthly_bandwidth_usage).to.be.greaterThan(0);
    }, LONG_MS);
  });
});
