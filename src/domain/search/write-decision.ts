/**
 * What a write of documents changes in the keys of its search database (documents.ts), put together step by step. The
 * owner of the database carries all of it out in one step, as one entry of its journal.
 *
 *  DS1 `documents` is the sum of the lengths of all `d:`, and `bytes` the sum over their fields and values
 *  DS2 `o:` has the ids of `d:`
 *  DS3 a name is in `i` from its first document on until it is deleted, with or without documents
 *  DS4 `b` has the names of the indexes that hold documents; earlier versions have left some there, with 0
 */
import type { ByteString } from '../../kernel/index.js';
import { BYTES_KEY, COUNTS_KEY, keysOfIndex } from './documents.js';
import type { IdRange } from './id-range.js';

/** What the keys of a search database hold now. Names, ids and texts are UTF-8. */
export interface HeldKeys {
  /** A field of a hash; undefined where there is none. */
  field(key: ByteString, field: ByteString): ByteString | undefined;
  /** All fields of a hash. */
  fields(key: ByteString): Iterable<ByteString>;
  /** How many fields a hash has. */
  size(key: ByteString): number;
  /** The first members of a sorted set that lie in the range, in order. */
  idsIn(key: ByteString, range: IdRange, most: number): readonly ByteString[];
}

export interface WriteDecision {
  /** Redis commands, to be carried out in this order. */
  readonly changes: readonly (readonly ByteString[])[];
  /** Whatever else it says, the documents and bytes of all indexes come last, as they are then. */
  readonly answer: readonly (ByteString | number)[];
}

export class Writing {
  readonly changes: ByteString[][] = [];
  #documents: number;
  #bytes: number;

  constructor(readonly keys: HeldKeys) {
    this.#documents = Number(keys.field(COUNTS_KEY, 'documents') ?? 0);
    this.#bytes = Number(keys.field(COUNTS_KEY, 'bytes') ?? 0);
  }

  /** It counts those of all indexes, as they will be. */
  get documents(): number {
    return this.#documents;
  }

  /** It is what the documents took that an index held before. */
  bytesOf(name: ByteString): number {
    return Number(this.keys.field(BYTES_KEY, name) ?? 0);
  }

  /** DS1, DS4: an index has so many documents and bytes more than it had, or fewer. To be said once for each index. */
  count(name: ByteString, documents: number, bytes: number): void {
    const before = this.keys.field(BYTES_KEY, name);
    const after = String(this.bytesOf(name) + bytes);
    if (after === '0' && before !== undefined) this.changes.push(['HDEL', BYTES_KEY, name]);
    else if (after !== (before ?? '0')) this.changes.push(['HSET', BYTES_KEY, name, after]);
    this.#setTotals(this.#documents + documents, this.#bytes + bytes);
  }

  /** DS1, DS4: nothing is left in any index. */
  countNothing(): void {
    this.changes.push(['DEL', BYTES_KEY]);
    this.#setTotals(0, 0);
  }

  /** DS2. */
  removeAll(name: ByteString): void {
    const { documents, order } = keysOfIndex(name);
    const held = this.keys.size(documents);
    if (held > 0) this.changes.push(['DEL', documents, order]);
    this.count(name, -held, -this.bytesOf(name));
  }

  /**
   * DS2. Removes those of the documents that are there.
   * @param texts when given, only those that still have the text of their id are removed
   * @returns how many are removed, and how many stay because they have another text
   */
  remove(
    name: ByteString,
    ids: Iterable<ByteString>,
    texts?: ReadonlyMap<ByteString, ByteString>,
  ): readonly [removed: number, changed: number] {
    const { documents, order } = keysOfIndex(name);
    const gone: ByteString[] = [];
    let bytes = 0;
    let changed = 0;
    for (const id of ids) {
      const text = this.keys.field(documents, id);
      if (text === undefined) continue;
      if (texts === undefined || texts.get(id) === text) {
        gone.push(id);
        bytes += id.length + text.length;
      } else {
        changed += 1;
      }
    }
    if (gone.length > 0) {
      this.changes.push(['HDEL', documents, ...gone], ['ZREM', order, ...gone]);
      this.count(name, -gone.length, -bytes);
    }
    return [gone.length, changed];
  }

  /** DS2, DS4: the documents of one index become those of another, which has none. */
  move(from: ByteString, to: ByteString): void {
    const [source, target] = [keysOfIndex(from), keysOfIndex(to)];
    if (this.keys.size(source.documents) === 0) return;
    this.changes.push(
      ['RENAME', source.documents, target.documents],
      ['RENAME', source.order, target.order],
      ['HDEL', BYTES_KEY, from],
      ['HSET', BYTES_KEY, to, String(this.bytesOf(from))],
    );
  }

  /** @param items what it says besides the counts */
  answer(...items: readonly (ByteString | number)[]): WriteDecision {
    return { changes: this.changes, answer: [...items, this.#documents, this.#bytes] };
  }

  #setTotals(documents: number, bytes: number): void {
    if (documents === this.#documents && bytes === this.#bytes) return;
    this.#documents = documents;
    this.#bytes = bytes;
    this.changes.push(['HSET', COUNTS_KEY, 'documents', String(documents), 'bytes', String(bytes)]);
  }
}
