/** The stored documents that are not searchable yet, over all names of a search database. */
import { expect } from 'chai';
import { encodeDocument } from '../../../../src/domain/search/index.js';
import { pendingDocuments } from '../../../../src/edge/search/commands/whole-indexes.js';
import { searchDocuments } from '../../../../src/edge/search/document-store.js';
import type { DatabaseId } from '../../../../src/kernel/index.js';
import { MemoryKvGateway } from '../../../support/memory-kv-gateway.js';

const INDEX = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;

describe('pending documents', () => {
  const gateway = new MemoryKvGateway();
  const found = new Map<string, { documents: number; bytes: number }>();
  const pending = pendingDocuments(gateway, { info: async () => ({ namespaces: found, dimensions: 8 }) });

  async function store(name: string, count: number): Promise<void> {
    const texts = Array.from({ length: count }, (_, at) => [`${at}`, encodeDocument({ content: { at } })] as const);
    await searchDocuments(gateway, INDEX).upsert(name, new Map(texts), 100);
  }

  it('are 0 in an empty database', async () => expect(await pending({ id: INDEX })).to.equal(0));

  it('are counted over all names, and never below 0', async () => {
    await store('a', 3);
    await store('b', 2);
    expect(await pending({ id: INDEX })).to.equal(5);
    found.set('a', { documents: 1, bytes: 10 });
    expect(await pending({ id: INDEX })).to.equal(4);
    found.set('b', { documents: 9, bytes: 10 });
    expect(await pending({ id: INDEX })).to.equal(2);
  });
});
