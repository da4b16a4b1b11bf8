/**
 * Decodes Redis's dump payloads into commands that create their value: the inverse of encode-dump.ts, and the formats
 * of newer servers.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { bufferOfBytes } from '../../../../kernel/index.js';
import { formatDouble } from '../../numbers.js';
import { inOneStep } from '../../steps.js';
import { crc64InSteps } from '../crc64.js';
import { DUMP_TYPES } from './dump-types.js';
import {
  ARRAY_DOUBLE,
  ARRAY_INTEGER,
  ARRAY_SHORT_TEXT,
  ARRAY_TEXT,
  JSON_MODULE_ID,
  SEARCH_MODULE_ID,
  VECTOR_MODULE_ID,
  VECTOR_SET_MODULE_ID,
} from './encode-dump.js';
import { decodeListpack } from './listpack.js';
import { MODULE_END, MODULE_STRING, MODULE_UNSIGNED } from './module-codes.js';
import { decodeIntset, decodeZiplist, decodeZipmap } from './packed-lists.js';
import { BadFormat, RdbReader } from './rdb-reader.js';
import { readSketch } from './sketch-form.js';
import { readStream } from './stream-form.js';

/** The newest supported format: Redis 8.8's. */
export const NEWEST_RDB_VERSION = 14;
const FOOTER_BYTES = 10;
/** The most words of one command, which bounds the size of an effect. */
const CHUNK_WORDS = 256;
const CHUNK_BYTES = 64 * 1024;
const PACKED_NODE = 2;
const PLAIN_NODE = 1;

/** Whether the footer has a supported version and the right checksum. */
export function isIntact(payload: ByteString): boolean {
  return inOneStep(intactBody(payload)) !== undefined;
}

/** The body, without the footer, if the footer is right; undefined otherwise. In slices. */
export function* intactBody(payload: ByteString): Generator<void, Buffer | undefined> {
  if (payload.length < FOOTER_BYTES) return undefined;
  const bytes = bufferOfBytes(payload);
  yield;
  const footerAt = bytes.length - FOOTER_BYTES;
  if (bytes.readUInt16LE(footerAt) > NEWEST_RDB_VERSION) return undefined;
  const isIntact = (yield* crc64InSteps(bytes, footerAt + 2)).equals(bytes.subarray(footerAt + 2));
  return isIntact ? bytes.subarray(0, footerAt) : undefined;
}

/** The body of an intact payload, for other data in the same format. */
export function bodyOf(payload: ByteString): Buffer {
  return bufferOfBytes(payload).subarray(0, payload.length - FOOTER_BYTES);
}

/** The value in the body of an intact payload, as commands that create it under `key`. @throws BadFormat */
export function* decodeDump(body: Buffer, key: ByteString, maxBytes: number): Generator<ByteString[]> {
  const input = new RdbReader(body, maxBytes);
  const type = input.byte();
  yield* commandsOf(type, input, key);
  if (!input.isAtEnd) throw new BadFormat('more behind the value');
}

function* commandsOf(type: number, input: RdbReader, key: ByteString): Generator<ByteString[]> {
  switch (type) {
    case DUMP_TYPES.string:
      yield ['SET', key, input.string()];
      return;
    case DUMP_TYPES.list:
      return yield* chunked(['RPUSH', key], 1, strings(input, input.size()));
    case DUMP_TYPES.listZiplist:
      return yield* chunked(['RPUSH', key], 1, some(decodeZiplist(input.blob())));
    case DUMP_TYPES.quicklist:
      return yield* chunked(['RPUSH', key], 1, nodes(input, ziplistNode));
    case DUMP_TYPES.quicklist2:
      return yield* chunked(['RPUSH', key], 1, nodes(input, quicklistNode));
    case DUMP_TYPES.set:
      return yield* chunked(['SADD', key], 1, strings(input, input.size()));
    case DUMP_TYPES.setIntset:
      return yield* chunked(['SADD', key], 1, some(decodeIntset(input.blob())));
    case DUMP_TYPES.setListpack:
      return yield* chunked(['SADD', key], 1, some(decodeListpack(input.blob())));
    case DUMP_TYPES.zset:
    case DUMP_TYPES.zset2:
      return yield* chunked(['ZADD', key], 2, scored(input, type === DUMP_TYPES.zset2));
    case DUMP_TYPES.zsetZiplist:
      return yield* chunked(['ZADD', key], 2, swapped(decodeZiplist(input.blob())));
    case DUMP_TYPES.zsetListpack:
      return yield* chunked(['ZADD', key], 2, swapped(decodeListpack(input.blob())));
    case DUMP_TYPES.hash:
      return yield* chunked(['HSET', key], 2, strings(input, 2 * input.size()));
    case DUMP_TYPES.hashZipmap:
      return yield* chunked(['HSET', key], 2, some(decodeZipmap(input.blob())));
    case DUMP_TYPES.hashZiplist:
      return yield* chunked(['HSET', key], 2, some(decodeZiplist(input.blob())));
    case DUMP_TYPES.hashListpack:
      return yield* chunked(['HSET', key], 2, some(decodeListpack(input.blob())));
    case DUMP_TYPES.hashMetadata:
    case DUMP_TYPES.hashMetadataEarly:
      return yield* hashWithExpiries(input, key, type === DUMP_TYPES.hashMetadata);
    case DUMP_TYPES.hashListpackExpiry:
    case DUMP_TYPES.hashListpackExpiryEarly:
      return yield* packedHashWithExpiries(input, key, type === DUMP_TYPES.hashListpackExpiry);
    case DUMP_TYPES.stream1:
      return yield* readStream(input, key, 1);
    case DUMP_TYPES.stream2:
      return yield* readStream(input, key, 2);
    case DUMP_TYPES.stream3:
      return yield* readStream(input, key, 3);
    case DUMP_TYPES.stream4:
      return yield* readStream(input, key, 4);
    case DUMP_TYPES.array:
      return yield* array(input, key);
    case DUMP_TYPES.module2:
      return yield* moduleValue(input, key);
    default:
      throw new BadFormat('a type that is not known');
  }
}

/** Splits words into commands of bounded size. @param step words that belong together */
function* chunked(head: readonly ByteString[], step: number, words: Iterable<ByteString>): Generator<ByteString[]> {
  let command = [...head];
  let bytes = 0;
  let isEmpty = true;
  for (const word of words) {
    isEmpty = false;
    command.push(word);
    bytes += word.length;
    const count = command.length - head.length;
    if (count % step !== 0 || (count < CHUNK_WORDS && bytes < CHUNK_BYTES)) continue;
    yield command;
    command = [...head];
    bytes = 0;
  }
  if (isEmpty || (command.length - head.length) % step !== 0) throw new BadFormat('an empty value');
  if (command.length > head.length) yield command;
}

function* strings(input: RdbReader, count: number): Generator<ByteString> {
  for (let i = 0; i < count; i += 1) yield input.string();
}

function some(words: readonly ByteString[]): readonly ByteString[] {
  return words;
}

function* nodes(input: RdbReader, node: (input: RdbReader) => readonly ByteString[]): Generator<ByteString> {
  const count = input.size();
  for (let i = 0; i < count; i += 1) yield* node(input);
}

function ziplistNode(input: RdbReader): ByteString[] {
  return decodeZiplist(input.blob());
}

function quicklistNode(input: RdbReader): ByteString[] {
  const container = input.size();
  if (container === PLAIN_NODE) return [input.string()];
  if (container === PACKED_NODE) return decodeListpack(input.blob());
  throw new BadFormat('a node of a list');
}

function* scored(input: RdbReader, isBinary: boolean): Generator<ByteString> {
  const count = input.size();
  for (let i = 0; i < count; i += 1) {
    const member = input.string();
    const score = isBinary ? input.double() : input.textDouble();
    if (Number.isNaN(score)) throw new BadFormat('a score that is no number');
    yield formatDouble(score);
    yield member;
  }
}

/** Converts member, score … to score, member … */
function* swapped(words: readonly ByteString[]): Generator<ByteString> {
  for (let i = 0; i + 1 < words.length; i += 2) {
    yield words[i + 1] as ByteString;
    yield words[i] as ByteString;
  }
}

function* hashWithExpiries(input: RdbReader, key: ByteString, isRelative: boolean): Generator<ByteString[]> {
  const earliest = isRelative ? input.instant() : 0;
  const count = input.size();
  for (let i = 0; i < count; i += 1) {
    const ttl = Number(input.bigSize());
    const field = input.string();
    yield ['HSET', key, field, input.string()];
    if (ttl > 0) yield expiring(key, field, isRelative ? earliest + ttl - 1 : ttl);
  }
}

function* packedHashWithExpiries(input: RdbReader, key: ByteString, hasEarliest: boolean): Generator<ByteString[]> {
  if (hasEarliest) input.instant();
  const words = decodeListpack(input.blob());
  if (words.length === 0 || words.length % 3 !== 0) throw new BadFormat('a hash with expiries');
  for (let i = 0; i < words.length; i += 3) {
    const [field, value, atMs] = words.slice(i, i + 3) as [ByteString, ByteString, ByteString];
    yield ['HSET', key, field, value];
    if (Number(atMs) > 0) yield expiring(key, field, Number(atMs));
  }
}

function expiring(key: ByteString, field: ByteString, atMs: number): ByteString[] {
  return ['HPEXPIREAT', key, String(atMs), 'FIELDS', '1', field];
}

function* array(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const count = input.size();
  const lastInserted = input.size() === 0 ? undefined : input.bigSize();
  yield* chunked(['ARMSET', key], 2, slots(input, count));
  if (lastInserted !== undefined) yield ['ARSEEK', key, String(lastInserted + 1n)];
}

function* slots(input: RdbReader, count: number): Generator<ByteString> {
  for (let i = 0; i < count; i += 1) {
    yield String(input.bigSize());
    const form = input.size();
    if (form === ARRAY_INTEGER) yield String(input.raw(8).readBigInt64LE(0));
    else if (form === ARRAY_DOUBLE) yield formatDouble(input.raw(8).readDoubleLE(0));
    else if (form === ARRAY_TEXT || form === ARRAY_SHORT_TEXT) yield input.string();
    else throw new BadFormat('a value of an array');
  }
}

/** The low ten bits of a module's id are the version of its format. */
function moduleValue(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const id = input.bigSize();
  if (id === VECTOR_MODULE_ID) return vectors(input, key);
  if (id === VECTOR_SET_MODULE_ID) return vectorSet(input, key);
  if (id === SEARCH_MODULE_ID) return searchIndex(input, key);
  const sketch = readSketch(id, input, key);
  if (sketch !== undefined) return sketch;
  if (id >> 10n !== JSON_MODULE_ID >> 10n) throw new BadFormat('a value of a module');
  return jsonDocument(input, key);
}

function* vectors(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const [dimension, count] = [moduleNumber(input), moduleNumber(input)];
  yield ['VECTOR.CREATE', key, 'DIM', String(dimension), 'METRIC', moduleText(input)];
  for (let i = 0; i < count; i += 1) yield ['VECTOR.ADD', key, moduleText(input), 'FP32', moduleText(input)];
  if (input.size() !== MODULE_END) throw new BadFormat('a vector index');
}

const WORDS_OF_ELEMENT = 7;

function* vectorSet(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  for (let mark = input.size(); mark !== MODULE_END; mark = input.size()) {
    if (mark !== MODULE_STRING) throw new BadFormat('an element of a vector set');
    const words = [input.string()];
    while (words.length < WORDS_OF_ELEMENT) words.push(moduleText(input));
    yield ['VRECORD', key, ...words];
  }
}

function moduleNumber(input: RdbReader): bigint {
  if (input.size() !== MODULE_UNSIGNED) throw new BadFormat('a number of a module');
  return input.bigSize();
}

function moduleText(input: RdbReader): ByteString {
  if (input.size() !== MODULE_STRING) throw new BadFormat('a text of a module');
  return input.string();
}

/** Since version 3 of its module a document is a single string. */
function* jsonDocument(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  if (input.size() !== MODULE_STRING) throw new BadFormat('a document');
  const document = input.string();
  if (input.size() !== MODULE_END) throw new BadFormat('a document');
  yield ['JSON.SET', key, '$', document];
}

function* searchIndex(input: RdbReader, key: ByteString): Generator<ByteString[]> {
  const words: ByteString[] = [];
  for (let mark = input.size(); mark !== MODULE_END; mark = input.size()) {
    if (mark !== MODULE_STRING) throw new BadFormat('an index');
    words.push(input.string());
  }
  yield ['SEARCH.CREATE', key, ...words];
}
