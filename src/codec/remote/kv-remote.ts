/**
 * Codec of requests for a partition, and their replies, between processes. Each class of replies has a number, so a
 * reply describes its type.
 */
import {
  BigNumberReply,
  BooleanReply,
  DoubleReply,
  ErrorReply,
  KeyedReply,
  MapReply,
  NIL_ARRAY,
  NilArray,
  PairsReply,
  type Reply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../../domain/kv/index.js';
import {
  bothWays,
  classShape,
  flag,
  later,
  listOf,
  looseNumber,
  nullable,
  type Shape,
  selfDescribing,
  text,
  tuple,
  wordOf,
} from '../../kernel/schema/index.js';
import { type KvRequest, type KvResponse, kvDelivery, kvRequest, kvResponseOf } from '../../protocol/index.js';
import { decodeHotRequest, decodeHotResponse, encodeHotRequest, encodeHotResponse } from './hot-requests.js';

/** @throws INVALID */
export const [encodeKvDelivery, decodeKvDelivery] = bothWays(kvDelivery, 'what a partition tells', 'INVALID');

const items: Shape<readonly Reply[]> = listOf(later(() => reply));
const twoTexts = tuple<[string, string]>(text(), text());
const verbatim = tuple<[string, 'txt' | 'mkd']>(text(), wordOf('txt', 'mkd'));
const nothing = nullable(flag);

const reply = selfDescribing<Reply>(
  classShape(
    1,
    SimpleString,
    text(),
    ({ text }) => text,
    (text) => new SimpleString(text),
  ),
  classShape(
    2,
    ErrorReply,
    twoTexts,
    ({ text, restText }) => [text, restText] as const,
    ([text, rest]) => new ErrorReply(text, rest),
  ),
  classShape(
    3,
    NilArray,
    nothing,
    () => null,
    () => NIL_ARRAY,
  ),
  classShape(4, BigInt, text(), String, BigInt),
  classShape(5, MapReply, items, itemsOf, (given) => new MapReply(given)),
  classShape(6, SetReply, items, itemsOf, (given) => new SetReply(given)),
  classShape(7, PairsReply, items, itemsOf, (given) => new PairsReply(given)),
  classShape(8, KeyedReply, items, itemsOf, (given) => new KeyedReply(given)),
  classShape(
    9,
    DoubleReply,
    looseNumber,
    ({ value }) => value,
    (value) => new DoubleReply(value),
  ),
  classShape(
    10,
    BooleanReply,
    flag,
    ({ value }) => value,
    (value) => new BooleanReply(value),
  ),
  classShape(
    11,
    VerbatimReply,
    verbatim,
    ({ text, format }) => [text, format] as const,
    ([text, format]) => new VerbatimReply(text, format),
  ),
  classShape(
    12,
    BigNumberReply,
    text(),
    ({ text }) => text,
    (text) => new BigNumberReply(text),
  ),
);

const [encodeRequest, decodeRequest] = bothWays(kvRequest, 'a request for a partition', 'INVALID');
const [encodeResponse, decodeResponse] = bothWays(kvResponseOf(reply), 'the answer of a partition', 'INVALID');

/** Fields are listed here and below, because copying all others of an object costs more than the rest of the codec. */
export function encodeKvRequest(request: KvRequest): Uint8Array {
  const hot = encodeHotRequest(request);
  if (hot !== undefined) return hot;
  const { database, partition, mode, commands, bytes } = request;
  return encodeRequest({ database, partition, mode, commands, bytes, details: request });
}

/** All fields are listed, so that requests have one hidden class. @throws INVALID */
export function decodeKvRequest(encoded: Uint8Array): KvRequest {
  const hot = unlessRefused(() => decodeHotRequest(encoded));
  if (hot !== undefined) return hot;
  const { database, partition, mode, commands, bytes, details } = decodeRequest(encoded);
  const { client, waiter, watches, trackFor, listen, maxAnswerBytes, by, partitions, firstPartition } = details;
  return {
    database,
    partition,
    mode,
    commands,
    bytes,
    client,
    waiter,
    watches,
    trackFor,
    listen,
    maxAnswerBytes,
    by,
    partitions,
    firstPartition,
  };
}

export function encodeKvResponse(response: KvResponse): Uint8Array {
  const hot = encodeHotResponse(response, items);
  if (hot !== undefined) return hot;
  const { syncToken, replies, scriptReads, denials, slowerThanMicros, indexLag } = response;
  const { isAborted = false, isFull = false, hasSaid = false } = response;
  return encodeResponse({
    syncToken,
    replies,
    isAborted,
    isFull,
    scriptReads,
    denials,
    hasSaid,
    slowerThanMicros,
    indexLag,
  });
}

/** @throws INVALID */
export function decodeKvResponse(bytes: Uint8Array): KvResponse {
  const hot = unlessRefused(() => decodeHotResponse(bytes, items));
  if (hot !== undefined) return hot;
  const {
    syncToken,
    replies,
    isAborted = false,
    isFull = false,
    scriptReads,
    denials,
    hasSaid = false,
    slowerThanMicros,
    indexLag,
  } = decodeResponse(bytes);
  const isPlain =
    !isAborted &&
    !isFull &&
    scriptReads === undefined &&
    denials === undefined &&
    slowerThanMicros === undefined &&
    indexLag === undefined;
  if (isPlain) return hasSaid ? { syncToken, replies, hasSaid } : { syncToken, replies };
  return { syncToken, replies, isAborted, isFull, scriptReads, denials, hasSaid, slowerThanMicros, indexLag };
}

/** Bytes that cannot be read are refused by their declared shape, with its error. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function itemsOf({ items }: { readonly items: readonly Reply[] }): readonly Reply[] {
  return items;
}
