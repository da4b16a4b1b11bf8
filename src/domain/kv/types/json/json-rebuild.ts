/**
 * Commands that rebuild a document, each of bounded length unless a single string is longer. A container that is too
 * long for one command is created empty and then filled in order.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { REBUILD_CHUNK_BYTES } from './json-limits.js';
import { tokenText } from './json-matches.js';
import { isContainer, type JsonArray, type JsonMembers, type JsonValue, measured } from './json-value.js';
import { quoted, stringifyJson } from './json-writer.js';

export function* rebuildDocument(key: ByteString, root: JsonValue): Iterable<ByteString[]> {
  if (!isLong(root)) yield ['JSON.SET', key, '$', stringifyJson(root)];
  else if (Array.isArray(root)) {
    yield ['JSON.SET', key, '$', '[]'];
    yield* fillArray(key, '$', root);
  } else {
    yield ['JSON.SET', key, '$', '{}'];
    yield* fillObject(key, '$', root as JsonMembers);
  }
}

/** Values up to this size in memory fit one command: the text of numbers may be nearly three times as long. */
const REBUILT_WHOLE_BYTES = REBUILD_CHUNK_BYTES / 3;

/** Whether a container is too long for one command. Measures only the first slice of values. */
function isLong(value: JsonValue): boolean {
  if (!isContainer(value)) return false;
  const steps = measured(value);
  const step = steps.next();
  return step.done !== true || step.value > REBUILT_WHOLE_BYTES;
}

function* fillArray(key: ByteString, path: ByteString, array: JsonArray): Iterable<ByteString[]> {
  let words: ByteString[] = [];
  let bytes = 0;
  for (const [index, item] of array.entries()) {
    const isLongItem = isLong(item);
    const text = isLongItem ? (Array.isArray(item) ? '[]' : '{}') : stringifyJson(item);
    if (words.length > 0 && bytes + text.length > REBUILD_CHUNK_BYTES) {
      yield ['JSON.ARRAPPEND', key, path, ...words];
      words = [];
      bytes = 0;
    }
    words.push(text);
    bytes += text.length + 16;
    if (!isLongItem) continue;
    yield ['JSON.ARRAPPEND', key, path, ...words];
    words = [];
    bytes = 0;
    yield* fill(key, path + tokenText(index), item);
  }
  if (words.length > 0) yield ['JSON.ARRAPPEND', key, path, ...words];
}

/**
 * Adds members by JSON.MERGE, many at a time. A member that contains null is set separately, because JSON.MERGE would
 * delete it.
 */
function* fillObject(key: ByteString, path: ByteString, object: JsonMembers): Iterable<ByteString[]> {
  let members = '';
  for (const [name, member] of object) {
    const isLongMember = isLong(member);
    const text = isLongMember ? (Array.isArray(member) ? '[]' : '{}') : stringifyJson(member);
    const written = `${quoted(name)}:${text}`;
    const isAlone = isLongMember || text.includes('null');
    if (members !== '' && (isAlone || members.length + written.length > REBUILD_CHUNK_BYTES)) {
      yield ['JSON.MERGE', key, path, `{${members}}`];
      members = '';
    }
    if (!isAlone) {
      members += members === '' ? written : `,${written}`;
      continue;
    }
    const memberPath = path + tokenText(name);
    yield ['JSON.SET', key, memberPath, text];
    if (isLongMember) yield* fill(key, memberPath, member);
  }
  if (members !== '') yield ['JSON.MERGE', key, path, `{${members}}`];
}

function fill(key: ByteString, path: ByteString, container: JsonValue): Iterable<ByteString[]> {
  return Array.isArray(container) ? fillArray(key, path, container) : fillObject(key, path, container as JsonMembers);
}
