/**
 * Commands that make a document again, each of bounded length unless one string is longer: what is too long
 * for one command is made empty first and then filled, in order, part by part.
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

/** Bytes in memory up to which a value fits one command: as text, numbers may take nearly three times as much. */
const REBUILT_WHOLE_BYTES = REBUILD_CHUNK_BYTES / 3;

/** A container that does not fit one command. Looks at the first so many values only. */
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

/** Members go in by JSON.MERGE, many at a time; those with a null in them, which it would leave out, one by one. */
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
