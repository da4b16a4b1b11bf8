/** The decisions about writes of documents, for given contents of a search database. */
import { expect } from 'chai';
import {
  DOCUMENT_WRITES,
  type DocumentWrite,
  type HeldKeys,
  STEP_DOCUMENTS,
  VECTOR_LAYOUT,
  VECTOR_WRITES,
  type WriteDecision,
} from '../../../src/domain/search/index.js';

const BOUNDS = { indexNames: 2, indexBytes: 40 };

/** Keys as maps, which apply a decision. A sorted set is a map, too: all its scores are equal. */
class Keys implements HeldKeys {
  bounds = BOUNDS;
  readonly #hashes = new Map<string, Map<string, string>>();

  hash(key: string): Map<string, string> | undefined {
    return this.#hashes.get(key);
  }

  field(key: string, field: string): string | undefined {
    return this.hash(key)?.get(field);
  }

  fields(key: string): Iterable<string> {
    return this.hash(key)?.keys() ?? [];
  }

  size(key: string): number {
    return this.hash(key)?.size ?? 0;
  }

  bytes(key: string): number {
    return [...(this.hash(key) ?? [])].reduce((sum, [id, text]) => sum + id.length + text.length, 0);
  }

  idsIn(key: string, { from, to }: { from: string; to: string }, most: number): string[] {
    const isIn = (id: string) =>
      (from === '-' || (from[0] === '[' ? id >= from.slice(1) : id > from.slice(1))) &&
      (to === '+' || id < to.slice(1));
    return [...this.fields(key)].filter(isIn).sort().slice(0, most);
  }

  /** @returns the decision, which has been applied */
  do(write: DocumentWrite, ...words: string[]): WriteDecision {
    const decision = write.decide(this, words, this.bounds);
    for (const [command, key = '', ...rest] of decision.changes) this.#change(command, key, rest);
    return decision;
  }

  /** The answer alone. */
  answer(write: DocumentWrite, ...words: string[]): readonly unknown[] {
    return this.do(write, ...words).answer;
  }

  get all(): unknown {
    return Object.fromEntries([...this.#hashes].map(([key, fields]) => [key, Object.fromEntries(fields)]));
  }

  #change(command: string | undefined, key: string, rest: string[]): void {
    const fields = this.hash(key) ?? new Map<string, string>();
    if (command === 'DEL') for (const each of [key, ...rest]) this.#hashes.delete(each);
    if (command === 'HDEL' || command === 'ZREM') for (const field of rest) fields.delete(field);
    if (command === 'HSET') for (let at = 0; at < rest.length; at += 2) fields.set(rest[at] ?? '', rest[at + 1] ?? '');
    if (command === 'ZADD') for (let at = 0; at < rest.length; at += 2) fields.set(rest[at + 1] ?? '', '');
    if (command === 'RENAME') this.#hashes.set(rest[0] ?? '', fields);
    if (fields.size === 0 || command === 'RENAME' || command === 'DEL') this.#hashes.delete(key);
    else this.#hashes.set(key, fields);
  }
}

describe('the rules of writing documents', () => {
  const { upsert, removeIds, removeUnchanged, removeRange, reset, resetAll, deleteName, rename } = DOCUMENT_WRITES;
  let keys: Keys;
  beforeEach(() => {
    keys = new Keys();
  });

  describe('an upsert', () => {
    it('stores texts, lists ids and the name, and counts them', () => {
      expect(keys.answer(upsert, 'a', '9', '1', 'one', '2', 'two')).to.deep.equal(['done', 2, 2, 8]);
      // DS1 to DS4.
      expect(keys.all).to.deep.equal({
        'd:a': { 1: 'one', 2: 'two' },
        'o:a': { 1: '', 2: '' },
        i: { a: '1' },
        b: { a: '8' },
        c: { names: '1', documents: '2', bytes: '8' },
      });
    });

    it('subtracts replaced texts, and lists their ids once', () => {
      keys.do(upsert, 'a', '9', '1', 'one');
      const { changes, answer } = keys.do(upsert, 'a', '9', '1', 'other');
      expect(answer).to.deep.equal(['done', 0, 1, 6]);
      expect(changes.map(([command, key]) => `${command} ${key}`)).to.deep.equal(['HSET d:a', 'HSET b', 'HSET c']);
    });

    it('stores the last of several texts with one id, and counts that alone', () => {
      expect(keys.answer(upsert, 'a', '9', '1', 'one', '1', 'other')).to.deep.equal(['done', 1, 1, 6]);
      expect(keys.hash('d:a')?.get('1')).to.equal('other');
    });

    it('accepts documents up to the maximum of the database, and changes no key for one more', () => {
      keys.do(upsert, 'a', '2', '1', 'x', '2', 'x');
      expect(keys.do(upsert, 'b', '2', '3', 'x')).to.deep.equal({ changes: [], answer: ['documents', 1, 2, 4] });
      expect(keys.answer(upsert, 'a', '2', '1', 'y')).to.deep.equal(['done', 0, 2, 4]);
    });

    it('replaces a document in a database above its maximum', () => {
      keys.do(upsert, 'a', '2', '1', 'x', '2', 'x');
      expect(keys.answer(upsert, 'a', '1', '1', 'y')[0]).to.equal('done');
    });

    it('accepts bytes up to the maximum of the index, and changes no key for one more', () => {
      const text = 'x'.repeat(BOUNDS.indexBytes - 1);
      expect(keys.do(upsert, 'a', '9', '1', `${text}x`)).to.deep.equal({ changes: [], answer: ['bytes', 1, 0, 0] });
      expect(keys.answer(upsert, 'a', '9', '1', text)).to.deep.equal(['done', 1, 1, BOUNDS.indexBytes]);
      // The engine's hash has both values for a moment.
      expect(keys.answer(upsert, 'a', '9', '1', '')[0]).to.equal('bytes');
    });

    it('creates names up to the maximum, and changes no key for one more', () => {
      keys.do(upsert, 'a', '9', '1', 'x');
      keys.do(upsert, 'b', '9', '1', 'x');
      expect(keys.do(upsert, 'c', '9', '1', 'x')).to.deep.equal({ changes: [], answer: ['names', 1, 2, 4] });
      expect(keys.answer(upsert, 'b', '9', '2', 'x')[0]).to.equal('done');
    });

    it('numbers names in the order of their creation, each differently', () => {
      keys.do(upsert, 'a', '9', '1', 'x');
      keys.do(deleteName, 'a');
      keys.do(upsert, 'b', '9', '1', 'x');
      keys.do(upsert, 'a', '9', '1', 'x');
      expect(Object.fromEntries(keys.hash('i') ?? [])).to.deep.equal({ b: '2', a: '3' });
    });
  });

  describe('a removal', () => {
    beforeEach(() => void keys.do(upsert, 'a', '9', '1', 'one', '2', 'two', '3', 'x'));

    it('removes existing ids, each once, and keeps the name', () => {
      expect(keys.answer(removeIds, 'a', '1', '1', '9', '3')).to.deep.equal([2, 1, 4]);
      expect(keys.answer(removeIds, 'a', '2')).to.deep.equal([1, 0, 0]);
      expect(keys.all).to.deep.equal({ i: { a: '1' }, c: { names: '1', documents: '0', bytes: '0' } });
    });

    it('changes no key where no id exists', () => {
      expect(keys.do(removeIds, 'a', '7')).to.deep.equal({ changes: [], answer: [0, 3, 10] });
      expect(keys.do(removeIds, 'none', '1')).to.deep.equal({ changes: [], answer: [0, 3, 10] });
      expect(keys.do(removeRange, 'a', 'x', '')).to.deep.equal({ changes: [], answer: [0, '', 3, 10] });
    });

    it('keeps documents with a changed text, and returns their number', () => {
      expect(keys.answer(removeUnchanged, 'a', '1', 'one', '2', 'older', '9', 'x')).to.deep.equal([1, 1, 2, 6]);
      expect(keys.hash('d:a')?.get('2')).to.equal('two');
    });

    it('removes a prefix in steps, each after the last id', () => {
      const ids = Array.from({ length: STEP_DOCUMENTS + 1 }, (_, at) => `p${String(at).padStart(4, '0')}`);
      keys.bounds = { indexNames: 1, indexBytes: 6 * ids.length };
      keys.do(upsert, 'a', '999', ...ids.flatMap((id) => [id, '']));
      const last = ids[STEP_DOCUMENTS - 1];
      expect(keys.answer(removeRange, 'a', 'p', '').slice(0, 2)).to.deep.equal([STEP_DOCUMENTS, last]);
      expect(keys.answer(removeRange, 'a', 'p', last as string).slice(0, 2)).to.deep.equal([1, '']);
    });
  });

  describe('a change of a whole index', () => {
    beforeEach(() => {
      keys.do(upsert, 'a', '9', '1', 'one');
      keys.do(upsert, 'b', '9', '2', 'xy');
    });

    it('a reset keeps only the name', () => {
      expect(keys.answer(reset, 'a')).to.deep.equal([1, 3]);
      expect(keys.answer(reset, 'none')).to.deep.equal([1, 3]);
      expect(keys.answer(resetAll)).to.deep.equal([0, 0]);
      expect(keys.all).to.deep.equal({ i: { a: '1', b: '2' }, c: { names: '2', documents: '0', bytes: '0' } });
    });

    it('a deletion removes the name as well, with or without documents', () => {
      keys.do(reset, 'b');
      expect(keys.answer(deleteName, 'b')).to.deep.equal([1, 1, 4]);
      expect(keys.answer(deleteName, 'b')).to.deep.equal([0, 1, 4]);
      expect(keys.answer(deleteName, 'a')).to.deep.equal([1, 0, 0]);
      expect(keys.all).to.deep.equal({ c: { names: '2', documents: '0', bytes: '0' } });
    });

    it('a deletion removes counts that an earlier version left', () => {
      keys.do(reset, 'a');
      keys.hash('b')?.set('a', '0');
      keys.do(deleteName, 'a');
      expect(Object.fromEntries(keys.hash('b') ?? [])).to.deep.equal({ b: '3' });
    });

    it('a rename moves documents and counts, and keeps the place among the names', () => {
      expect(keys.answer(rename, 'a', 'c', '0')).to.deep.equal(['done', 2, 7]);
      expect(keys.all).to.deep.equal({
        'd:b': { 2: 'xy' },
        'o:b': { 2: '' },
        'd:c': { 1: 'one' },
        'o:c': { 1: '' },
        i: { b: '2', c: '1' },
        b: { b: '3', c: '4' },
        c: { names: '2', documents: '2', bytes: '7' },
      });
    });

    it('a rename replaces another index only when requested', () => {
      expect(keys.do(rename, 'a', 'b', '0')).to.deep.equal({ changes: [], answer: ['taken', 2, 7] });
      expect(keys.answer(rename, 'a', 'b', '1')).to.deep.equal(['done', 1, 4]);
      expect(keys.hash('d:b')?.get('1')).to.equal('one');
      expect(Object.fromEntries(keys.hash('b') ?? [])).to.deep.equal({ b: '4' });
    });

    it('a rename of an unknown name, or to the same name, changes no key', () => {
      expect(keys.do(rename, 'none', 'c', '0')).to.deep.equal({ changes: [], answer: ['missing', 2, 7] });
      expect(keys.do(rename, 'a', 'a', '1')).to.deep.equal({ changes: [], answer: ['done', 2, 7] });
    });
  });

  describe('a write of vectors', () => {
    const { upsert: put, replace, removeIds: remove, reset: empty, rename: move } = VECTOR_WRITES;
    const keyOf = (id: string) => VECTOR_LAYOUT.keyOf('ns', id);
    beforeEach(() => {
      keys.bounds = { indexNames: 2, indexBytes: 1000 };
    });

    it('numbers ids by their first write, and counts the writes (DS5)', () => {
      const { changes, answer } = keys.do(put, 'ns', '9', 'b', 'bb', 'a', 'aa');
      expect(answer).to.deep.equal(['done', 2, 2, 6]);
      expect(changes).to.deep.include.members([
        ['HSET', keyOf('a'), 'a', 'aa'],
        ['HSET', keyOf('b'), 'b', 'bb'],
        ['ZADD', 's:ns', '1', 'b', '2', 'a'],
        ['HSET', 'n', 'ns', '2'],
        ['HSET', 'c', 'writes', '1'],
      ]);
      expect(keys.do(put, 'ns', '9', 'a', 'aaa', 'c', 'cc').changes).to.deep.include(['ZADD', 's:ns', '3', 'c']);
      expect(keys.hash('c')?.get('writes')).to.equal('2');
      expect(keys.do(remove, 'ns', 'none').changes).to.deep.equal([]);
      expect(keys.hash('c')?.get('writes')).to.equal('2');
    });

    it('is refused when one of its keys would be too large', () => {
      keys.bounds = { indexNames: 2, indexBytes: 40 };
      expect(keys.answer(put, 'ns', '9', 'a', 'x'.repeat(40))[0]).to.equal('bytes');
      expect(keys.answer(put, 'ns', '9', ...Array.from({ length: 5 }, (_, at) => [`id-${at}`, '']).flat())[0]).to.equal(
        'bytes',
      );
      expect(keys.all).to.deep.equal({});
    });

    it('replaces a vector that has not changed', () => {
      keys.do(put, 'ns', '9', 'a', 'aa');
      expect(keys.answer(replace, 'ns', 'a', 'other', 'new')).to.deep.equal(['changed', 1, 3]);
      expect(keys.answer(replace, 'ns', 'none', 'aa', 'new')).to.deep.equal(['changed', 1, 3]);
      expect(keys.answer(replace, 'ns', 'a', 'aa', 'new!')).to.deep.equal(['done', 1, 5]);
      expect(keys.hash(keyOf('a'))?.get('a')).to.equal('new!');
    });

    it('begins the numbers again after a reset, and keeps them in a renamed namespace', () => {
      keys.do(put, 'ns', '9', 'a', 'aa', 'b', 'bb');
      keys.do(move, 'ns', 'other', '0');
      expect(keys.hash('n')).to.deep.equal(new Map([['other', '2']]));
      expect(keys.hash(VECTOR_LAYOUT.keyOf('other', 'a'))?.get('a')).to.equal('aa');
      keys.do(empty, 'other');
      expect(keys.hash('n')?.size ?? 0).to.equal(0);
      expect(keys.do(put, 'other', '9', 'z', 'zz').changes).to.deep.include(['ZADD', 's:other', '1', 'z']);
    });
  });
});
