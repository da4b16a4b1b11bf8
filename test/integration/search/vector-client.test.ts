/** The published vector client, unmodified, against a real process, which is killed and started again. Proves SGF1, SGF2. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Index } from '@upstash/vector';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { databaseOf, manage, SEARCH_ENVIRONMENT, type SearchDatabase } from '../../support/search-process.js';
import { describeVectorClient, type WantedIndex } from '../../support/vector-client-program.js';

const KINDS: Readonly<Record<WantedIndex, object>> = {
  dense: { dimension_count: 3 },
  texts: { embedding_model: 'BGE_SMALL_EN_V1_5' },
  sparse: { index_type: 'SPARSE' },
  hybrid: { index_type: 'HYBRID', embedding_model: 'BGE_SMALL_EN_V1_5', sparse_embedding_model: 'BM25' },
};

/** Enough for a graph. */
const MANY = 11_000;
const REMOVED = 4998;

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

  it('millrace vectors import copies an index from its URL, and lines of other programs; export prints them', async () => {
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runMillrace(['vectors', ...args], {});
      return { code, out: stdout.toString(), stderr };
    };
    const hosted = await made('hosted', { similarity_function: 'EUCLIDEAN', dimension_count: 2 });
    const own = await made('own', { similarity_function: 'EUCLIDEAN', dimension_count: 2 });
    const source = new Index({ url: hosted.url, token: hosted.token });
    const many = Array.from({ length: 450 }, (_, at) => ({ id: `v${at}`, vector: [at, 0.5], metadata: { at } }));
    await source.upsert(many);
    await source.upsert({ id: 'n', vector: [1, 2], data: 'text' }, { namespace: 'other part' });
    const to = ['--to', own.url, '--token', own.token];
    expect(await run('import', hosted.url, '--source-token', hosted.token, ...to)).to.include({
      code: 0,
      out: '451 vectors imported\n',
    });
    const points = [
      { id: 7, vector: { dense: [7, 7] }, payload: { of: 'points' } },
      { id: 'r', values: [8, 8], metadata: { of: 'records' } },
    ];
    const file = join(await temporaryDirectory(), 'lines.jsonl');
    writeFileSync(file, points.map((line) => JSON.stringify(line)).join('\n'));
    expect((await run('import', file, ...to, '--namespace', 'lines', '--json')).out).to.equal('{"imported":2}\n');
    const exported = async (...args: readonly string[]) =>
      (await run('export', own.url, '--token', own.token, ...args)).out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const lines = await exported();
    expect(lines).to.have.length(453);
    expect(lines).to.deep.include.members([
      many[449],
      { id: 'n', vector: [1, 2], data: 'text', namespace: 'other part' },
      { id: '7', vector: [7, 7], metadata: { of: 'points' }, namespace: 'lines' },
    ]);
    expect(await exported('--namespace', 'lines', '--format', 'records')).to.deep.include({
      ...{ id: 'r', values: [8, 8], metadata: { of: 'records' }, namespace: 'lines' },
    });
    writeFileSync(file, '{"id":"a","vector":[1,2]}\n{"id":"b"}\n');
    const refused = await run('import', file, ...to);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/line 2 of .*lines\.jsonl: it has no vector of numbers/);
  }).timeout(120_000);

  it('a graph of many vectors is read from its file after a kill, or built again if the file is damaged', async () => {
    const { id, url, token } = await made('graph', { similarity_function: 'EUCLIDEAN', dimension_count: 4 });
    const vectorOf = (at: number) => Array.from({ length: 4 }, (_, place) => Math.sin(at * 4.1 + place * 1.7));
    let index = new Index({ url, token });
    const upsert = (from: number) =>
      index.upsert(Array.from({ length: 1000 }, (_, at) => ({ id: from + at, vector: vectorOf(from + at) })));
    for (let from = 0; from < MANY; from += 1000) await upsert(from);
    const asked = [3, 4999, MANY - 1].map((at) => ({ vector: vectorOf(at), topK: 5 }));
    /** The nearest by a comparison with all, except the removed one. */
    const exact = asked.map(({ vector, topK }) =>
      Array.from({ length: MANY }, (_, at) => {
        const squared = vectorOf(at).reduce((sum, value, place) => sum + (value - (vector[place] as number)) ** 2, 0);
        return { id: String(at), squared: at === REMOVED ? Number.POSITIVE_INFINITY : squared };
      })
        .sort((a, b) => a.squared - b.squared)
        .slice(0, topK)
        .map((hit) => hit.id),
    );
    const found = async () => Promise.all(asked.map(async (each) => (await index.query(each)).map((hit) => hit.id)));
    await index.delete([String(REMOVED)]);
    const answersExactly = () =>
      eventually(
        async () => {
          expect((await index.info()).vectorCount).to.equal(MANY - 1);
          expect(await found()).to.deep.equal(exact);
        },
        { timeoutMs: 30_000 },
      );
    await answersExactly();
    const { dataDir } = await started();
    const files = () =>
      readdirSync(join(dataDir, 'graphs'), { recursive: true, encoding: 'utf8' }).filter((name) => /index$/.test(name));
    await eventually(() => expect(files()).to.have.length(1), { timeoutMs: 40_000 });
    const restarted = async (): Promise<string> => {
      await process?.kill('SIGKILL');
      process = await startMillrace({ dataDir, env: SEARCH_ENVIRONMENT });
      const again = databaseOf(await manage(process, 'GET', `/v2/vector/index/${id}`));
      index = new Index({ url: again.url, token: again.token });
      await answersExactly();
      return process.stderr();
    };
    await restarted();
    await eventually(() => expect(process?.stderr()).to.match(/graph-file\.read/), { timeoutMs: 20_000 });
    await answersExactly();
    writeFileSync(join(dataDir, 'graphs', files()[0] as string), 'damaged');
    await restarted();
    expect(process?.stderr()).not.to.match(/graph-file\.read/);
    await manage(await started(), 'DELETE', `/v2/vector/index/${id}`);
    await eventually(() => expect(files()).to.deep.equal([]), { timeoutMs: 20_000 });
  });
});
