/**
 * The rules of writing documents, one row for each kind of write: its arguments and its decision. Rules read the keys
 * and return changes.
 */
import type { ByteString } from '../../kernel/index.js';
import { COUNTS_KEY, INDEX_NAMES_KEY, keysOfIndex, ORDER_SCORE } from './documents.js';
import { rangeAfter } from './id-range.js';
import { STEP_DOCUMENTS } from './limits.js';
import { type HeldKeys, type WriteDecision, Writing } from './write-decision.js';

interface WriteBounds {
  readonly indexNames: number;
  /** Bytes of one index, in ids and texts. */
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

/**
 * Arguments: index name, most documents of all indexes, then ids and texts in turn. If a bound would be exceeded, the
 * answer names it and no document is written. Bytes are counted like the engine counts a hash, with replaced texts,
 * so that the engine never refuses a decided write.
 */
function upsert(keys: HeldKeys, words: readonly ByteString[], bounds: WriteBounds): WriteDecision {
  const [name = '', mostDocuments] = words;
  const { documents, order } = keysOfIndex(name);
  const texts = pairsFrom(words, 2);
  const writing = new Writing(keys);
  const stored = ['HSET', documents];
  const listed = ['ZADD', order];
  let added = 0;
  let coming = 0;
  let replaced = 0;
  for (const [id, text] of texts) {
    const before = keys.field(documents, id);
    coming += id.length + text.length;
    stored.push(id, text);
    if (before !== undefined) {
      replaced += id.length + before.length;
    } else {
      added += 1;
      listed.push(ORDER_SCORE, id);
    }
  }
  if (added > 0 && writing.documents + added > Number(mostDocuments)) return writing.answer('documents', added);
  if (writing.bytesOf(name) + coming > bounds.indexBytes) return writing.answer('bytes', added);
  if (keys.field(INDEX_NAMES_KEY, name) === undefined) {
    if (keys.size(INDEX_NAMES_KEY) >= bounds.indexNames) return writing.answer('names', added);
    const number = String(Number(keys.field(COUNTS_KEY, 'names') ?? 0) + 1);
    writing.changes.push(['HSET', COUNTS_KEY, 'names', number], ['HSET', INDEX_NAMES_KEY, name, number]);
  }
  if (texts.size > 0) writing.changes.push(stored);
  if (added > 0) writing.changes.push(listed);
  writing.count(name, added, coming - replaced);
  return writing.answer('done', added);
}

/** Arguments: index name, then ids. The answer has the number of removed documents. */
function removeIds(keys: HeldKeys, [name = '', ...ids]: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const [removed] = writing.remove(name, new Set(ids));
  return writing.answer(removed);
}

/**
 * Arguments: index name, then ids and texts in turn. The answer has the number of documents removed, and of those
 * that now have another text.
 */
function removeUnchanged(keys: HeldKeys, words: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const texts = pairsFrom(words, 1);
  return writing.answer(...writing.remove(words[0] as ByteString, texts.keys(), texts));
}

/**
 * Arguments: index name, prefix, the id after which to start or ''. One step of a longer removal: the answer has the
 * number of removed documents and the last id examined, '' at the end.
 */
function removeRange(keys: HeldKeys, [name = '', prefix = '', after = '']: readonly ByteString[]): WriteDecision {
  const range = rangeAfter(prefix, after === '' ? undefined : after);
  const ids = keys.idsIn(keysOfIndex(name).order, range, STEP_DOCUMENTS);
  const writing = new Writing(keys);
  const [removed] = writing.remove(name, ids);
  return writing.answer(removed, ids.length < STEP_DOCUMENTS ? '' : (ids.at(-1) as ByteString));
}

/** Arguments: index name. Empties the index; its name stays. */
function reset(keys: HeldKeys, [name = '']: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  writing.removeAll(name);
  return writing.answer();
}

/** Empties all indexes; their names stay. */
function resetAll(keys: HeldKeys): WriteDecision {
  const writing = new Writing(keys);
  const gone = ['DEL'];
  for (const name of keys.fields(INDEX_NAMES_KEY)) {
    const { documents, order } = keysOfIndex(name);
    gone.push(documents, order);
  }
  if (gone.length > 1) writing.changes.push(gone);
  writing.countNothing();
  return writing.answer();
}

/** Arguments: index name. The answer is 1, or 0 for an unknown name. */
function deleteName(keys: HeldKeys, [name = '']: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const isThere = keys.field(INDEX_NAMES_KEY, name) !== undefined;
  writing.removeAll(name);
  if (isThere) writing.changes.push(['HDEL', INDEX_NAMES_KEY, name]);
  return writing.answer(isThere ? 1 : 0);
}

/**
 * Arguments: name, new name, `1` to delete an index with the new name. The answer tells whether it was done, or the
 * reason why not.
 */
function rename(keys: HeldKeys, [from = '', to = '', deletesExisting]: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const number = keys.field(INDEX_NAMES_KEY, from);
  if (number === undefined) return writing.answer('missing');
  if (from === to) return writing.answer('done');
  if (keys.field(INDEX_NAMES_KEY, to) !== undefined) {
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

export const DOCUMENT_WRITES = {
  upsert: { name: 'SEARCH.UPSERT', decide: upsert, mayGrow: true },
  removeIds: { name: 'SEARCH.REMOVE', decide: removeIds },
  removeUnchanged: { name: 'SEARCH.REMOVEUNCHANGED', decide: removeUnchanged },
  removeRange: { name: 'SEARCH.REMOVERANGE', decide: removeRange },
  reset: { name: 'SEARCH.RESET', decide: reset },
  resetAll: { name: 'SEARCH.RESETALL', decide: resetAll, isOfAll: true },
  deleteName: { name: 'SEARCH.DELETE', decide: deleteName },
  rename: { name: 'SEARCH.RENAME', decide: rename },
} as const satisfies Record<string, DocumentWrite>;
