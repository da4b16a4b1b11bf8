/** The published vector client, unmodified, against a real process, which is then killed and started again. */
import { Index } from '@upstash/vector';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';
import { databaseOf, manage, SEARCH_ENVIRONMENT, type SearchDatabase } from '../../support/search-process.js';
import { describeVectorClient, type WantedIndex } from '../../support/vector-client-program.js';

const KINDS: Readonly<Record<WantedIndex, object>> = {
  dense: { dimension_count: 3 },
  texts: { embedding_model: 'BGE_SMALL_EN_V1_5' },
  sparse: { index_type: 'SPARSE' },
  hybrid: { index_type: 'HYBRID', embedding_model: 'BGE_SMALL_EN_V1_5', sparse_embedding_model: 'BM25' },
};

describe('indexes of vectors: published client', function () {
  this.timeout(60_000);
  let process: MillraceProcess | undefined;
  after(endEverything);

  async function started(): Promise<MillraceProcess> {
    process ??= await startMillrace({ env: SEARCH_ENVIRONMENT });
    return process;
  }

  async function made(name: string, kind: object): Promise<SearchDatabase> {
    const body = { name, region: 'eu-west-1', similarity_function: 'COSINE', ...kind };
    return databaseOf(await manage(await started(), 'POST', '/v2/vector/index', body));
  }

  describeVectorClient((wanted) => made(wanted, KINDS[wanted]));

  it('finds every acknowledged vector after a kill, with the same scores', async () => {
    const { id, url, token } = await made('durable', { similarity_function: 'EUCLIDEAN', dimension_count: 8 });
    const index = new Index({ url, token });
    const vectorOf = (at: number) => Array.from({ length: 8 }, (_, place) => Math.sin(at * 8 + place));
    for (let from = 0; from < 1000; from += 250) {
      await index.upsert(Array.from({ length: 250 }, (_, at) => ({ id: from + at, vector: vectorOf(from + at) })));
    }
    await index.delete(['7', '8']);
    const query = { vector: vectorOf(5), topK: 50, includeVectors: true };
    const before = await eventually(async () => {
      expect((await index.info()).pendingVectorCount).to.equal(0);
      return index.query(query);
    });
    expect(before[0]).to.deep.include({ id: '5', score: 1 });
    const { dataDir } = await started();
    await process?.kill('SIGKILL');
    process = await startMillrace({ dataDir, env: SEARCH_ENVIRONMENT });
    const again = databaseOf(await manage(process, 'GET', `/v2/vector/index/${id}`));
    const reopened = new Index({ url: again.url, token: again.token });
    await eventually(
      async () => {
        const { pendingVectorCount, vectorCount } = await reopened.info();
        expect([pendingVectorCount, vectorCount]).to.deep.equal([0, 998]);
      },
      { timeoutMs: 20_000 },
    );
    expect(await reopened.query(query)).to.deep.equal(before);
  });
});
