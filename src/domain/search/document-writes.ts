/**
 * The rules of writing documents, a row for each kind of write: what it is asked with, and what it decides. They look at
 * what the keys hold and change nothing themselves.
 */
import type { ByteString } from '../../kernel/index.js';
import { COUNTS_KEY, INDEX_NAMES_KEY, keysOfIndex, ORDER_SCORE } from './documents.js';
import { rangeAfter } from './id-range.js';
import { STEP_DOCUMENTS } from './limits.js';
import { type HeldKeys, type WriteDecision, Writing } from './write-decision.js';

interface WriteBounds {
  readonly indexNames: number;
  /** One index may have so many, in ids and texts. */
  readonly indexBytes: number;
}

export interface DocumentWrite {
  /** It names the command by which the owner of the database is asked for it. No client can send it. */
  readonly name: ByteString;
  /** It is refused where the database may not grow. */
  readonly mayGrow?: true;
  /** It changes all indexes at once, however many there are. */
  readonly isOfAll?: true;
  /** @param words what stands behind the command's name */
  readonly decide: (keys: HeldKeys, words: readonly ByteString[], bounds: WriteBounds) => WriteDecision;
}

/**
 * Words: name of the index, most documents of all indexes, then ids and texts in turn. Of what there would be too much
 * is said first in the answer, and then nothing is written.
 *
 * The bytes are judged as the engine judges a hash, so that it refuses nothing that was decided: what is replaced counts
 * still.
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

/** Words: name of the index, then ids. The answer says how many were there. */
function removeIds(keys: HeldKeys, [name = '', ...ids]: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const [removed] = writing.remove(name, new Set(ids));
  return writing.answer(removed);
}

/** Words: name, then ids and texts in turn. The answer says how many had that text, and how many have another. */
function removeUnchanged(keys: HeldKeys, words: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const texts = pairsFrom(words, 1);
  return writing.answer(...writing.remove(words[0] as ByteString, texts.keys(), texts));
}

/**
 * Words: name, prefix, the id behind which to begin or ''. One step of a longer removal: the answer says how many were
 * removed, and the last id that was looked at, '' where none is left.
 */
function removeRange(keys: HeldKeys, [name = '', prefix = '', after = '']: readonly ByteString[]): WriteDecision {
  const range = rangeAfter(prefix, after === '' ? undefined : after);
  const ids = keys.idsIn(keysOfIndex(name).order, range, STEP_DOCUMENTS);
  const writing = new Writing(keys);
  const [removed] = writing.remove(name, ids);
  return writing.answer(removed, ids.length < STEP_DOCUMENTS ? '' : (ids.at(-1) as ByteString));
}

/** Words: name. The index is empty then; its name stays. */
function reset(keys: HeldKeys, [name = '']: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  writing.removeAll(name);
  return writing.answer();
}

/** All indexes are empty then; their names stay. */
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

/** Words: name. The answer says 1, or 0 where there is none. */
function deleteName(keys: HeldKeys, [name = '']: readonly ByteString[]): WriteDecision {
  const writing = new Writing(keys);
  const isThere = keys.field(INDEX_NAMES_KEY, name) !== undefined;
  writing.removeAll(name);
  if (isThere) writing.changes.push(['HDEL', INDEX_NAMES_KEY, name]);
  return writing.answer(isThere ? 1 : 0);
}

/** Words: name, new name, `1` to delete what has the new name. The answer says whether it was done, or why not. */
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

/** When several texts have one id, the last one counts, as if they had come one after the other. */
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
