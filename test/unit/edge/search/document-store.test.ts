/** The documents of a search database against a model of maps, by any commands in any order. Proves DST2, DST3. */
import { expect } from 'chai';
import fc from 'fast-check';
import { digestOf, replyBytes } from '../../../../src/domain/kv/index.js';
import {
  compileFilter,
  DOCUMENT_WRITES,
  encodeDocument,
  type FilterPredicate,
  STEP_DOCUMENTS,
  type StoredDocument,
} from '../../../../src/domain/search/index.js';
import { type DocumentStore, type RemovalFilter, searchDocuments } from '../../../../src/edge/search/document-store.js';
import { type ByteString, bytesOfText, type DatabaseId, textOfBytes } from '../../../../src/kernel/index.js';
import type { KvRequest, KvResponse } from '../../../../src/protocol/index.js';
import { repetitions } from '../../../support/depth.js';
import { MemoryKvGateway } from '../../../support/memory-kv-gateway.js';
import { FollowedGateway } from '../../../support/search-follower.js';
import { documentsKey, orderKey } from '../../../support/search-keys.js';

const INDEX = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;
const PARTITION = `kv:${INDEX}:0`;
const NAMES = ['a', 'b/c', 'é', 'd:a'];
const IDS = ['1', '10', '2', 'é', 'é1', 'x', '\u{10ffff}'];
const MAX_DOCUMENTS = 12;

const whichFit = (fits: FilterPredicate): RemovalFilter => ({ fits, pauseIfDue: () => undefined });

type Action =
  | { readonly type: 'upsert'; readonly name: string; readonly documents: readonly (readonly [string, number])[] }
  | { readonly type: 'remove-ids'; readonly name: string; readonly ids: readonly string[] }
  | { readonly type: 'remove-prefix'; readonly name: string; readonly prefix: string }
  | { readonly type: 'remove-fitting'; readonly name: string; readonly below: number }
  | { readonly type: 'reset' | 'delete'; readonly name: string }
  | { readonly type: 'reset-all' }
  | { readonly type: 'rename'; readonly name: string; readonly to: string; readonly deletes: boolean };

const name = fc.constantFrom(...NAMES);
const id = fc.constantFrom(...IDS);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('upsert' as const),
      name,
      documents: fc.array(fc.tuple(id, fc.nat(2000)), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove-ids' as const), name, ids: fc.array(id) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove-prefix' as const), name, prefix: id }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove-fitting' as const), name, below: fc.nat(2000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('reset' as const, 'delete' as const), name }) },
  { weight: 1, arbitrary: fc.constant({ type: 'reset-all' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('rename' as const), name, to: name, deletes: fc.boolean() }),
  },
);

const textOf = (number: number): ByteString => encodeDocument({ content: { number, word: 'é'.repeat(number % 7) } });

class Model {
  /** In order of creation. */
  readonly names = new Map<string, Map<string, ByteString>>();
  readonly order: string[] = [];

  get size(): number {
    return [...this.names.values()].reduce((sum, documents) => sum + documents.size, 0);
  }

  do(act: Action): unknown {
    switch (act.type) {
      case 'upsert':
        return this.#upsert(act.name, new Map(act.documents));
      case 'remove-ids':
        return this.#remove(act.name, (key) => act.ids.includes(key));
      case 'remove-prefix':
        return this.#remove(act.name, (key) => key.startsWith(act.prefix));
      case 'remove-fitting':
        return this.#remove(act.name, (_, text) => JSON.parse(textOfBytes(text)).content.number < act.below);
      case 'reset':
        return void this.names.get(act.name)?.clear();
      case 'delete':
        return this.#delete(act.name);
      case 'reset-all':
        for (const documents of this.names.values()) documents.clear();
        return;
      case 'rename':
        return this.#rename(act.name, act.to, act.deletes);
    }
  }

  #upsert(target: string, documents: Map<string, number>): unknown {
    const held = this.names.get(target);
    const added = [...documents.keys()].filter((key) => held?.has(key) !== true).length;
    if (added > 0 && this.size + added > MAX_DOCUMENTS) return 'documents';
    if (held === undefined) {
      this.names.set(target, new Map());
      this.order.push(target);
    }
    for (const [key, number] of documents) this.names.get(target)?.set(key, textOf(number));
    return 'done';
  }

  #remove(target: string, fits: (key: string, text: ByteString) => boolean): number {
    const documents = this.names.get(target) ?? new Map<string, ByteString>();
    const gone = [...documents].filter(([key, text]) => fits(key, text));
    for (const [key] of gone) documents.delete(key);
    return gone.length;
  }

  #delete(target: string): boolean {
    if (!this.names.delete(target)) return false;
    this.order.splice(this.order.indexOf(target), 1);
    return true;
  }

  #rename(from: string, to: string, deletes: boolean): string {
    const documents = this.names.get(from);
    if (documents === undefined) return 'missing';
    if (from === to) return 'done';
    if (this.names.has(to) && !deletes) return 'taken';
    this.#delete(to);
    this.names.delete(from);
    this.names.set(to, documents);
    this.order.splice(this.order.indexOf(from), 1, to);
    return 'done';
  }
}

async function run(store: DocumentStore<StoredDocument>, act: Action): Promise<unknown> {
  const always = () => true;
  switch (act.type) {
    case 'upsert':
      return (await store.upsert(act.name, new Map(act.documents.map(([key, n]) => [key, textOf(n)])), MAX_DOCUMENTS))
        .kind;
    case 'remove-ids':
      return (await store.removeIds(act.name, act.ids)).removed;
    case 'remove-prefix':
      return (await store.removePrefix(act.name, act.prefix, always)).removed;
    case 'remove-fitting':
      return (
        await store.removeFitting(act.name, whichFit(compileFilter(`number < ${act.below}`) ?? (() => false)), always)
      ).removed;
    case 'reset':
      return void (await store.reset(act.name));
    case 'delete':
      return (await store.deleteName(act.name)) !== undefined;
    case 'reset-all':
      return void (await store.resetAll());
    case 'rename':
      return store.rename(act.name, act.to, act.deletes);
  }
}

async function checkAgainst(
  model: Model,
  store: DocumentStore<StoredDocument>,
  gateway: FollowedGateway,
): Promise<void> {
  expect(await store.names()).to.deep.equal(model.order);
  const bytesOf = (documents: ReadonlyMap<string, ByteString>) =>
    [...documents].reduce((sum, [key, text]) => sum + bytesOfText(key).length + text.length, 0);
  const counts = model.order.map((held) => {
    const documents = model.names.get(held) ?? new Map();
    return { name: held, documents: documents.size, bytes: bytesOf(documents) };
  });
  expect(await store.counts()).to.deep.equal(counts);
  // DS1
  expect(await store.totals()).to.deep.equal({
    documents: model.size,
    bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  for (const [held, documents] of model.names) {
    const { documents: found } = await store.page(held, '', undefined, 100);
    const sorted = [...documents.keys()].sort((a, b) => (bytesOfText(a) < bytesOfText(b) ? -1 : 1));
    // DS2
    expect(found.map((document) => document.id)).to.deep.equal(sorted);
    for (const { id: key, content } of found) {
      expect(encodeDocument({ content })).to.equal(documents.get(key));
    }
  }
  // Deleted documents leave no keys, and a follower of the journal has the same state.
  const engine = gateway.engineOf(PARTITION);
  expect(digestOf(gateway.replayed)).to.equal(digestOf(engine));
  const projected = counts.filter(({ documents }) => documents > 0).map((count) => [count.name, count.documents]);
  const { namespaces } = gateway.projected.info();
  const found = [...namespaces].map(([held, { documents }]) => [held, documents]);
  expect(found).to.have.deep.members(projected);
  const { keyspace } = engine;
  for (const held of NAMES)
    if ((model.names.get(held)?.size ?? 0) === 0)
      expect([keyspace.peek(documentsKey(held)), keyspace.peek(orderKey(held))]).to.deep.equal([undefined, undefined]);
}

describe('edge/search: stored documents', () => {
  it('equal a model of maps after any commands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
        const gateway = new FollowedGateway();
        const store = searchDocuments(gateway, INDEX);
        const model = new Model();
        for (const act of actions) {
          expect(await run(store, act), JSON.stringify(act)).to.deep.equal(model.do(act));
          await checkAgainst(model, store, gateway);
        }
      }),
      { numRuns: repetitions(60) },
    );
  });

  it('keep a document that is replaced on every try of a deletion by filter, which ends after five tries', async () => {
    class Restless extends MemoryKvGateway {
      tries = 0;

      override async execute(request: KvRequest): Promise<KvResponse> {
        if (request.commands[0]?.[0] === DOCUMENT_WRITES.removeUnchanged.name) {
          this.tries += 1;
          await searchDocuments(this, INDEX).upsert('a', new Map([['1', textOf(this.tries)]]), MAX_DOCUMENTS);
        }
        return super.execute(request);
      }
    }
    const gateway = new Restless();
    const store = searchDocuments(gateway, INDEX);
    const texts = new Map(['1', '2'].map((key) => [key, textOf(0)] as const));
    await store.upsert('a', texts, MAX_DOCUMENTS);
    const removal = await store.removeFitting(
      'a',
      whichFit(() => true),
      () => true,
    );
    expect(removal).to.include({ removed: 1, isCutShort: false, documents: 1 });
    expect(gateway.tries).to.equal(5);
  });
});

describe('the documents of a search database that grows', () => {
  /** The largest request, the largest answer and the largest write of one step. */
  async function largest(count: number, work: (store: DocumentStore<StoredDocument>) => Promise<unknown>) {
    const gateway = new MemoryKvGateway();
    gateway.keepsRequests = false;
    const store = searchDocuments(gateway, INDEX);
    for (let from = 0; from < count; from += 100) {
      const texts = Array.from(
        { length: 100 },
        (_, at) => [`id-${String(from + at).padStart(6, '0')}`, textOf(at)] as const,
      );
      await store.upsert('a', new Map(texts), count);
    }
    const most = { asked: 0, answered: 0, requests: 0 };
    const { execute } = gateway;
    gateway.execute = async (request) => {
      const response = await execute.call(gateway, request);
      most.requests += 1;
      most.asked = Math.max(most.asked, request.commands.flat().length);
      most.answered = Math.max(most.answered, ...response.replies.map(replyBytes));
      return response;
    };
    await work(store);
    return most;
  }

  const goOn = () => true;
  const PAGE = 50;
  const WORK: Readonly<Record<string, (store: DocumentStore<StoredDocument>) => Promise<unknown>>> = {
    'removing by prefix': (store) => store.removePrefix('a', 'id-', goOn),
    'removing by a filter': (store) =>
      store.removeFitting(
        'a',
        whichFit(() => true),
        goOn,
      ),
    'removing nothing by a filter': (store) =>
      store.removeFitting(
        'a',
        whichFit(() => false),
        goOn,
      ),
    'reading a page': (store) => store.page('a', '', undefined, PAGE),
    counting: (store) => store.counts(),
    'a reset': (store) => store.reset('a'),
    'a reset of all': (store) => store.resetAll(),
    'a rename': (store) => store.rename('a', 'b', false),
    'a removal of the name': (store) => store.deleteName('a'),
  };
  for (const [task, work] of Object.entries(WORK)) {
    it(`need no larger step and no larger answer for ${task} (DST2)`, async () => {
      const small = await largest(3 * STEP_DOCUMENTS, work);
      const large = await largest(12 * STEP_DOCUMENTS, work);
      expect(large.asked, 'words').to.equal(small.asked);
      // Counts have a digit more.
      expect(large.answered, 'bytes').to.be.within(small.answered - 8, small.answered + 8);
    });
  }
});
