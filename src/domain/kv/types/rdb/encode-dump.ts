/**
 * Encodes values as Redis's dump payloads, from the commands that rebuild them: a type byte, the value in RDB format,
 * the format version and a checksum.
 */
import { type ByteString, bytesOfBuffer } from '../../../../kernel/index.js';
import { MAX_FIELD_EXPIRY_MS } from '../../limits.js';
import { parseFloatStrict } from '../../numbers.js';
import { SlicePace } from '../../slices.js';
import { BYTES_A_LOOKUP, inOneStep, workOf } from '../../steps.js';
import type { Collection } from '../../value.js';
import type { ArrayValue } from '../array-value.js';
import { crc64InSteps } from '../crc64.js';
import { Sketch } from '../sketch/sketch.js';
import type { Stream } from '../stream.js';
import type { VectorIndex } from '../vector-index.js';
import type { VectorSet } from '../vector-set.js';
import { DUMP_TYPES } from './dump-types.js';
import { MODULE_END, MODULE_STRING, MODULE_UNSIGNED, moduleId } from './module-codes.js';
import { RdbWriter } from './rdb-writer.js';
import { writeSketch } from './sketch-form.js';
import { StreamForm } from './stream-form.js';

/** Redis 7.0's version, so that every server since then can read it. */
const WRITTEN_VERSION = 10;
/** Fields with expiries exist since Redis 7.4. */
const FIELD_EXPIRY_VERSION = 12;
/** Streams know messages of producers since Redis 8.6. */
const MESSAGES_VERSION = 13;
/** Arrays exist since Redis 8.8. */
const ARRAY_VERSION = 14;

/** Encodes in slices; returns the payload. @param json the text of the document, for a JSON value */
export function* encodeDump(value: Collection, json: ByteString): Generator<void, ByteString> {
  const out = new RdbWriter();
  let version = WRITTEN_VERSION;
  switch (value.kind) {
    case 'list':
      out.byte(DUMP_TYPES.quicklist2);
      yield* writeList(out, value);
      break;
    case 'set':
      out.byte(DUMP_TYPES.set);
      out.size(value.size);
      yield* eachWord(value, 2, (word) => out.string(word));
      break;
    case 'zset':
      out.byte(DUMP_TYPES.zset2);
      out.size(value.size);
      yield* writeSortedSet(out, value);
      break;
    case 'hash':
      version = yield* writeHash(out, value);
      break;
    case 'stream':
      version = yield* writeStream(out, value as Stream);
      break;
    case 'array':
      version = ARRAY_VERSION;
      out.byte(DUMP_TYPES.array);
      yield* writeArray(out, value as ArrayValue);
      break;
    case 'vector':
      yield* writeVectors(out, value as VectorIndex);
      break;
    case 'search':
      writeSearchIndex(out, value);
      break;
    case 'vectorset':
      yield* writeVectorSet(out, value as VectorSet);
      break;
    case 'json':
      writeJson(out, json);
      break;
    default:
      out.byte(DUMP_TYPES.module2);
      if (value instanceof Sketch) yield* writeSketch(out, value);
  }
  return yield* sealInSteps(out.pieces, version);
}

export function encodeStringDump(value: ByteString): ByteString {
  return inOneStep(encodeLongString(value));
}

export function encodeLongString(value: ByteString): Generator<void, ByteString> {
  const out = new RdbWriter();
  out.byte(DUMP_TYPES.string);
  out.string(value);
  return sealInSteps(out.pieces, WRITTEN_VERSION);
}

export function sealPayload(body: ByteString, version = WRITTEN_VERSION): ByteString {
  return inOneStep(sealInSteps([body], version));
}

function* sealInSteps(pieces: readonly ByteString[], version: number): Generator<void, ByteString> {
  let length = VERSION_BYTES;
  for (const piece of pieces) length += piece.length;
  const bytes = Buffer.allocUnsafeSlow(length + CHECKSUM_BYTES);
  const pace = new SlicePace();
  let at = 0;
  for (const piece of pieces) {
    at += bytes.write(piece, at, 'latin1');
    if (pace.isDue(piece.length / BYTES_A_LOOKUP)) yield;
  }
  bytes.writeUInt16LE(version, at);
  bytes.set(yield* crc64InSteps(bytes, length), length);
  return bytesOfBuffer(bytes);
}

const VERSION_BYTES = 2;
const CHECKSUM_BYTES = 8;

function* eachWord(value: Collection, from: number, take: (word: ByteString) => void): Generator<void, void> {
  const pace = new SlicePace();
  for (const words of value.rebuild('')) {
    // The cursor of an array is written in front of its values.
    if (words[0] === 'ARSEEK') continue;
    for (let i = from; i < words.length; i += 1) take(words[i] as ByteString);
    if (pace.isDue(workOf(words))) yield;
  }
}

function* writeList(out: RdbWriter, value: Collection): Generator<void, void> {
  // One node per element costs an extra length byte each; packed nodes would have to be built here.
  out.size(value.size);
  yield* eachWord(value, 2, (word) => {
    out.size(PLAIN_NODE);
    out.string(word);
  });
}

const PLAIN_NODE = 1;

function* writeSortedSet(out: RdbWriter, value: Collection): Generator<void, void> {
  let score: number | undefined;
  yield* eachWord(value, 2, (word) => {
    if (score === undefined) {
      score = parseFloatStrict(word) as number;
      return;
    }
    out.string(word);
    out.double(score);
    score = undefined;
  });
}

function* writeHash(out: RdbWriter, value: Collection): Generator<void, number> {
  const expiries = new Map<ByteString, number>();
  const fields: ByteString[] = [];
  const pace = new SlicePace();
  let earliest = Number.POSITIVE_INFINITY;
  for (const words of value.rebuild('')) {
    // HPEXPIREAT key instant FIELDS n field …
    if (words[0] === 'HPEXPIREAT') {
      // Redis cannot read a later expiry.
      const atMs = Math.min(Number(words[2]), MAX_FIELD_EXPIRY_MS);
      for (const field of words.slice(5)) expiries.set(field, atMs);
      if (atMs < earliest) earliest = atMs;
    } else for (let i = 2; i < words.length; i += 1) fields.push(words[i] as ByteString);
    if (pace.isDue(workOf(words))) yield;
  }
  out.byte(expiries.size === 0 ? DUMP_TYPES.hash : DUMP_TYPES.hashMetadata);
  if (expiries.size > 0) out.instant(earliest);
  out.size(fields.length / 2);
  for (let i = 0; i < fields.length; i += 2) {
    const field = fields[i] as ByteString;
    if (expiries.size > 0) {
      const atMs = expiries.get(field);
      out.size(atMs === undefined ? 0 : atMs - earliest + 1);
    }
    out.string(field);
    out.string(fields[i + 1] as ByteString);
    if (pace.isDue()) yield;
  }
  return expiries.size === 0 ? WRITTEN_VERSION : FIELD_EXPIRY_VERSION;
}

function* writeStream(out: RdbWriter, value: Stream): Generator<void, number> {
  const form = new StreamForm();
  const pace = new SlicePace();
  for (const words of yield* value.rebuildInSlices('')) {
    form.take(words);
    if (pace.isDue(workOf(words))) yield;
  }
  out.byte(form.knowsMessages ? DUMP_TYPES.stream4 : DUMP_TYPES.stream2);
  yield* form.write(out);
  return form.knowsMessages ? MESSAGES_VERSION : WRITTEN_VERSION;
}

function* writeArray(out: RdbWriter, value: ArrayValue): Generator<void, void> {
  const { lastInserted } = value;
  out.size(value.size);
  out.size(lastInserted === undefined ? 0 : 1);
  if (lastInserted !== undefined) out.size(lastInserted);
  let index: ByteString | undefined;
  yield* eachWord(value, 2, (word) => {
    if (index === undefined) {
      index = word;
      return;
    }
    out.size(BigInt(index));
    out.size(ARRAY_TEXT);
    out.string(word);
    index = undefined;
  });
}

/** Redis marks each value of an array with its form, and reads a text in any of them. */
export const ARRAY_TEXT = 0;
export const ARRAY_INTEGER = 1;
export const ARRAY_DOUBLE = 2;
export const ARRAY_SHORT_TEXT = 3;

export const JSON_MODULE_ID = moduleId('ReJSON-RL', 3);
/** No server has such a type: the payload is read by this program alone. */
export const VECTOR_MODULE_ID = moduleId('MR-VECTOR', 1);
/** A vector set: words of the effects that make its elements. Payloads of Redis have its graph, and are not read. */
export const VECTOR_SET_MODULE_ID = moduleId('MR-VECSET', 1);

/** A type of this implementation alone: the words of SEARCH.CREATE after the name. */
export const SEARCH_MODULE_ID = moduleId('MR-SEARCH', 1);

function writeSearchIndex(out: RdbWriter, value: Collection): void {
  out.byte(DUMP_TYPES.module2);
  out.size(SEARCH_MODULE_ID);
  for (const word of value.contents()) {
    out.size(MODULE_STRING);
    out.string(word);
  }
  out.size(MODULE_END);
}

function writeJson(out: RdbWriter, json: ByteString): void {
  out.byte(DUMP_TYPES.module2);
  out.size(JSON_MODULE_ID);
  out.size(MODULE_STRING);
  out.string(json);
  out.size(MODULE_END);
}

function* writeVectors(out: RdbWriter, index: VectorIndex): Generator<void, void> {
  const text = (word: ByteString): void => {
    out.size(MODULE_STRING);
    out.string(word);
  };
  out.byte(DUMP_TYPES.module2);
  out.size(VECTOR_MODULE_ID);
  for (const number of [index.dimension, index.size]) {
    out.size(MODULE_UNSIGNED);
    out.size(number);
  }
  text(index.metric);
  const pace = new SlicePace();
  for (const [id, bytes] of index.entries()) {
    text(id);
    text(bytes);
    if (pace.isDue(1 + bytes.length / BYTES_A_LOOKUP)) yield;
  }
  out.size(MODULE_END);
}

function* writeVectorSet(out: RdbWriter, set: VectorSet): Generator<void, void> {
  out.byte(DUMP_TYPES.module2);
  out.size(VECTOR_SET_MODULE_ID);
  const pace = new SlicePace();
  for (const element of set.elements()) {
    const [, , ...words] = set.effectOf('', element);
    for (const word of words) {
      out.size(MODULE_STRING);
      out.string(word);
    }
    if (pace.isDue(workOf(words))) yield;
  }
  out.size(MODULE_END);
}
