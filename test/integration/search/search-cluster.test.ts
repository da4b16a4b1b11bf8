/** Search databases of two processes on one NATS: the same through both, and complete after one is killed. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../../support/millrace-cluster.js';
import { endEverything, type MillraceProcess } from '../../support/millrace-process.js';
import {
  createSearchDatabase,
  SEARCH_ENVIRONMENT,
  type SearchDatabase,
  searchCall,
} from '../../support/search-process.js';

const LONG_MS = { timeoutMs: 30_000 };
const BATCH = 40;

describe('search indexes: two processes', function () {
  this.timeout(120_000);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let database: SearchDatabase;

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, SEARCH_ENVIRONMENT);
    await cluster.start();
    await cluster.start();
    database = await createSearchDatabase(owner(), 'shared');
    // Waits until the other process knows the database, too.
    await eventually(async () => {
      expect((await searchCall(through(other()), 'info')).status).to.equal(200);
    }, LONG_MS);
  });
  after(async () => {
    await endEverything();
    await nats?.stop();
  });

  const owner = () => ownerOf('KV_0', cluster.processes);
  const other = () => cluster.processes.find((candidate) => candidate !== owner()) as MillraceProcess;
  const through = ({ addresses }: MillraceProcess): SearchDatabase => ({
    ...database,
    url: `${addresses.mgmt}/search/${database.id}`,
  });

  it('read through each process the writes through the other', async () => {
    for (const [from, to] of [
      [owner(), other()],
      [other(), owner()],
    ] as const) {
      const document = { id: 'a', content: { text: `by ${from.pid}` } };
      expect((await searchCall(through(from), 'upsert-data/notes', document)).status).to.equal(200);
      const { body } = await searchCall(through(to), 'fetch/notes', { ids: ['a'], includeData: true });
      expect(body).to.deep.equal({ result: [document] });
      await eventually(async () => {
        const found = await searchCall(through(to), 'search/notes', { query: `by ${from.pid}`, includeData: true });
        expect(found.body.result?.[0]?.content, JSON.stringify(found.body)).to.deep.equal(document.content);
      }, LONG_MS);
    }
  });

  it('carry an upsert of megabytes to the other process, and return it in pages', async () => {
    const metadata = { text: 'x'.repeat(45_000) };
    const documents = Array.from({ length: 100 }, (_, at) => ({ id: `large-${at}`, content: {}, metadata }));
    expect((await searchCall(through(other()), 'upsert-data/large', documents)).status).to.equal(200);
    const { body } = await searchCall(through(other()), 'range/large', { limit: 100, includeMetadata: true });
    expect(body.result.vectors).to.have.length(100);
    expect(body.result.vectors[99].metadata).to.deep.equal(metadata);
  });

  it('have each upsert completely or not at all when the owner is killed', async () => {
    const survivor = other();
    const victim = owner();
    const stored = new Set<number>();
    let sent = 0;
    let isWriting = true;
    const writer = (async () => {
      for (; isWriting; sent += 1) {
        const batch = Array.from({ length: BATCH }, (_, at) => ({ id: `b${sent}-${at}`, content: { batch: sent } }));
        const number = sent;
        const { status } = await searchCall(through(survivor), 'upsert-data/whole', batch);
        if (status === 200) stored.add(number);
      }
    })();
    await eventually(() => expect(stored.size).to.be.greaterThan(20), LONG_MS);
    await victim.kill('SIGKILL');
    const before = stored.size;
    await eventually(() => expect(stored.size).to.be.greaterThan(before + 20), LONG_MS);
    isWriting = false;
    await writer;

    const counts = new Map<string, number>();
    let cursor = '';
    do {
      const { body } = await searchCall(through(survivor), 'range/whole', { cursor, limit: 1000 });
      for (const { id } of body.result.vectors) {
        const [batch] = id.split('-');
        counts.set(batch, (counts.get(batch) ?? 0) + 1);
      }
      cursor = body.result.nextCursor;
    } while (cursor !== '');
    for (const [batch, count] of counts) expect(count, batch).to.equal(BATCH);
    for (const number of stored) expect(counts.has(`b${number}`), `b${number}`).to.equal(true);
    await eventually(async () => {
      const { namespaces } = (await searchCall(through(survivor), 'info')).body.result;
      expect(namespaces.whole).to.deep.equal({ vectorCount: counts.size * BATCH, pendingVectorCount: 0 });
    }, LONG_MS);
  });
});
