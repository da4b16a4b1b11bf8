/** Calls of the published search client, unmodified, to any server with a search database. */
import { Search } from '@upstash/search';
import { expect } from 'chai';
import { eventually } from './eventually.js';

export interface SearchServer {
  readonly url: string;
  readonly token: string;
  readonly readOnlyToken: string;
}

type Film = { title: string; genre: string; year: number };
type Facts = { director: string };

const FILMS: { id: string; content: Film; metadata: Facts }[] = [
  { id: 'film-1', content: { title: 'Star Wars', genre: 'sci-fi', year: 1977 }, metadata: { director: 'Lucas' } },
  { id: 'film-2', content: { title: 'Inception', genre: 'sci-fi', year: 2010 }, metadata: { director: 'Nolan' } },
  { id: 'film-3', content: { title: 'The Dark Knight', genre: 'action', year: 2008 }, metadata: { director: 'Nolan' } },
  { id: 'series-1', content: { title: 'Star Trek', genre: 'sci-fi', year: 1966 }, metadata: { director: 'Butler' } },
];

/** Declares the tests. @param server called once, before the first test */
export function describeSearchClient(server: () => Promise<SearchServer>): void {
  let search: Search;
  let reader: Search;
  const films = () => search.index<Film, Facts>('my films!');
  const isIndexed = () =>
    eventually(async () => {
      expect((await search.info()).pendingDocumentCount).to.equal(0);
    });

  before(async () => {
    const { url, token, readOnlyToken } = await server();
    search = new Search({ url, token });
    reader = new Search({ url, token: readOnlyToken });
  });

  it('upserts documents and fetches them, with null for a missing document', async () => {
    expect(await films().upsert(FILMS)).to.equal('Success');
    const [second, missing, first] = await films().fetch({ ids: ['film-2', 'none', 'film-1'] });
    expect([second, missing, first]).to.deep.equal([FILMS[1], null, FILMS[0]]);
    expect(await films().fetch({ prefix: 'film-' })).to.have.length(3);
  });

  it('lists the index and counts its documents right after the upsert', async () => {
    expect(await search.listIndexes()).to.deep.equal(['my films!']);
    const { documentCount, indexes, diskSize } = await search.info();
    expect([documentCount, indexes['my films!']?.documentCount]).to.deep.equal([4, 4]);
    expect(diskSize).to.be.greaterThan(0);
    expect((await films().info()).documentCount).to.equal(4);
    expect(await search.index('other').info()).to.deep.equal({ pendingDocumentCount: 0, documentCount: 0 });
  });

  it('searches by words and by misspelled words, best match first, up to the limit', async () => {
    await isIndexed();
    const [best] = await films().search({ query: 'star wars' });
    expect(best?.id).to.equal('film-1');
    expect(best?.score).to.be.within(0, 1);
    expect(best?.metadata).to.deep.equal({ director: 'Lucas' });
    const [typo] = await films().search({ query: 'incepton', semanticWeight: 0 });
    expect(typo?.id).to.equal('film-2');
    expect(await films().search({ query: 'star', limit: 1 })).to.have.length(1);
    expect(await films().search({ query: 'star', reranking: true, inputEnrichment: false })).to.not.equal([]);
    expect(await search.index('other').search({ query: 'star' })).to.deep.equal([]);
  });

  it('searches within a filter, given as text and as an object', async () => {
    const ids = async (filter: Parameters<ReturnType<typeof films>['search']>[0]['filter']) =>
      (await films().search({ query: 'star', filter, limit: 10 } as never)).map(({ id }) => id).sort();
    expect(await ids("genre = 'sci-fi' AND year < 2000")).to.deep.equal(['film-1', 'series-1']);
    expect(await ids("@metadata.director = 'Nolan'")).to.deep.equal(['film-2', 'film-3']);
    expect(await ids({ AND: [{ genre: { equals: 'sci-fi' } }, { year: { lessThan: 1970 } }] })).to.deep.equal([
      'series-1',
    ]);
  });

  it('pages through all documents with range', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await films().range({ cursor, limit: 3 });
      seen.push(...page.documents.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== '');
    expect(seen).to.deep.equal(['film-1', 'film-2', 'film-3', 'series-1']);
    const { documents } = await films().range({ cursor: '0', limit: 10, prefix: 'series-' });
    expect(documents).to.deep.equal([FILMS[3]]);
  });

  it('searches and fetches with the read-only token, which is refused upsert, delete and reset', async () => {
    const own = reader.index<Film, Facts>('my films!');
    expect(await own.search({ query: 'star' })).to.not.deep.equal([]);
    expect(await own.fetch(['film-1'])).to.deep.equal([FILMS[0]]);
    await refused(own.upsert(FILMS), 'Forbidden: a read-only token may not do this');
    await refused(own.delete('film-1'), 'Forbidden: a read-only token may not do this');
    await refused(own.reset(), 'Forbidden: a read-only token may not do this');
  });

  it('gets an error with the reason for a wrong token, an incomplete filter and an empty id', async () => {
    const { url } = await server();
    await refused(new Search({ url, token: 'wrong' }).info(), 'Unauthorized: Invalid auth token');
    await refused(films().search({ query: 'x', filter: 'year <' }), /character/);
    await refused(films().upsert({ id: '', content: {} as Film }), 'document 0: id must not be empty');
  });

  it('replaces a document, and then finds the new one', async () => {
    await films().upsert({ id: 'film-3', content: { title: 'Batman Begins', genre: 'action', year: 2005 } });
    await eventually(async () => {
      const [best] = await films().search({ query: 'batman begins' });
      expect(best?.content.title).to.equal('Batman Begins');
      expect(best?.metadata).to.equal(undefined);
    });
  });

  it('deletes by ids, prefix and filter', async () => {
    expect(await films().delete(['film-1', 'none'])).to.deep.equal({ deleted: 1 });
    expect(await films().delete({ prefix: 'series-' })).to.deep.equal({ deleted: 1 });
    expect(await films().delete({ filter: 'year = 2010' })).to.deep.equal({ deleted: 1 });
    expect((await films().info()).documentCount).to.equal(1);
    await eventually(async () => {
      expect(await films().search({ query: 'star wars', semanticWeight: 0 })).to.deep.equal([]);
    });
  });

  it('resets an index and deletes it', async () => {
    expect(await films().reset()).to.equal('Success');
    expect(await search.listIndexes()).to.deep.equal(['my films!']);
    expect(await films().deleteIndex()).to.equal('Success');
    expect(await search.listIndexes()).to.deep.equal([]);
    await refused(films().deleteIndex(), /^Namespace my films! for the index .+ does not exist$/);
  });
}

async function refused(call: Promise<unknown>, text: string | RegExp): Promise<void> {
  const error = await call.then(
    () => undefined,
    (failure: Error) => failure,
  );
  expect(error, 'a call that is refused').to.be.instanceOf(Error);
  if (typeof text === 'string') expect(error?.message).to.equal(text);
  else expect(error?.message).to.match(text);
}
