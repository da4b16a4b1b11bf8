/**
 * The rules of writing documents, one row for each kind of write: its arguments and its decision. Rules read the keys
 * and return changes.
 */
import { type ByteString, getOrCreate } from '../../kernel/index.js';
import { type DocumentLayout, SEARCH_LAYOUT, VECTOR_LAYOUT } from './document-layout.js';
import { BYTES_KEY, COUNTS_KEY, INDEX_NAMES_KEY, NUMBERS_KEY, ORDER_SCORE } from './documents.js';
import { rangeAfter } from './id-range.js';
import { STEP_DOCUMENTS } from './limits.js';
import { type HeldKeys, type WriteDecision, Writing } from './write-decision.js';

interface WriteBounds {
  readonly indexNames: number;
  /** Bytes of one key, in ids and texts or numbers. */
  readonly indexBytes: number;
}

export interface DocumentWrite {
  /** The command by which the database's owner is asked for the write. Clients cannot send it. */
  readonly name: ByteString;
  /** Refused while the database may not grow. */
  readonly mayGrow?: true;
  /** Changes all indexes together, regardless of their number. */
  readonly isOfAll?: true;
  /** @param words the arguments after the command's name */
  readonly decide: (keys: HeldKeys, words: readonly ByteString[], bounds: WriteBounds) => WriteDecision;
}

/** A score and its member, as the engine counts them at most. */
const SCORE_BYTES = 8;

/** The changes that one upsert makes to the documents of a name, before they are accepted. */
class Upserted {
  readonly #stored = new Map<ByteString, { readonly words: ByteString[]; bytes: number }>();
  readonly #added: ByteString[] = [];
  #addedBytes = 0;
  #coming = 0;
  #replaced = 0;

  constructor(
    private readonly writing: Writing,
    private readonly name: ByteString,
  ) {}

  /** New documents. */
  get added(): number {
    return this.#added.length;
  }

  /** The bytes by which the documents grow. */
  get grown(): number {
    return this.#coming - this.#replaced;
  }

  put(id: ByteString, text: ByteString): void {
    const key = this.writing.layout.keyOf(this.name, id);
    const stored = getOrCreate(this.#stored, key, () => ({ words: ['HSET', key], bytes: 0 }));
    stored.words.push(id, text);
    stored.bytes += id.length + text.length;
    this.#coming += id.length + text.length;
    const before = this.writing.keys.field(key, id);
    if (before !== undefined) {
      this.#replaced += id.length + before.length;
    } else {
      this.#added.push(id);
      this.#addedBytes += id.length + SCORE_BYTES;
    }
  }

  /**
   * Would every key stay within the bound? Replaced texts count twice, and bytes like the engine counts them, so that
   * the engine never refuses a decided write.
   */
  fits(mostBytes: number): boolean {
    const { name } = this;
    const { keys, layout } = this.writing;
    const held = Number(keys.field(BYTES_KEY, name) ?? 0);
    if (held + this.#coming > mostBytes * layout.keysOf(name).length) return false;
    const sequence = layout.sequenceOf(name);
    if (sequence !== undefined && keys.bytes(sequence) + this.#addedBytes > mostBytes) return false;
    return [...this.#stored].every(([key, { bytes }]) => keys.bytes(key) + bytes <= mostBytes);
  }

  *changes(): Iterable<ByteString[]> {
    const { name } = this;
    const { keys, layout } = this.writing;
    for (const { words } of this.#stored.values()) yield words;
    if (this.added === 0) return;
    yield ['ZADD', layout.orderOf(name), ...this.#added.flatMap((id) => [ORDER_SCORE, id])];
    const sequence = layout.sequenceOf(name);
    if (sequence === undefined) return;
    const last = Number(keys.field(NUMBERS_KEY, name) ?? 0);
    yield ['ZADD', sequence, ...this.#added.flatMap((id, at) => [String(last + at + 1), id])];
    yield ['HSET', NUMBERS_KEY, name, String(last + this.added)];
  }
}

/**
 * Arguments: index name, most documents of all indexes, then ids and texts in turn. If a bound would be exceeded,
 * the answer names it and no document is written.
 */
function upsert(writing: Writing, words: readonly ByteString[], bounds: WriteBounds): WriteDecision {
  const [name = '', mostDocuments] = words;
  const upserted = new Upserted(writing, name);
  for (const [id, text] of pairsFrom(words, 2)) upserted.put(id, text);
  const { added } = upserted;
  if (added > 0 && writing.documents + added > Number(mostDocuments)) return writing.answer('documents', added);
  if (!upserted.fits(bounds.indexBytes)) return writing.answer('bytes', added);
  if (writing.keys.field(INDEX_NAMES_KEY, name) === undefined) {
    if (writing.keys.size(INDEX_NAMES_KEY) >= bounds.indexNames) return writing.answer('names', added);
    const number = String(Number(writing.keys.field(COUNTS_KEY, 'names') ?? 0) + 1);
    writing.changes.push(['HSET', COUNTS_KEY, 'names', number], ['HSET', INDEX_NAMES_KEY, name, number]);
  }
  writing.changes.push(...upserted.changes());
  writing.count(name, added, upserted.grown);
  return writing.answer('done', added);
}

/**
 * Arguments: index name, id, the text that the document has, its new text. The answer says whether it was replaced,
 * or `changed` if it has another text by now, or `bytes`.
 */
function replace(writing: Writing, words: readonly ByteString[], bounds: WriteBounds): WriteDecision {
  const [name = '', id = '', before, after = ''] = words;
  if (writing.keys.field(writing.layout.keyOf(name, id), id) !== before) return writing.answer('changed');
  const upserted = new Upserted(writing, name);
  upserted.put(id, after);
  if (!upserted.fits(bounds.indexBytes)) return writing.answer('bytes');
  writing.changes.push(...upserted.changes());
  writing.count(name, 0, upserted.grown);
  return writing.answer('done');
}

/** Arguments: index name, then ids. The answer has the number of removed documents. */
function removeIds(writing: Writing, [name = '', ...ids]: readonly ByteString[]): WriteDecision {
  const [removed] = writing.remove(name, new Set(ids));
  return writing.answer(removed);
}

/**
 * Arguments: index name, then ids and texts in turn. The answer has the number of documents removed, and of those
 * that now have another text.
 */
function removeUnchanged(writing: Writing, words: readonly ByteString[]): WriteDecision {
  const texts = pairsFrom(words, 1);
  return writing.answer(...writing.remove(words[0] as ByteString, texts.keys(), texts));
}

/**
 * Arguments: index name, prefix, the id after which to start or ''. One step of a longer removal: the answer has the
 * number of removed documents and the last id examined, '' at the end.
 */
function removeRange(writing: Writing, [name = '', prefix = '', after = '']: readonly ByteString[]): WriteDecision {
  const range = rangeAfter(prefix, after === '' ? undefined : after);
  const ids = writing.keys.idsIn(writing.layout.orderOf(name), range, STEP_DOCUMENTS);
  const [removed] = writing.remove(name, ids);
  return writing.answer(removed, ids.length < STEP_DOCUMENTS ? '' : (ids.at(-1) as ByteString));
}

/** Arguments: index name. Empties the index; its name stays. */
function reset(writing: Writing, [name = '']: readonly ByteString[]): WriteDecision {
  writing.removeAll(name);
  return writing.answer();
}

/** Empties all indexes; their names stay. */
function resetAll(writing: Writing): WriteDecision {
  const gone = ['DEL'];
  for (const name of writing.keys.fields(INDEX_NAMES_KEY)) gone.push(...writing.keysOf(name));
  if (gone.length > 1) writing.changes.push(gone);
  writing.countNothing();
  return writing.answer();
}

/** Arguments: index name. The answer is 1, or 0 for an unknown name. */
function deleteName(writing: Writing, [name = '']: readonly ByteString[]): WriteDecision {
  const isThere = writing.keys.field(INDEX_NAMES_KEY, name) !== undefined;
  writing.removeAll(name);
  if (isThere) writing.changes.push(['HDEL', INDEX_NAMES_KEY, name]);
  return writing.answer(isThere ? 1 : 0);
}

/**
 * Arguments: name, new name, `1` to delete an index with the new name. The answer tells whether it was done, or the
 * reason why not.
 */
function rename(writing: Writing, [from = '', to = '', deletesExisting]: readonly ByteString[]): WriteDecision {
  const number = writing.keys.field(INDEX_NAMES_KEY, from);
  if (number === undefined) return writing.answer('missing');
  if (from === to) return writing.answer('done');
  if (writing.keys.field(INDEX_NAMES_KEY, to) !== undefined) {
    if (deletesExisting !== '1') return writing.answer('taken');
    writing.removeAll(to);
  }
  writing.move(from, to);
  writing.changes.push(['HDEL', INDEX_NAMES_KEY, from], ['HSET', INDEX_NAMES_KEY, to, number]);
  return writing.answer('done');
}

/** If an id occurs several times, its last text counts, as if they had been written in turn. */
function pairsFrom(words: readonly ByteString[], first: number): ReadonlyMap<ByteString, ByteString> {
  const pairs = new Map<ByteString, ByteString>();
  for (let at = first; at + 1 < words.length; at += 2) pairs.set(words[at] as ByteString, words[at + 1] as ByteString);
  return pairs;
}

type Rule = (writing: Writing, words: readonly ByteString[], bounds: WriteBounds) => WriteDecision;

/** The rules of writing documents with this layout; the names of their commands begin with `prefix`. */
function writesOf(layout: DocumentLayout, prefix: string) {
  const write = (name: string, rule: Rule) => ({
    name: `${prefix}.${name}`,
    decide: (keys: HeldKeys, words: readonly ByteString[], bounds: WriteBounds) =>
      rule(new Writing(keys, layout), words, bounds),
  });
  return {
    upsert: { ...write('UPSERT', upsert), mayGrow: true },
    replace: { ...write('REPLACE', replace), mayGrow: true },
    removeIds: write('REMOVE', removeIds),
    removeUnchanged: write('REMOVEUNCHANGED', removeUnchanged),
    removeRange: write('REMOVERANGE', removeRange),
    reset: write('RESET', reset),
    resetAll: { ...write('RESETALL', resetAll), isOfAll: true },
    deleteName: write('DELETE', deleteName),
    rename: write('RENAME', rename),
  } as const satisfies Record<string, DocumentWrite>;
}

/** The writes of one kind of database. */
export type DocumentWrites = ReturnType<typeof writesOf>;

export const DOCUMENT_WRITES = writesOf(SEARCH_LAYOUT, 'SEARCH');
export const VECTOR_WRITES = writesOf(VECTOR_LAYOUT, 'VECTORS');
