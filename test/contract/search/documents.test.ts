/** The data plane of search indexes over HTTP: writing, reading and removing documents. Proves DST1. */
import { expect } from 'chai';
import { DOCUMENT_WRITES } from '../../../src/domain/search/index.js';
import { SEARCH_READ_TOKEN, SearchEndpointHarness } from '../../support/search-endpoint.js';

const ALL = { includeData: true, includeMetadata: true };

describe('search data plane: documents', () => {
  let face: SearchEndpointHarness;
  beforeEach(async () => {
    face = await new SearchEndpointHarness().start();
  });
  afterEach(() => face.stop());

  describe('upsert-data', () => {
    it('accepts one document and an array of documents', async () => {
      expect(await face.result('upsert-data/films', { id: 'a', content: { title: 'Ä' } })).to.equal('Success');
      const many = [
        { id: 'b', content: { title: 'B' }, metadata: { year: 1999 } },
        { id: 'c', content: {} },
      ];
      expect(await face.result('upsert-data/films', many)).to.equal('Success');
      expect(await face.result('fetch/films', { ids: ['a', 'b', 'c'], ...ALL })).to.deep.equal([
        { id: 'a', content: { title: 'Ä' } },
        { id: 'b', content: { title: 'B' }, metadata: { year: 1999 } },
        { id: 'c', content: {} },
      ]);
    });

    it('replaces a document completely', async () => {
      await face.result('upsert-data/films', { id: 'a', content: { x: 1 }, metadata: { y: 1 } });
      await face.result('upsert-data/films', { id: 'a', content: { z: 2 } });
      expect(await face.result('fetch/films', { ids: ['a'], ...ALL })).to.deep.equal([{ id: 'a', content: { z: 2 } }]);
    });

    it('keeps the last of several documents with one id, and counts one', async () => {
      await face.result('upsert-data/films', [
        { id: 'a', content: { x: 1 } },
        { id: 'a', content: { x: 2 } },
      ]);
      expect(await face.result('fetch/films', { ids: ['a'], ...ALL })).to.deep.equal([{ id: 'a', content: { x: 2 } }]);
      expect((await face.result('info')).vectorCount).to.equal(1);
    });

    it('accepts a number as an id, and stores its text', async () => {
      await face.result('upsert-data/films', { id: 7, content: { x: 1 } });
      expect(await face.result('fetch/films', { ids: [7], ...ALL })).to.deep.equal([{ id: '7', content: { x: 1 } }]);
      expect(await face.result('delete/films', { ids: [7] })).to.deep.equal({ deleted: 1 });
    });

    it('stores a vector of the client, and shows it on request', async () => {
      await face.result('upsert-data/films', { id: 'a', content: {}, vector: [0.5, 1] });
      expect(await face.result('fetch/films', { ids: ['a'], ...ALL })).to.deep.equal([{ id: 'a', content: {} }]);
      const shown = await face.result('fetch/films', { ids: ['a'], includeVectors: true });
      expect(shown).to.deep.equal([{ id: 'a', vector: [0.5, 1] }]);
    });

    it('creates no index from an empty array', async () => {
      expect(await face.result('upsert-data/films', [])).to.equal('Success');
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    });

    it('reads a body of megabytes document by document', async () => {
      const text = 'é'.repeat(2000);
      const batch = Array.from({ length: 100 }, (_, at) => ({ id: `d${at}`, content: { text, quote: '"],[{' } }));
      await face.result('upsert-data/films', JSON.stringify(batch, undefined, 2));
      const [last] = await face.result('fetch/films', { ids: ['d99'], ...ALL });
      expect(last).to.deep.equal({ id: 'd99', content: { text, quote: '"],[{' } });
      expect((await face.result('info')).vectorCount).to.equal(100);
    });

    it('names the document and the field that is wrong, and writes no document', async () => {
      const good = { id: 'good', content: { x: 1 } };
      const wrong: [unknown, string][] = [
        [[good, { content: {} }], 'document 1: id must be a string'],
        [{ id: '', content: {} }, 'document 0: id must not be empty'],
        [{ id: 'x'.repeat(1025), content: {} }, 'document 0: id has more than 1024 characters'],
        ['{"id":"\\ud800","content":{}}', 'document 0: id is not well-formed text'],
        [{ id: true, content: {} }, 'document 0: id must be a string'],
        [[good, { id: 'a' }], 'document 1: content must be an object'],
        [{ id: 'a', content: [] }, 'document 0: content must be an object'],
        [{ id: 'a', content: {}, metadata: 'x' }, 'document 0: metadata must be an object'],
        [{ id: 'a', content: {}, vector: ['x'] }, 'document 0: vector: a vector must contain only finite numbers'],
        [{ id: 'a', content: {}, vector: {} }, 'document 0: vector must be an array of numbers'],
        [[good, 'text'], 'document 1 is not a JSON object'],
        [{ id: 'a', content: { x: 'y'.repeat(5000) } }, 'document 0: content has 5008 characters as JSON'],
        ['', 'the body is not valid JSON'],
        ['{', 'the body is not valid JSON'],
      ];
      for (const [body, text] of wrong) {
        const answer = await face.call('upsert-data/films', body);
        expect(answer.status, text).to.equal(400);
        expect(answer.body.error).to.contain(text);
        expect(answer.body.status).to.equal(400);
      }
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    });

    it('refuses a long body that is not JSON, at any position of the error', async () => {
      const batch = Array.from({ length: 100 }, (_, at) => ({ id: `d${at}`, content: { text: 'x'.repeat(4000) } }));
      const whole = JSON.stringify(batch);
      const broken = [
        whole.slice(0, -1),
        `${whole}]`,
        `${whole.slice(0, -1)},]`,
        whole.replace('"id"', 'id'),
        `[${whole}`,
      ];
      for (const body of broken) expect((await face.call('upsert-data/films', body)).status).to.equal(400);
      expect(await face.result('list-namespaces')).to.deep.equal([]);
    });

    it('refuses a document above 512 KiB and a body above 8 MiB', async () => {
      const one = await face.call('upsert-data/films', { id: 'a', content: {}, other: 'x'.repeat(600_000) });
      expect([one.status, one.body.error]).to.deep.equal([400, 'a document has more than 524288 bytes as JSON']);
      const body = await face.call('upsert-data/films', 'x'.repeat(8 * 1024 * 1024 + 1));
      expect([body.status, body.body.status]).to.deep.equal([413, 413]);
    });
  });

  describe('fetch', () => {
    beforeEach(() => face.fill('films', 3));

    it('answers in the order of the ids, with null for missing ones', async () => {
      expect(await face.result('fetch/films', { ids: ['d2', 'none', 'd0'], ...ALL })).to.deep.equal([
        { id: 'd2', content: { number: 2 } },
        null,
        { id: 'd0', content: { number: 0 } },
      ]);
    });

    it('shows content and metadata only on request', async () => {
      expect(await face.result('fetch/films', { ids: ['d0'] })).to.deep.equal([{ id: 'd0' }]);
    });

    it('answers nulls for an index that does not exist', async () => {
      expect(await face.result('fetch/none', { ids: ['a', 'b'] })).to.deep.equal([null, null]);
    });

    it('finds up to 1,000 documents by a prefix', async () => {
      await face.fill('many', 1100, (at) => `p${String(at).padStart(4, '0')}`);
      await face.result('upsert-data/many', [{ id: 'q', content: {} }]);
      const found = await face.result('fetch/many', { prefix: 'p' });
      expect(found).to.have.length(1000);
      expect(found[0]).to.deep.equal({ id: 'p0000' });
      expect(await face.result('fetch/many', { prefix: 'p109' })).to.have.length(10);
      expect(await face.result('fetch/many', { prefix: 'none' })).to.deep.equal([]);
    });

    it('works with GET', async () => {
      expect(await face.result('fetch/films', { ids: ['d1'] }, { method: 'GET' })).to.deep.equal([{ id: 'd1' }]);
    });

    it('requires ids or a prefix, and not both', async () => {
      for (const body of [{}, undefined, { ids: ['a'], prefix: 'a' }, { prefix: '' }, { ids: null }]) {
        const answer = await face.call('fetch/films', body);
        expect([answer.status, answer.body.error]).to.deep.equal([400, 'exactly one of ids and prefix is needed']);
      }
      const wrong = await face.call('fetch/films', { ids: ['a', {}] });
      expect([wrong.status, wrong.body.error]).to.deep.equal([400, 'ids[1] must be a string']);
      const long = await face.call('fetch/films', { ids: Array.from({ length: 1001 }, (_, at) => `${at}`) });
      expect([long.status, long.body.error]).to.deep.equal([400, 'ids has more than 1000 items']);
    });
  });

  describe('range', () => {
    it('walks through all documents once, in the order of their ids', async () => {
      await face.fill('films', 25, (at) => `d${String(at).padStart(2, '0')}`);
      for (const start of ['', '0', 0]) {
        const seen: string[] = [];
        let cursor: string | number = start;
        do {
          const page: { nextCursor: string; vectors: { id: string }[] } = await face.result('range/films', {
            cursor,
            limit: 10,
          });
          seen.push(...page.vectors.map(({ id }) => id));
          cursor = page.nextCursor;
        } while (cursor !== '');
        expect(seen).to.deep.equal(Array.from({ length: 25 }, (_, at) => `d${String(at).padStart(2, '0')}`));
      }
    });

    it('has an empty nextCursor on the last page', async () => {
      await face.fill('films', 10);
      expect((await face.result('range/films', { cursor: '', limit: 10 })).nextCursor).to.equal('');
      expect((await face.result('range/films', { cursor: '', limit: 9 })).nextCursor).to.not.equal('');
      expect(await face.result('range/films', { cursor: '', limit: 10, prefix: 'none' })).to.deep.equal({
        nextCursor: '',
        vectors: [],
      });
    });

    it('stays within a prefix, also one that ends in a multi-byte character', async () => {
      const ids = ['a', 'aé', 'aé1', 'aéz', 'aê', 'b'];
      await face.result(
        'upsert-data/films',
        ids.map((id) => ({ id, content: { id } })),
      );
      const first = await face.result('range/films', { cursor: '0', limit: 2, prefix: 'aé', ...ALL });
      expect(first.vectors).to.deep.equal([
        { id: 'aé', content: { id: 'aé' } },
        { id: 'aé1', content: { id: 'aé1' } },
      ]);
      const second = await face.result('range/films', { cursor: first.nextCursor, limit: 2, prefix: 'aé' });
      expect(second).to.deep.equal({ nextCursor: '', vectors: [{ id: 'aéz' }] });
    });

    it('continues correctly when documents are added and removed', async () => {
      await face.fill('films', 6);
      const { nextCursor } = await face.result('range/films', { cursor: '', limit: 3 });
      await face.result('delete/films', { ids: ['d2', 'd3'] });
      await face.result('upsert-data/films', { id: 'd1a', content: {} });
      const { vectors } = await face.result('range/films', { cursor: nextCursor, limit: 10 });
      expect(vectors).to.deep.equal([{ id: 'd4' }, { id: 'd5' }]);
    });

    it('has pages of ten documents by default, and is empty for an index that does not exist', async () => {
      await face.fill('films', 12);
      expect((await face.result('range/films', [])).vectors).to.have.length(10);
      expect(await face.result('range/none', { cursor: '', limit: 5 })).to.deep.equal({ nextCursor: '', vectors: [] });
    });

    it('ends a page early when its documents are long, and loses none', async () => {
      const batch = Array.from({ length: 100 }, (_, at) => ({
        id: `d${at}`,
        content: {},
        metadata: { text: 'x'.repeat(45_000) },
      }));
      for (const letter of ['a', 'b', 'c']) {
        const long = batch.map((document) => ({ ...document, id: letter + document.id }));
        await face.result('upsert-data/films', long);
      }
      const first = await face.result('range/films', { cursor: '', limit: 1000 });
      expect(first.vectors).to.have.length(200);
      const second = await face.result('range/films', { cursor: first.nextCursor, limit: 1000 });
      expect(second.vectors).to.have.length(100);
      expect(second.nextCursor).to.equal('');
    });

    it('names the invalid field', async () => {
      const wrong: [unknown, string][] = [
        [{ limit: 0 }, 'limit must not be less than 1'],
        [{ limit: 1001 }, 'limit must not be greater than 1000'],
        [{ limit: '5' }, 'limit must be an integer number'],
        [{ cursor: 'x' }, 'cursor is invalid: give the cursor of an earlier response'],
        [{ cursor: {} }, 'cursor is invalid: give the cursor of an earlier response'],
        [{ prefix: 5 }, 'prefix must be a string'],
        [{ includeData: 'yes' }, 'includeData must be a boolean value'],
        ['"x"', 'the body is not a JSON object'],
      ];
      for (const [body, text] of wrong) {
        const answer = await face.call('range/films', body);
        expect([answer.status, answer.body.error]).to.deep.equal([400, text]);
      }
    });
  });

  describe('delete', () => {
    it('by ids counts the existing documents', async () => {
      await face.fill('films', 3);
      expect(await face.result('delete/films', { ids: ['d0', 'none', 'd1', 'd0'] })).to.deep.equal({ deleted: 2 });
      expect(await face.result('delete/films', { ids: ['d0'] })).to.deep.equal({ deleted: 0 });
      expect(await face.result('delete/films', ['d2'])).to.deep.equal({ deleted: 1 });
      expect(await face.result('delete/none', { ids: ['d2'] })).to.deep.equal({ deleted: 0 });
      expect(await face.result('delete/films', { ids: [] })).to.deep.equal({ deleted: 0 });
    });

    it('by prefix removes all documents, in steps', async () => {
      await face.fill('films', 450, (at) => `p${at}`);
      await face.result('upsert-data/films', [{ id: 'q', content: {} }]);
      expect(await face.result('delete/films', { prefix: 'p' })).to.deep.equal({ deleted: 450 });
      expect((await face.result('range/films', {})).vectors).to.deep.equal([{ id: 'q' }]);
      expect((await face.result('info')).vectorCount).to.equal(1);
    });

    it('by filter removes matching documents, by content and metadata', async () => {
      await face.fill('films', 450);
      await face.result('upsert-data/films', { id: 'm', content: { number: 1000 }, metadata: { old: true } });
      expect(await face.result('delete/films', { filter: 'number < 400' })).to.deep.equal({ deleted: 400 });
      expect(await face.result('delete/films', { filter: '@metadata.old = true' })).to.deep.equal({ deleted: 1 });
      expect(await face.result('delete/films', { filter: "title = 'none'" })).to.deep.equal({ deleted: 0 });
      expect((await face.result('info')).vectorCount).to.equal(50);
    });

    it('works with DELETE', async () => {
      await face.fill('films', 1);
      expect(await face.result('delete/films', { ids: ['d0'] }, { method: 'DELETE' })).to.deep.equal({ deleted: 1 });
    });

    it('requires exactly one of ids, prefix and filter, and counts an empty string as absent', async () => {
      await face.fill('films', 1);
      for (const body of [
        {},
        [{}],
        { ids: ['a'], filter: 'x = 1' },
        { prefix: '' },
        { filter: '' },
        { prefix: null },
      ]) {
        const answer = await face.call('delete/films', body);
        expect(answer.status).to.equal(400);
      }
      expect((await face.call('delete/films', { filter: '  ' })).status).to.equal(400);
      expect((await face.result('info')).vectorCount).to.equal(1);
    });

    it('names the position of an error in a filter', async () => {
      const answer = await face.call('delete/films', { filter: 'number <' });
      expect(answer.status).to.equal(400);
      expect(answer.body.error).to.match(/filter.*\d/i);
    });

    it('by filter keeps a document replaced during the call by one that does not match', async () => {
      await face.fill('films', 2);
      const replaced = face.gateway.onceBefore(DOCUMENT_WRITES.removeUnchanged.name, () =>
        face.result('upsert-data/films', { id: 'd0', content: { number: 77 } }),
      );
      expect(await face.result('delete/films', { filter: 'number < 10' })).to.deep.equal({ deleted: 1 });
      await replaced;
      expect(await face.result('fetch/films', { ids: ['d0', 'd1'], ...ALL })).to.deep.equal([
        { id: 'd0', content: { number: 77 } },
        null,
      ]);
    });

    it('by filter removes a document replaced during the call by one that matches', async () => {
      await face.fill('films', 2);
      const replaced = face.gateway.onceBefore(DOCUMENT_WRITES.removeUnchanged.name, () =>
        face.result('upsert-data/films', { id: 'd0', content: { number: 5 } }),
      );
      expect(await face.result('delete/films', { filter: 'number < 10' })).to.deep.equal({ deleted: 2 });
      await replaced;
      expect((await face.result('info')).vectorCount).to.equal(0);
    });

    it('interrupted by a stop answers 503, and continues when it is repeated', async () => {
      for (const body of [{ prefix: 'd' }, { filter: 'number >= 0' }]) {
        await face.fill('films', 450);
        face.isDraining = true;
        const answer = await face.call('delete/films', body);
        expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
        expect(answer.body.error).to.contain('not all documents were deleted');
        expect((await face.result('info')).vectorCount).to.equal(250);
        face.isDraining = false;
        expect(await face.result('delete/films', body)).to.deep.equal({ deleted: 250 });
      }
      const updates = face.usages.map((usage) => usage.updates ?? 0);
      expect(updates.filter((count) => count === 200 || count === 250)).to.deep.equal([200, 250, 200, 250]);
    });

    it('answers 503 above the maximum of parallel full scans', async () => {
      await face.stop();
      face = await new SearchEndpointHarness({ limits: { maxScans: 1 } }).start();
      await face.fill('films', 1);
      let open = () => {};
      face.gateway.gate = new Promise((resolve) => {
        open = resolve;
      });
      const first = face.call('delete/films', { filter: 'number = 0' });
      await face.gateway.waits();
      const second = await face.call('delete/films', { filter: 'number = 0' });
      expect([second.status, second.headers['retry-after']]).to.deep.equal([503, '1']);
      open();
      expect((await first).body).to.deep.equal({ result: { deleted: 1 } });
    });
  });

  it('the read-only token gets 403 for writes, and reads', async () => {
    await face.fill('films', 1);
    const reading = { token: SEARCH_READ_TOKEN };
    const writes: [string, unknown][] = [
      ['upsert-data/films', { id: 'a', content: {} }],
      ['delete/films', { ids: ['d0'] }],
      ['reset/films', []],
      ['reset?all', []],
      ['delete-namespace/films', []],
      ['rename-namespace', { namespace: 'films', newNamespace: 'other' }],
    ];
    for (const [command, body] of writes) {
      const answer = await face.call(command, body, reading);
      expect(answer.status, command).to.equal(403);
      expect(answer.body).to.deep.equal({ error: 'Forbidden: a read-only token may not do this', status: 403 });
    }
    expect(await face.result('fetch/films', { ids: ['d0'] }, reading)).to.deep.equal([{ id: 'd0' }]);
    expect((await face.result('range/films', {}, reading)).vectors).to.deep.equal([{ id: 'd0' }]);
    expect(await face.result('search/films', { query: 'x' }, reading)).to.deep.equal([]);
    expect((await face.result('info', [], reading)).vectorCount).to.equal(1);
    expect(await face.result('list-namespaces', [], reading)).to.deep.equal(['films']);
  });
});
