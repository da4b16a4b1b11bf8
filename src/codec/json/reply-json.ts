/**
 * Replies as JSON for clients: `{"result":…}` or `{"error":"…"}`.
 *
 *  RJ1 a result is null, a number, a string or an array, at every depth; never an object or a boolean
 *  RJ2 integers are written with all their digits, and never with an exponent
 *  RJ3 in base64 every string of a result is encoded, except the status `OK` as the whole result, because clients
 *      decode every item of an array. Error texts are never encoded
 *
 * JSON.stringify is not used: it would need a copy of the reply, and cannot write a bigint.
 */

import { ErrorReply, flatten, NilArray, OK, type Reply, SimpleString } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { isLongString, quoteBase64, quoteBytes, quoteInPieces } from './json-string.js';

type Quote = (bytes: ByteString) => string;

export function replyToJson(reply: Reply): string {
  if (reply === OK) return '{"result":"OK"}';
  if (reply instanceof ErrorReply) return errorToJson(reply.restText);
  return `{"result":${valueToJson(reply, quoteBytes)}}`;
}

export function replyToBase64Json(reply: Reply): string {
  if (reply instanceof ErrorReply) return errorToJson(reply.restText);
  if (reply instanceof SimpleString && reply.text === 'OK') return '{"result":"OK"}';
  return `{"result":${valueToJson(reply, quoteBase64)}}`;
}

/** @param text a byte string that begins with its error class: `ERR …` */
export function errorToJson(text: ByteString): string {
  return `{"error":${quoteBytes(text)}}`;
}

function valueToJson(given: Reply, quote: Quote): string {
  const reply = flatten(given);
  if (typeof reply === 'string') return quote(reply);
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply);
  if (reply === null || reply instanceof NilArray) return 'null';
  if (reply instanceof SimpleString) return quote(reply.text);
  if (reply instanceof ErrorReply) return quote(reply.restText);
  let items = '';
  for (const item of reply) items += `${items === '' ? '' : ','}${valueToJson(item, quote)}`;
  return `[${items}]`;
}

/** Items per piece of a list's text; about a millisecond each. */
const PIECE_ITEMS = 2000;

/** Is it long enough to be encoded in pieces? */
export function isLongReply(reply: Reply): boolean {
  const flat = flatten(reply);
  if (typeof flat === 'string') return isLongString(flat);
  return Array.isArray(flat) && (flat.length > PIECE_ITEMS || flat.some((item) => isLongReply(item as Reply)));
}

/** The text of `replyToJson` in pieces, between which other work can run. */
export function* replyInPieces(reply: Reply, isBase64: boolean): Generator<string> {
  if (!isLongReply(reply)) {
    yield isBase64 ? replyToBase64Json(reply) : replyToJson(reply);
    return;
  }
  yield '{"result":';
  yield* valueInPieces(reply, isBase64);
  yield '}';
}

function* valueInPieces(reply: Reply, isBase64: boolean): Generator<string> {
  const quote = isBase64 ? quoteBase64 : quoteBytes;
  if (!isLongReply(reply)) {
    yield valueToJson(reply, quote);
    return;
  }
  const flat = flatten(reply);
  if (typeof flat === 'string') {
    yield* quoteInPieces(flat, isBase64);
    return;
  }
  const items = flat as readonly Reply[];
  let piece = '[';
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i] as Reply;
    if (i > 0) piece += ',';
    if (isLongReply(item)) {
      yield piece;
      piece = '';
      yield* valueInPieces(item, isBase64);
    } else {
      piece += valueToJson(item, quote);
    }
    if (i % PIECE_ITEMS !== PIECE_ITEMS - 1) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]`;
}
