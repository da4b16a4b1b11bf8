/**
 * Replies as bytes of RESP2 or RESP3. Bytes are a byte string (one character per byte), because V8 concatenates
 * strings fastest.
 */
import {
  BigNumberReply,
  BooleanReply,
  DoubleReply,
  ErrorReply,
  flatten,
  KeyedReply,
  MapReply,
  NilArray,
  PairsReply,
  pairsOf,
  type Reply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';

export type RespVersion = 2 | 3;

const OK = '+OK\r\n';
const NIL = '$-1\r\n';
const NIL_ARRAY = '*-1\r\n';
const NULL3 = '_\r\n';

/** Headers of bulk strings by length: most are short, and building one takes three strings. */
const BULK_HEADERS = Array.from({ length: 1024 }, (_, length) => `$${length}\r\n`);

function encodeBulk(bytes: ByteString): ByteString {
  const { length } = bytes;
  return `${length < BULK_HEADERS.length ? BULK_HEADERS[length] : `$${length}\r\n`}${bytes}\r\n`;
}

/** RESP2. */
export function encodeReply(given: Reply): ByteString {
  if (typeof given === 'string') return encodeBulk(given);
  const reply = flatten(given);
  if (typeof reply === 'string') return encodeBulk(reply);
  if (reply === null) return NIL;
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`;
  if (reply instanceof SimpleString) return reply.text === 'OK' ? OK : `+${oneLine(reply.text)}\r\n`;
  if (reply instanceof ErrorReply) return `-${oneLine(reply.text)}\r\n`;
  if (reply instanceof NilArray) return NIL_ARRAY;
  let text = `*${reply.length}\r\n`;
  for (const item of reply) text += encodeReply(item);
  return text;
}

/** RESP3, without flattening. */
export function encodeReply3(reply: Reply): ByteString {
  if (typeof reply === 'string') return encodeBulk(reply);
  if (reply === null) return NULL3;
  const leaf = leafOf3(reply);
  if (leaf !== undefined) return leaf;
  const [head, items] = aggregateOf3(reply);
  let text = head;
  for (const item of items) text += encodeReply3(item);
  return text;
}

export function encodeReplyAs(reply: Reply, version: RespVersion): ByteString {
  return version === 2 ? encodeReply(reply) : encodeReply3(reply);
}

/** A message that is not a reply: an array in RESP2, a push in RESP3. */
export function encodePush(items: readonly Reply[], version: RespVersion): ByteString {
  let text = `${version === 2 ? '*' : '>'}${items.length}\r\n`;
  for (const item of items) text += encodeReplyAs(item, version);
  return text;
}

/** Encoding a reply with this many parts takes about a millisecond. */
const SMALL_PARTS = 4_000;
/** Bytes of a string that count as one more part, so that a reply above a megabyte is never small. */
const BYTES_A_PART = 256;
const PIECE_BYTES = SMALL_PARTS * BYTES_A_PART;

/**
 * A reply of any size in pieces, each about a millisecond of work and one or two megabytes. The pieces form one
 * reply: no other bytes may be written between them.
 */
export function* encodeInPieces(reply: Reply, version: RespVersion): IterableIterator<ByteString> {
  if (typeof reply === 'string' && reply.length > PIECE_BYTES) {
    yield `$${reply.length}\r\n`;
    for (let at = 0; at < reply.length; at += PIECE_BYTES) yield reply.slice(at, at + PIECE_BYTES);
    yield '\r\n';
    return;
  }
  if (partsOf(reply, SMALL_PARTS) < SMALL_PARTS || isLeaf(reply)) {
    yield encodeReplyAs(reply, version);
    return;
  }
  const [head, items] = aggregateOf(reply, version);
  let piece = head;
  let parts = 0;
  for (const item of items) {
    const own = partsOf(item, SMALL_PARTS);
    if (own >= SMALL_PARTS) {
      yield piece;
      piece = '';
      parts = 0;
      yield* encodeInPieces(item, version);
      continue;
    }
    piece += encodeReplyAs(item, version);
    parts += own;
    if (parts < SMALL_PARTS) continue;
    yield piece;
    piece = '';
    parts = 0;
  }
  if (piece !== '') yield piece;
}

export function isSmallReply(reply: Reply): boolean {
  if (typeof reply === 'string') return reply.length < PIECE_BYTES;
  return partsOf(reply, SMALL_PARTS) < SMALL_PARTS;
}

/** The number of parts; counting stops at `limit`. */
function partsOf(reply: Reply, limit: number): number {
  if (typeof reply === 'string') return 1 + Math.floor(reply.length / BYTES_A_PART);
  if (typeof reply !== 'object' || reply === null) return 1;
  const items = Array.isArray(reply) ? (reply as readonly Reply[]) : itemsOf(reply);
  if (items === undefined) return 1;
  let parts = 1;
  for (let i = 0; i < items.length && parts < limit; i += 1) parts += partsOf(items[i] as Reply, limit - parts);
  return parts;
}

function itemsOf(reply: Exclude<Reply, string | number | bigint | null>): readonly Reply[] | undefined {
  const { items } = reply as { readonly items?: readonly Reply[] };
  return items;
}

function isLeaf(reply: Reply): boolean {
  return typeof reply !== 'object' || reply === null || (!Array.isArray(reply) && itemsOf(reply) === undefined);
}

function aggregateOf(reply: Reply, version: RespVersion): readonly [ByteString, readonly Reply[]] {
  if (version === 3) return aggregateOf3(reply);
  const items = flatten(reply) as readonly Reply[];
  return [`*${items.length}\r\n`, items];
}

function aggregateOf3(reply: Reply): readonly [ByteString, readonly Reply[]] {
  if (reply instanceof MapReply || reply instanceof KeyedReply) return [`%${reply.items.length / 2}\r\n`, reply.items];
  if (reply instanceof SetReply) return [`~${reply.items.length}\r\n`, reply.items];
  const items = reply instanceof PairsReply ? pairsOf(reply.items) : (reply as readonly Reply[]);
  return [`*${items.length}\r\n`, items];
}

function leafOf3(reply: Reply): ByteString | undefined {
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`;
  if (reply instanceof SimpleString) return reply.text === 'OK' ? OK : `+${oneLine(reply.text)}\r\n`;
  if (reply instanceof ErrorReply) return `-${oneLine(reply.text)}\r\n`;
  if (reply instanceof NilArray) return NULL3;
  if (reply instanceof DoubleReply) return `,${reply.text}\r\n`;
  if (reply instanceof BigNumberReply) return `(${oneLine(reply.text)}\r\n`;
  if (reply instanceof BooleanReply) return reply.value ? '#t\r\n' : '#f\r\n';
  if (!(reply instanceof VerbatimReply)) return undefined;
  const { text, format } = reply;
  return `=${text.length + format.length + 1}\r\n${format}:${text}\r\n`;
}

/**
 * Line breaks become spaces: a status or error ends at its line, and a client's bytes in it must not start another
 * reply.
 */
function oneLine(text: ByteString): ByteString {
  return text.includes('\r') || text.includes('\n') ? text.replace(/[\r\n]/g, ' ') : text;
}
