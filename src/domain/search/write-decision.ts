/**
 * Builds the changes that a write of documents makes to the keys of its search database (documents.ts). The owner of
 * the database executes all of them in one step, as one entry of its journal.
 *
 *  DS1 `documents` is the sum of the lengths of all `d:`, and `bytes` the sum over their fields and values
 *  DS2 `o:` has the ids of `d:`, and so has `s:` if the layout keeps the order of writing
 *  DS3 a name is in `i` from its first document until it is deleted, with or without documents
 *  DS4 `b` has the names of the indexes with documents; earlier versions left some with 0
 *  DS5 a layout that keeps the order of writing also counts its writes, so that an index knows whether it has the last
 */
import { type ByteString, getOrCreate } from '../../kernel/index.js';
import type { DocumentLayout } from './document-layout.js';
import { BYTES_KEY, COUNTS_KEY, NUMBERS_KEY, WRITES_FIELD } from './documents.js';
import type { IdRange } from './id-range.js';

/** Read access to the keys of a search database. Names, ids and texts are UTF-8. */
export interface HeldKeys {
  /** A field of a hash; undefined if missing. */
  field(key: ByteString, field: ByteString): ByteString | undefined;
  /** All fields of a hash. */
  fields(key: ByteString): Iterable<ByteString>;
  /** The number of fields of a hash, or of members of a sorted set. */
  size(key: ByteString): number;
  /** The bytes of a hash or sorted set that are compared with the largest record. */
  bytes(key: ByteString): number;
  /** The first members of a sorted set within the range, in order. */
  idsIn(key: ByteString, range: IdRange, most: number): readonly ByteString[];
}

export interface WriteDecision {
  /** Redis commands, to be executed in this order. */
  readonly changes: readonly (readonly ByteString[])[];
  /** The last two items are always the documents and bytes of all indexes after the write. */
  readonly answer: readonly (ByteString | number)[];
}

export class Writing {
  readonly changes: ByteString[][] = [];
  #documents: number;
  #bytes: number;

  constructor(
    readonly keys: HeldKeys,
    readonly layout: DocumentLayout,
  ) {
    this.#documents = Number(keys.field(COUNTS_KEY, 'documents') ?? 0);
    this.#bytes = Number(keys.field(COUNTS_KEY, 'bytes') ?? 0);
  }

  /** Documents of all indexes after the changes. */
  get documents(): number {
    return this.#documents;
  }

  /** The bytes of an index before the changes. */
  bytesOf(name: ByteString): number {
    return Number(this.keys.field(BYTES_KEY, name) ?? 0);
  }

  /**
   * Changes an index's counts: DS1 (the totals are the sums of all indexes) and DS4 (`b` has the indexes with
   * documents). Call it once for each index.
   */
  count(name: ByteString, documents: number, bytes: number): void {
    const before = this.keys.field(BYTES_KEY, name);
    const after = String(this.bytesOf(name) + bytes);
    if (after === '0' && before !== undefined) this.changes.push(['HDEL', BYTES_KEY, name]);
    else if (after !== (before ?? '0')) this.changes.push(['HSET', BYTES_KEY, name, after]);
    this.#setTotals(this.#documents + documents, this.#bytes + bytes);
  }

  /** Empties the counts: DS1 (the totals are the sums of all indexes) and DS4 (`b` has the indexes with documents). */
  countNothing(): void {
    this.changes.push(['DEL', BYTES_KEY, ...(this.layout.sequenceOf('') === undefined ? [] : [NUMBERS_KEY])]);
    this.#setTotals(0, 0);
  }

  /** Removes an index's documents: DS2 (`o:` and `s:` have the ids of `d:`). */
  removeAll(name: ByteString): void {
    const held = this.keys.size(this.layout.orderOf(name));
    if (held > 0) this.changes.push(['DEL', ...this.keysOf(name)]);
    if (this.keys.field(NUMBERS_KEY, name) !== undefined) this.changes.push(['HDEL', NUMBERS_KEY, name]);
    this.count(name, -held, -this.bytesOf(name));
  }

  /** The keys of an index that may have contents. */
  keysOf(name: ByteString): readonly ByteString[] {
    const { layout } = this;
    const sequence = layout.sequenceOf(name);
    return [...layout.keysOf(name), layout.orderOf(name), ...(sequence === undefined ? [] : [sequence])];
  }

  /**
   * Removes existing documents: DS2 (`o:` and `s:` have the ids of `d:`).
   * @param texts if given, only documents with this text are removed
   * @returns the number of removed documents, and of those kept because they have another text
   */
  remove(
    name: ByteString,
    ids: Iterable<ByteString>,
    texts?: ReadonlyMap<ByteString, ByteString>,
  ): readonly [removed: number, changed: number] {
    const { layout } = this;
    const gone: ByteString[] = [];
    const removals = new Map<ByteString, ByteString[]>();
    let bytes = 0;
    let changed = 0;
    for (const id of ids) {
      const key = layout.keyOf(name, id);
      const text = this.keys.field(key, id);
      if (text === undefined) continue;
      if (texts === undefined || texts.get(id) === text) {
        gone.push(id);
        getOrCreate(removals, key, () => ['HDEL', key]).push(id);
        bytes += id.length + text.length;
      } else {
        changed += 1;
      }
    }
    if (gone.length > 0) {
      this.changes.push(...removals.values(), ['ZREM', layout.orderOf(name), ...gone]);
      const sequence = layout.sequenceOf(name);
      if (sequence !== undefined) this.changes.push(['ZREM', sequence, ...gone]);
      this.count(name, -gone.length, -bytes);
    }
    return [gone.length, changed];
  }

  /**
   * Moves documents to an index without any: DS2 (`o:` and `s:` have the ids of `d:`) and DS4 (`b` has the indexes with
   * documents).
   */
  move(from: ByteString, to: ByteString): void {
    const { keys } = this;
    const number = keys.field(NUMBERS_KEY, from);
    if (number !== undefined) this.changes.push(['HDEL', NUMBERS_KEY, from], ['HSET', NUMBERS_KEY, to, number]);
    if (keys.size(this.layout.orderOf(from)) === 0) return;
    const targets = this.keysOf(to);
    this.keysOf(from).forEach((source, at) => {
      if (keys.size(source) > 0) this.changes.push(['RENAME', source, targets[at] as ByteString]);
    });
    this.changes.push(['HDEL', BYTES_KEY, from], ['HSET', BYTES_KEY, to, String(this.bytesOf(from))]);
  }

  /** @param items the answer before the counts */
  answer(...items: readonly (ByteString | number)[]): WriteDecision {
    if (this.changes.length > 0 && this.layout.sequenceOf('') !== undefined) {
      const writes = Number(this.keys.field(COUNTS_KEY, WRITES_FIELD) ?? 0) + 1;
      this.changes.push(['HSET', COUNTS_KEY, WRITES_FIELD, String(writes)]);
    }
    return { changes: this.changes, answer: [...items, this.#documents, this.#bytes] };
  }

  #setTotals(documents: number, bytes: number): void {
    if (documents === this.#documents && bytes === this.#bytes) return;
    this.#documents = documents;
    this.#bytes = bytes;
    this.changes.push(['HSET', COUNTS_KEY, 'documents', String(documents), 'bytes', String(bytes)]);
  }
}
